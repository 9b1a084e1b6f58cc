"""Configuration of unit tests: compiles the checkout's German texts. These tests need no database."""

from pathlib import Path

from apps.lib.translation_compiler import compile_translations

LOCALE = Path(__file__).parents[2] / "locale"
compile_translations([LOCALE, LOCALE / "packages"])
