"""How the laws are tried: without a clock, for the machine may be busy. `--hypothesis-profile=long` tries harder."""

from hypothesis import HealthCheck, settings

settings.register_profile("memhub", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("long", settings.get_profile("memhub"), max_examples=5_000)
settings.load_profile("memhub")
