"""Reduces deltas to what ends connections after the confirmation (firewall/flows.py), so that it can be stored beside it.

Members and mappings that only come end none, and there may be a hundred thousand of them. The same for a change that is taken back.
"""

from collections.abc import Iterator, Sequence, Set
from dataclasses import replace

from firewall.diff import Delta, ElementChange
from firewall.sets import split_set_name

_SANCTIONS = ("bans4", "bans6", "bans_in4", "bans_in6", "bans_out4", "bans_out6", "allowed4", "allowed6", "blocked4", "blocked6")
_HOLDERS = ("up4", "down4", "up6", "down6")
_SERVICES = ("forward4", "pinhole6", "pinhole_protocol6", "pinhole_host6", "guard4", "guard6")
_MEMBERS = ("up4", "down4", "up6", "down6", "blocked4", "blocked6", "snat4", "snat4_own", "snat4_block")


def reduce_to_endings(deltas: Sequence[Delta]) -> tuple[Delta, ...]:
    """Return deltas that end the same flows after the confirmation. Bans are left out: they have cut theirs at commit."""
    gone = {key for delta in deltas for name, change in delta.elements.items() if _is_any(name, _MEMBERS) for key in change.removed}
    return tuple(Delta(elements=dict(_iter_endings(delta, gone))) for delta in deltas)


def reduce_way_back(delta: Delta) -> Delta:
    """Return the delta that ends the flows which a trial has let in, from the delta that takes the trial back.

    Bans and blocks that come back are in it. Addresses that only get their holder back are not: their flows may be from before the trial.
    """
    [endings] = reduce_to_endings([replace(delta, elements=dict(_iter_without_holders(delta)))])
    return replace(
        endings, elements={**endings.elements, **{name: each for name, each in delta.elements.items() if _is_any(name, _SANCTIONS)}}
    )


def _iter_without_holders(delta: Delta) -> Iterator[tuple[str, ElementChange]]:
    """Return the changes, without those of addresses that only get another holder."""
    for name, change in delta.elements.items():
        if _is_any(name, _HOLDERS):
            yield name, ElementChange(change.of, {key: each for key, each in change.removed.items() if key not in change.added}, {})
        else:
            yield name, change


def _iter_endings(delta: Delta, gone: Set[bytes]) -> Iterator[tuple[str, ElementChange]]:
    for name, change in delta.elements.items():
        if _is_any(name, _SERVICES):
            yield name, change
        elif _is_any(name, _MEMBERS):
            added = {key: element for key, element in change.added.items() if key in gone} if gone else {}
            if change.removed or added:
                yield name, ElementChange(change.of, change.removed, added)


def _is_any(name: str, families: tuple[str, ...]) -> bool:
    return split_set_name(name)[0] in families
