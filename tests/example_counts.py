"""Numbers of random cases of property tests: ten times as many with `--deep`, which loads another profile of hypothesis."""

from hypothesis import HealthCheck, settings

USUAL, DEEP = "patient", "deep"
FACTOR = 10


def load_profile(*, deep: bool) -> None:
    """Set how many cases a test draws that names no number. Must run before test modules are imported."""
    settings.register_profile(USUAL, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    usual = settings.get_profile(USUAL)
    settings.register_profile(DEEP, usual, max_examples=FACTOR * usual.max_examples)
    settings.load_profile(DEEP if deep else USUAL)


def count_examples(usual: int) -> int:
    """Return how many cases to draw where a usual run draws this many."""
    return usual * settings().max_examples // settings.get_profile(USUAL).max_examples
