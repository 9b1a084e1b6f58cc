"""Typed access to a parsed TOML document; every error names the full key.

In: the values that `tomllib` returns. Out: strings, flags, lists and further tables. It knows nothing about networks.
"""

from collections.abc import Iterator, Mapping
from typing import cast


class TopologyError(ValueError):
    """The topology is invalid; the message begins with the key."""


class TomlTable:
    """One table of the document, with its key."""

    def __init__(self, values: Mapping[str, object], key: str = "") -> None:
        self._values = values
        self.key = key

    def get_path(self, name: str) -> str:
        return f"{self.key}.{name}" if self.key else name

    def refuse(self, name: str, reason: str) -> TopologyError:
        return TopologyError(f"{self.get_path(name)}: {reason}")

    def allow_only(self, *allowed: str) -> "TomlTable":
        """Return this table if it has no other keys than these: a misspelt key must not pass as an absent one."""
        for name in self._values:
            if name not in allowed:
                raise self.refuse(name, f"unknown key, expected one of {', '.join(allowed)}")
        return self

    def get_text(self, name: str) -> str:
        return self._get_typed(name, str, "a string")

    def find_text(self, name: str) -> str | None:
        return self.get_text(name) if name in self._values else None

    def get_number(self, name: str) -> int:
        return self._get_typed(name, int, "a number")

    def get_flag(self, name: str) -> bool:
        return name in self._values and self._get_typed(name, bool, "true or false")

    def get_texts(self, name: str) -> tuple[str, ...]:
        values = cast("list[object]", self._get_typed(name, list, "a list of strings"))
        if not all(isinstance(value, str) for value in values):
            raise self.refuse(name, "expected a list of strings")
        return tuple(cast("list[str]", values))

    def get_table(self, name: str) -> "TomlTable":
        """Return the table under this key, empty if there is none."""
        return TomlTable(self._get_typed(name, dict, "a table") if name in self._values else {}, self.get_path(name))

    def iter_tables(self) -> Iterator[tuple[str, "TomlTable"]]:
        return ((name, self.get_table(name)) for name in self._values)

    def list_key_names(self) -> tuple[str, ...]:
        return tuple(self._values)

    def _get_typed[T](self, name: str, kind: type[T], description: str) -> T:
        if name not in self._values:
            raise self.refuse(name, "is missing")
        value = self._values[name]
        if not isinstance(value, kind):
            raise self.refuse(name, f"expected {description}")
        return value
