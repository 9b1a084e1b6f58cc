"""Findings about the addresses that a member holds: as what each leaves, and since when it is active on each gateway."""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from apps.desk.connection_check.finding import FaultOrigin, Finding
from apps.lib.activation import Activation, list_activations, list_wait_reasons
from apps.lib.ui import formats
from apps.lib.ui.states import StateKind
from apps.members.models import Member
from apps.nat.models import NatMapping
from apps.nat.selectors import list_member_mappings
from apps.network.models import Holding


@dataclass(frozen=True)
class CheckedAddress:
    """A holding, its NAT mapping, and the activations of both on the gateways."""

    holding: Holding
    mapping: NatMapping | None
    known: list[Activation]

    @property
    def reaches_internet(self) -> bool:
        """Whether the address reaches the internet: IPv6 always, IPv4 with a mapping."""
        return self.mapping is not None or self.holding.prefix.version == 6

    @property
    def missing_activations(self) -> list[Activation]:
        return [each for each in self.known if each.since is None]

    def compute_since(self) -> dict[str, datetime]:
        """Return since when each gateway has both the address and its mapping."""
        times: dict[str, datetime] = {}
        absent = {each.gateway for each in self.missing_activations}
        for each in self.known:
            if each.since and each.gateway not in absent:
                times[each.gateway] = max(each.since, times.get(each.gateway, each.since))
        return times


def check_addresses(
    member: Member, holdings: Sequence[Holding], carrying: Mapping[int, Set[str]], now: datetime, *, blocked: bool
) -> Iterator[Finding]:
    """Yield a finding for each address.

    carrying: names of the gateways that carry packets, by IP version; blocked: the member is blocked now.
    """
    if not holdings:
        yield Finding(
            "address",
            StateKind.WARN,
            _("Address"),
            _("None yet; an administrator assigns one."),
            FaultOrigin.CONNECTION,
            _("it has no address"),
        )
        return
    held = _list_checked(member, holdings)
    inside = not any(each.reaches_internet for each in held)
    for each in held:
        yield (
            _build_inside_finding(each, alone=inside) if not each.reaches_internet else _build_finding(each, member, carrying, now, blocked)
        )


def _list_checked(member: Member, holdings: Sequence[Holding]) -> list[CheckedAddress]:
    mappings = {row.holding_id: (row, known) for row, known in list_activations(list_member_mappings(member))}
    found = []
    for holding, known in list_activations(holdings):
        mapping, of_mapping = mappings.get(holding.pk, (None, []))
        found.append(CheckedAddress(holding, mapping, [*known, *of_mapping]))
    return found


def _build_inside_finding(held: CheckedAddress, *, alone: bool) -> Finding:
    words = _("It reaches only this network, not the internet.")
    fault, short = (FaultOrigin.CONNECTION, _("no address of it leads to the internet")) if alone else (FaultOrigin.NONE, "")
    return Finding("address", StateKind.WARN if alone else StateKind.PLAIN, held.holding.address, words, fault, short)


def _build_finding(held: CheckedAddress, member: Member, carrying: Mapping[int, Set[str]], now: datetime, blocked: bool) -> Finding:
    address = held.holding.address
    if member.state != Member.State.ACTIVE:
        return Finding("address", StateKind.PLAIN, address, _("Not on the gateways while the membership is not active."))
    missing = {each.gateway for each in held.missing_activations}
    known = _describe_blocked(held) if blocked else " ".join(filter(None, [_describe_exit(held), _describe_active(held, now)]))
    said = " ".join(filter(None, [known, _describe_missing(held)]))
    if not missing:
        return Finding("address", StateKind.PLAIN if blocked else StateKind.OK, address, said)
    passes = carrying[held.holding.prefix.version]
    if passes and not missing & passes:
        return Finding("address", StateKind.WARN, address, said)
    short = _("%(address)s is not active on %(gateways)s") % {"address": address, "gateways": ", ".join(sorted(missing))}
    return Finding("address", StateKind.WARN if held.compute_since() else StateKind.BAD, address, said, FaultOrigin.NETWORK, short)


def _describe_exit(held: CheckedAddress) -> str:
    return _("Leaves as %(public)s.") % {"public": held.mapping.public_with_ports} if held.mapping else ""


def _describe_active(held: CheckedAddress, now: datetime) -> str:
    since = held.compute_since()
    if not since:
        return ""
    listed = [_("%(gateway)s since %(time)s") % {"gateway": name, "time": _format_time(at, now)} for name, at in sorted(since.items())]
    return _("Active on %(gateways)s.") % {"gateways": ", ".join(listed)}


def _describe_blocked(held: CheckedAddress) -> str:
    """Name the gateways that have the address.

    They pass none of its packets while the holder is blocked, so the text does not call it active.
    """
    names = ", ".join(sorted(held.compute_since()))
    return _("On %(gateways)s, but the block lets none of its packets pass.") % {"gateways": names} if names else ""


def _describe_missing(held: CheckedAddress) -> str:
    missing = sorted({each.gateway for each in held.missing_activations})
    if not missing:
        return ""
    said = _("Not yet on %(gateways)s.") % {"gateways": ", ".join(missing)}
    why = "; ".join(each.words for each in list_wait_reasons(held.missing_activations))
    because = _("Reason: %(why)s.") % {"why": why} if why else ""
    return f"{said} {because}".strip()


def _format_time(at: datetime, now: datetime) -> str:
    return formats.format_moment(at, now, with_zone=True, with_seconds=False)
