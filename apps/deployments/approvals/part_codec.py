"""Codec of held-back parts of rulesets and other values: compressed JSON, read only when a decision about them is due."""

import json
import zlib
from typing import Any

from firewall.codec import decode, encode
from firewall.ruleset import Elements

type RulesetPart = dict[str, Elements]


def pack_values(data: Any) -> bytes:
    """Pack plain JSON values; equal values give equal octets."""
    return zlib.compress(json.dumps(data, separators=(",", ":"), sort_keys=True).encode(), 1)


def unpack_values(packed: bytes | memoryview) -> Any:
    """Unpack what `pack_values` made."""
    return json.loads(zlib.decompress(packed))


def pack_part(part: Any) -> bytes:
    """Pack elements by set."""
    return pack_values(encode(part))


def unpack_part(packed: bytes | memoryview) -> RulesetPart:
    """Unpack what `pack_part` made."""
    part: RulesetPart = decode(dict[str, Elements], unpack_values(packed), "part")
    return part
