"""Names of objects that a gateway runs, as people know them. Takes values, returns text in the active language."""

from collections.abc import Iterator
from datetime import UTC, datetime

from django.utils.translation import gettext as _

from apps.deployments.rule_kinds.pinholes import build_key
from apps.lib.port_ranges import format_port_range
from apps.lib.ui import formats
from firewall.policy import (
    Address,
    AllowEntrySpec,
    BanDirection,
    BanSpec,
    BlockedMemberSpec,
    ForwardSpec,
    NatMappingSpec,
    PinholeSpec,
    Prefix,
    RateLimitSpec,
    ServerListenerSpec,
    SharingMode,
)
from firewall.running_objects import RunningObject


def describe_object(each: RunningObject) -> str:
    """Return text such as “port forward TCP 198.18.0.9:1027 → 10.0.15.160:22”."""
    return ", ".join(filter(None, _iter_parts(each)))


def _iter_parts(each: RunningObject) -> Iterator[str]:
    match each.spec:
        case ForwardSpec() as forward:
            yield _("port forward %(forward)s") % {"forward": _describe_forward(forward)}
        case NatMappingSpec() as mapping:
            yield from _iter_mapping_parts(mapping)
        case PinholeSpec() as pinhole:
            yield _("pinhole %(pinhole)s") % {"pinhole": _describe_hole(pinhole)}
        case BanSpec() as ban:
            yield _("ban of %(prefix)s") % {"prefix": format_held(ban.prefix)}
            yield {BanDirection.IN: _("incoming only"), BanDirection.OUT: _("outgoing only"), BanDirection.BOTH: ""}[ban.direction]
            yield from (_quote(ban.comment), describe_end(ban.expires))
        case AllowEntrySpec() as entry:
            yield _("allow entry of %(prefix)s") % {"prefix": format_held(entry.prefix)}
            yield from (_quote(entry.comment), describe_end(entry.expires))
        case BlockedMemberSpec() as block:
            yield _("block of the holder of %(prefix)s") % {"prefix": format_held(block.prefix)}
            yield describe_end(block.expires)
        case RateLimitSpec() as limit:
            words = _("rate by the tariff for %(prefix)s: %(rates)s") if each.is_tariff else _("rate limit for %(prefix)s: %(rates)s")
            yield words % {"prefix": format_held(limit.prefix), "rates": _describe_rates(limit)}
            yield describe_end(limit.expires)
        case ServerListenerSpec() as listener:
            yield from _iter_listener_parts(listener)
        case owner:
            words = _("address %(prefix)s") if owner.prefix.version == 4 else _("IPv6 prefix %(prefix)s")
            yield words % {"prefix": format_held(owner.prefix)}


def format_held(prefix: Address | Prefix) -> str:
    """Return an address or prefix as people write it: a host without its length."""
    return str(prefix).removesuffix("/32" if prefix.version == 4 else "/128")


def convert_end(expires: int) -> datetime | None:
    """Return the end of an element as a time; None if it stays."""
    return datetime.fromtimestamp(expires, UTC) if expires else None


def describe_end(expires: int) -> str:
    """Return “until Thu 12 Nov 2026, 21:13 CET”; "" if there is no end."""
    at = convert_end(expires)
    return _("until %(at)s") % {"at": formats.format_full_time(at)} if at else ""


def _quote(comment: str) -> str:
    return _("“%(comment)s”") % {"comment": comment} if comment else ""


def _describe_forward(forward: ForwardSpec) -> str:
    public, private = (format_port_range(first, forward.ports) for first in (forward.public_port, forward.private_port))
    return f"{forward.protocol.upper()} {forward.public}:{public} → {forward.private}:{private}"


def _iter_mapping_parts(mapping: NatMappingSpec) -> Iterator[str]:
    yield _("%(private)s is mapped to %(public)s") % {"private": mapping.private, "public": mapping.public}
    if mapping.sharing is SharingMode.BLOCKS:
        yield _("ports %(ports)s") % {"ports": format_port_range(mapping.first_port, mapping.last_port - mapping.first_port + 1)}
    elif mapping.sharing is SharingMode.OWN:
        yield _("which it has for itself")


def _describe_hole(pinhole: PinholeSpec) -> str:
    hole = pinhole.hole
    protocol = hole.protocol.upper() if hole.protocol else _("everything")
    return build_key(protocol, format_port_range(hole.port, hole.ports) if hole.port else "", str(hole.address))


def _describe_rates(limit: RateLimitSpec) -> str:
    directions = ((limit.up, _("%(rate)s up")), (limit.down, _("%(rate)s down")))
    return ", ".join(words % {"rate": formats.format_rate(octets * 8)} for octets, words in directions if octets)


def _iter_listener_parts(listener: ServerListenerSpec) -> Iterator[str]:
    place = _("%(what)s on %(where)s") % {"what": f"{listener.protocol.upper()} {listener.port}", "where": listener.address}
    yield _("listener %(listener)s") % {"listener": place}
    yield _quote(listener.name)
    if listener.window_scale is not None:
        yield _("guarded, window scale %(scale)d") % {"scale": listener.window_scale}
