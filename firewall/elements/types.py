"""Types of elements, and of keys of elements, by the name of their set."""

from typing import TypeAlias

from firewall.ruleset import Element

ElementsBySet: TypeAlias = dict[str, dict[bytes, Element]]
KeysBySet: TypeAlias = dict[str, set[bytes]]
