"""How long an example takes says nothing on a machine that others use too."""

from hypothesis import settings

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
