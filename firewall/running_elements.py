"""Messages that read what a gateway runs, element by element with its value: in pieces, because a ruleset may be longer than an answer."""

from collections.abc import Mapping
from dataclasses import dataclass

from firewall.ruleset import Elements, Set

MOST_ELEMENTS = 5000  # of one answer; with the longest comments some 3 MiB


@dataclass(frozen=True, slots=True)
class ReadElements:
    """Ask for the elements that the kernel holds, ordered by set and key: those behind this place, at most MOST_ELEMENTS.

    now: as in Hello. after_set, after_key: the last element of the answer before; "" and b"" begin with the first one, for which the
    kernel is read anew.
    """

    now: int
    after_set: str = ""
    after_key: bytes = b""


@dataclass(frozen=True, slots=True)
class ElementsAre:
    """Answer to ReadElements. sets: the declarations of the sets in `elements`. more: there are elements behind the last one.

    Between two answers elements may come and go: each that is there all the time is in one of the answers. Sets that packets fill have
    none here.
    """

    sets: Mapping[str, Set]
    elements: Mapping[str, Elements]
    more: bool
