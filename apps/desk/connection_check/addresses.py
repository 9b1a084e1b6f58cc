"""The addresses that a member holds: how each leaves, and since when each gateway has it so."""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from apps.desk.connection_check.finding import Fault, Finding
from apps.lib.activation import Activation, activations, reasons
from apps.lib.ui import formats
from apps.lib.ui.states import Kind
from apps.members.models import Member
from apps.nat.models import NatMapping
from apps.nat.selectors import mappings_of
from apps.network.models import Holding


@dataclass(frozen=True)
class Held:
    """An address, how it leaves, and what the gateways have of both."""

    holding: Holding
    mapping: NatMapping | None
    known: list[Activation]

    @property
    def leaves(self) -> bool:
        """To the internet: IPv6 as it is, IPv4 by a mapping."""
        return self.mapping is not None or self.holding.prefix.version == 6

    @property
    def missing(self) -> list[Activation]:
        return [each for each in self.known if each.since is None]

    def since(self) -> dict[str, datetime]:
        """When each gateway had all of it."""
        times: dict[str, datetime] = {}
        absent = {each.gateway for each in self.missing}
        for each in self.known:
            if each.since and each.gateway not in absent:
                times[each.gateway] = max(each.since, times.get(each.gateway, each.since))
        return times


def of_addresses(
    member: Member, holdings: Sequence[Holding], carrying: Mapping[int, Set[str]], now: datetime, *, blocked: bool
) -> Iterator[Finding]:
    """A finding for each address. carrying: through which gateways packets pass, by IP version; blocked: a block holds now."""
    if not holdings:
        yield Finding(
            "address", Kind.WARN, _("Address"), _("None yet; an administrator gives one."), Fault.CONNECTION, _("it has no address")
        )
        return
    held = _held(member, holdings)
    inside = not any(each.leaves for each in held)
    for each in held:
        yield _inside(each, alone=inside) if not each.leaves else _finding(each, member, carrying, now, blocked)


def _held(member: Member, holdings: Sequence[Holding]) -> list[Held]:
    mappings = {row.holding_id: (row, known) for row, known in activations(mappings_of(member))}
    found = []
    for holding, known in activations(holdings):
        mapping, of_mapping = mappings.get(holding.pk, (None, []))
        found.append(Held(holding, mapping, [*known, *of_mapping]))
    return found


def _inside(held: Held, *, alone: bool) -> Finding:
    words = _("It reaches what is inside this network, not the internet.")
    fault, short = (Fault.CONNECTION, _("no address of it leads to the internet")) if alone else (Fault.NONE, "")
    return Finding("address", Kind.WARN if alone else Kind.PLAIN, held.holding.address, words, fault, short)


def _finding(held: Held, member: Member, carrying: Mapping[int, Set[str]], now: datetime, blocked: bool) -> Finding:
    address = held.holding.address
    if member.state != Member.State.ACTIVE:
        return Finding("address", Kind.PLAIN, address, _("Not on the gateways while the membership is not active."))
    missing = {each.gateway for each in held.missing}
    known = _known_but_blocked(held) if blocked else " ".join(filter(None, [_leaves(held), _there(held, now)]))
    said = " ".join(filter(None, [known, _not_there(held)]))
    if not missing:
        return Finding("address", Kind.PLAIN if blocked else Kind.OK, address, said)
    passes = carrying[held.holding.prefix.version]
    if passes and not missing & passes:
        return Finding("address", Kind.WARN, address, said)
    short = _("%(address)s is not active on %(gateways)s") % {"address": address, "gateways": ", ".join(sorted(missing))}
    return Finding("address", Kind.WARN if held.since() else Kind.BAD, address, said, Fault.NETWORK, short)


def _leaves(held: Held) -> str:
    return _("Leaves as %(public)s.") % {"public": held.mapping.leaves} if held.mapping else ""


def _there(held: Held, now: datetime) -> str:
    since = held.since()
    if not since:
        return ""
    listed = [_("%(gateway)s since %(time)s") % {"gateway": name, "time": _time(at, now)} for name, at in sorted(since.items())]
    return _("Active on %(gateways)s.") % {"gateways": ", ".join(listed)}


def _known_but_blocked(held: Held) -> str:
    """A gateway that has an address passes none of its packets while its holder is blocked, so nothing of it is active."""
    names = ", ".join(sorted(held.since()))
    return _("Known to %(gateways)s; the block keeps it from passing.") % {"gateways": names} if names else ""


def _not_there(held: Held) -> str:
    missing = sorted({each.gateway for each in held.missing})
    if not missing:
        return ""
    said = _("Not yet on %(gateways)s.") % {"gateways": ", ".join(missing)}
    why = "; ".join(each.words for each in reasons(held.missing))
    because = _("It %(why)s.") % {"why": why} if why else ""
    return f"{said} {because}".strip()


def _time(at: datetime, now: datetime) -> str:
    return formats.moment(at, now, with_zone=True, with_seconds=False)
