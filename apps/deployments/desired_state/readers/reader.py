"""How one kind of object is read."""

from collections.abc import Callable
from functools import lru_cache
from ipaddress import ip_network
from typing import Any, NamedTuple

from firewall.policy import PolicyKeys

# Most of what is read was read before: a feed's hundred thousand prefixes are parsed once.
parse_network = lru_cache(maxsize=1 << 20)(ip_network)


class ObjectReader(NamedTuple):
    """query: what reads all of them, of a %(group)s at a time %(at)s, with a place {only} for what restricts it to those touched.

    parameters: the restriction's, of the keys that were touched; all empty when none were. value: what a row is.
    """

    query: str
    only: str
    parameters: Callable[[PolicyKeys], dict[str, list[Any]]]
    value: Callable[..., object]
