"""Definition of a reader: its query, its restriction to touched objects, and the value of a row."""

from collections.abc import Callable
from functools import lru_cache
from ipaddress import ip_network
from typing import Any, NamedTuple

from firewall.policy import PolicyKeys

# Most prefixes were read before, so that a feed's hundred thousand are parsed only once.
parse_network = lru_cache(maxsize=1 << 20)(ip_network)


class ObjectReader(NamedTuple):
    """Reader of one kind of object.

    query: reads all objects of a %(group)s at a time %(at)s, with a placeholder {only} for the restriction to touched objects.
    parameters: of the restriction, from the touched keys; all empty when none were touched. value: builds a value from a row.
    """

    query: str
    only: str
    parameters: Callable[[PolicyKeys], dict[str, list[Any]]]
    value: Callable[..., object]
