"""Codec of the parts of rulesets, and other values, that wait: compressed JSON, read only when somebody decides about them."""

import json
import zlib
from typing import Any

from firewall.codec import decode, encode
from firewall.ruleset import Elements

type RulesetPart = dict[str, Elements]


def pack(data: Any) -> bytes:
    """Plain JSON values as octets; equal values give equal octets."""
    return zlib.compress(json.dumps(data, separators=(",", ":"), sort_keys=True).encode(), 1)


def unpack(packed: bytes | memoryview) -> Any:
    """The values again."""
    return json.loads(zlib.decompress(packed))


def pack_part(part: Any) -> bytes:
    """Elements by set as octets."""
    return pack(encode(part))


def unpack_part(packed: bytes | memoryview) -> RulesetPart:
    """The elements again."""
    part: RulesetPart = decode(dict[str, Elements], unpack(packed), "part")
    return part
