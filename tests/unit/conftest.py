"""Unit tests need no database; property tests may take their time on a busy machine; German is what the checkout says now."""

from pathlib import Path

from hypothesis import HealthCheck, settings

from apps.lib.catalog import compile_all

settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")
LOCALE = Path(__file__).parents[2] / "locale"
compile_all([LOCALE, LOCALE / "packages"])
