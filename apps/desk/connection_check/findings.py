"""Looking at a member's connection: the membership, each address, block, rate, quota, gateways, the last rollout. Asks no gateway.

In come a member and the time; out go findings in the order in which they are shown, in words for members and staff alike.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from apps.bans.blocks.models import Block
from apps.bans.blocks.selectors import current
from apps.deployments.models import Rollout
from apps.deployments.selectors import hold_by_group, newest_by_group
from apps.desk.connection_check.addresses import of_addresses
from apps.desk.connection_check.finding import Fault, Finding
from apps.gateways import selectors as gateways
from apps.lib.ui import formats
from apps.lib.ui.states import Kind
from apps.members.models import Member
from apps.network.models import Holding
from apps.network.selectors import holdings_of
from apps.traffic.models import Collected, FairShare
from apps.traffic.quotas import filling
from apps.traffic.rates import selectors as rates
from apps.traffic.rates.rate_texts import rates as in_words
from apps.traffic.rates.rate_texts import sentence


@dataclass(frozen=True)
class Connection:
    """A member with what they hold and the gateways that this concerns, at a moment."""

    member: Member
    holdings: list[Holding]
    gateways: list[gateways.Shown]
    now: datetime

    @property
    def groups(self) -> set[int]:
        return {holding.group_id for holding in self.holdings}


def connection(member: Member, now: datetime) -> Connection:
    """What there is to look at."""
    holdings = list(holdings_of(member))
    rows = gateways.gateways().filter(group__in={holding.group_id for holding in holdings})
    return Connection(member, holdings, gateways.shown(list(rows), now), now)


def findings(of: Connection) -> list[Finding]:
    """Everything that was found."""
    carrying = {
        4: {each.gateway.name for each in of.gateways if each.gateway.carries4},
        6: {each.gateway.name for each in of.gateways if each.gateway.carries6},
    }
    block = current(of.member)
    return [
        _membership(of.member),
        *of_addresses(of.member, of.holdings, carrying, of.now, blocked=block is not None),
        _block(block),
        _rate(of),
        *_quota(of),
        *_line(of),
        *_gateways(of),
        *_rollouts(of),
        *_holds(of),
    ]


def _membership(member: Member) -> Finding:
    title = _("Membership")
    if member.state == Member.State.LEFT:
        words = _("It has ended; no address works here any more.")
        return Finding("membership", Kind.BAD, title, words, Fault.CONNECTION, _("the membership has ended"))
    if member.state == Member.State.PENDING:
        words = _("It waits for an administrator to activate it.")
        return Finding("membership", Kind.WAIT, title, words, Fault.CONNECTION, _("the membership is not active yet"))
    return Finding("membership", Kind.OK, title, _("Active."))


def _block(block: Block | None) -> Finding:
    title = _("Block")
    if block is None:
        return Finding("block", Kind.OK, title, _("None."))
    facts = {"since": formats.full(block.valid.lower), "reason": block.get_reason_display()}
    if block.valid.upper is None:
        words = _("Since %(since)s, until somebody lifts it: %(reason)s.") % facts
    else:
        words = _("Since %(since)s, until %(until)s: %(reason)s.") % (facts | {"until": formats.full(block.valid.upper)})
    return Finding("block", Kind.BAD, title, words, Fault.CONNECTION, _("it is blocked"))


def _rate(of: Connection) -> Finding:
    """A limit, also one of the fair share while the line is full, or the tariff's rate."""
    title, limit, applies = _("Rate"), rates.current(of.member), rates.applies(of.member)
    if limit and applies:
        return Finding("rate", Kind.WARN, title, sentence(limit), Fault.LIMIT, _("its rate is limited"))
    tariff = in_words(of.member.tariff) if applies else ""
    return Finding("rate", Kind.OK, title, _("As in the tariff: %(rate)s.") % {"rate": tariff} if tariff else _("Not limited."))


def _quota(of: Connection) -> Iterator[Finding]:
    full = filling(of.member, now=of.now)
    if full is not None:
        facts = {"percent": formats.percent(full.percent), "quota": formats.volume(full.octets)}
        kind = Kind.OK if full.kind is Kind.PLAIN else Kind.WARN
        yield Finding("quota", kind, _("Quota"), _("%(percent)s of %(quota)s are used this month. Nothing is cut off by that.") % facts)


def _line(of: Connection) -> Iterator[Finding]:
    for share in FairShare.objects.filter(group__in=of.groups, on=True, since__isnull=False):
        words = _("Full since %(time)s; whoever uses it most is slowed down.") % {"time": _time(share.since, of.now)}
        yield Finding("line", Kind.WARN, _("Line to the internet"), words, Fault.NETWORK, _("the line to the internet is full"))


def _gateways(of: Connection) -> Iterator[Finding]:
    read = dict(Collected.objects.filter(gateway__in=[each.gateway for each in of.gateways]).values_list("gateway", "at"))
    others = any(each.state.kind is not Kind.BAD for each in of.gateways)
    for each in of.gateways:
        carries = each.gateway.carries4 or each.gateway.carries6 or not others
        silent = each.state.kind is Kind.BAD
        fault = Fault.NETWORK if silent and carries else Fault.NONE
        kind = Kind.WARN if silent and not carries else each.state.kind
        short = _("%(gateway)s does not answer") % {"gateway": each.gateway.name} if fault else ""
        yield Finding("gateway", kind, _title(each), _answers(each, read.get(each.gateway.pk), of.now), fault, short)


def _title(shown: gateways.Shown) -> str:
    return _("Gateway %(gateway)s, %(carries)s") % {"gateway": shown.gateway.name, "carries": shown.carries}


def _answers(shown: gateways.Shown, read: datetime | None, now: datetime) -> str:
    last = _("Last reading of its counters: %(time)s.") % {"time": _time(read, now)} if read else ""
    return f"{shown.state.word}. {last}".strip()


def _rollouts(of: Connection) -> Iterator[Finding]:
    newest = newest_by_group()
    for rollout in (newest[group] for group in sorted(of.groups) if group in newest):
        facts = {"revision": rollout, "state": rollout.get_state_display(), "time": _time(rollout.finished or rollout.created, of.now)}
        kind = Kind.MOVING if rollout.state in Rollout.OPEN else Kind.OK if rollout.state == Rollout.State.CONFIRMED else Kind.WARN
        words = _("%(revision)s %(state)s, %(time)s.") % facts
        kept = _("The gateways go on with what they had before.") if kind is Kind.WARN else ""
        yield Finding("rollout", kind, _("Last change of the rules"), " ".join(filter(None, [words, kept])))


def _holds(of: Connection) -> Iterator[Finding]:
    held = hold_by_group()
    for hold in (held[group] for group in sorted(of.groups) if group in held):
        facts = {"revision": hold.revision, "time": _time(hold.since, of.now)}
        words = _("The rules are held at %(revision)s since %(time)s; what was changed later waits.") % facts
        yield Finding("hold", Kind.WAIT, _("Hold"), words)


def _time(at: datetime | None, now: datetime) -> str:
    return formats.moment(at, now, with_zone=True, with_seconds=False) if at else _("unknown")
