"""How the laws are tried: without a clock, for the machine may be busy. `--hypothesis-profile=long` tries harder."""

from hypothesis import settings

settings.register_profile("memhub", deadline=None)
settings.register_profile("long", deadline=None, max_examples=5_000)
settings.load_profile("memhub")
