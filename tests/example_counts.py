"""Numbers of random cases of property tests, as profiles of hypothesis: few on each run, more with `--full`, many with `--deep`."""

from hypothesis import HealthCheck, settings

USUAL, FULL, DEEP = "usual", "full", "deep"
FACTORS = {USUAL: 0.4, FULL: 1.0, DEEP: 10.0}
"""How many times the number that a test names is drawn. Mutants are caught with the full number."""
_UNNAMED = 100  # cases of a test that names no number


def load_profile(name: str) -> None:
    """Set how many cases tests draw. Must run before test modules are imported."""
    most = int(_UNNAMED * FACTORS[name])
    settings.register_profile(name, max_examples=most, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile(name)


def count_examples(full: int) -> int:
    """Return how many cases to draw in this run of a test that needs this many to see what it is for."""
    return max(1, full * settings().max_examples // _UNNAMED)
