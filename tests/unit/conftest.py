"""Unit tests need no database; German is what the checkout says now."""

from pathlib import Path

from apps.lib.translation_compiler import compile_all

LOCALE = Path(__file__).parents[2] / "locale"
compile_all([LOCALE, LOCALE / "packages"])
