"""Settings of hypothesis for the whole test suite."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "repo", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("repo")
