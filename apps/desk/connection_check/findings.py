"""Findings about a member's connection: membership, addresses, block, rate, quota, uplink, packets, gateways, last rollout, and hold.

Takes a member and the time; returns findings in the order in which they are shown, worded for members and staff alike. Contacts
no gateway.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from apps.bans.blocks.models import Block
from apps.bans.blocks.selectors import find_current_block
from apps.deployments.models import Rollout
from apps.deployments.selectors import map_newest_rollouts, map_revision_holds_by_group
from apps.desk.connection_check.addresses import check_addresses
from apps.desk.connection_check.finding import FaultOrigin, Finding
from apps.desk.connection_check.packets import check_packets
from apps.gateways import selectors as gateways
from apps.lib.ui import formats
from apps.lib.ui.states import StateKind
from apps.members.models import Member
from apps.network.models import Holding
from apps.network.selectors import list_held_now
from apps.traffic.models import Collected, FairShare
from apps.traffic.quotas import find_quota_usage
from apps.traffic.rates import selectors as rates
from apps.traffic.rates.rate_texts import describe_limit
from apps.traffic.rates.rate_texts import format_rates as in_words


@dataclass(frozen=True)
class MemberConnection:
    """A member with their holdings and the gateways concerned, at a moment."""

    member: Member
    holdings: list[Holding]
    gateways: list[gateways.GatewayOverview]
    now: datetime

    @property
    def groups(self) -> set[int]:
        return {holding.group_id for holding in self.holdings}

    @property
    def families(self) -> set[int]:
        return {holding.prefix.version for holding in self.holdings}


def build_connection(member: Member, now: datetime) -> MemberConnection:
    """Read the member's holdings and the gateways of their groups."""
    holdings = list(list_held_now(member))
    rows = gateways.list_gateways().filter(group__in={holding.group_id for holding in holdings})
    return MemberConnection(member, holdings, gateways.build_overviews(list(rows), now), now)


def list_findings(of: MemberConnection) -> list[Finding]:
    """Return all findings in the order of the page."""
    carrying = {
        4: {each.gateway.name for each in of.gateways if each.carries4},
        6: {each.gateway.name for each in of.gateways if each.carries6},
    }
    block = find_current_block(of.member)
    return [
        _check_membership(of.member),
        *check_addresses(of.member, of.holdings, carrying, of.now, blocked=block is not None),
        _check_block(block),
        _check_rate(of),
        *_check_quota(of),
        *_check_line(of),
        *check_packets(of.families, of.groups, of.now),
        *_check_gateways(of),
        *_check_rollouts(of),
        *_check_revision_holds(of),
    ]


def _check_membership(member: Member) -> Finding:
    title = _("Membership")
    if member.state == Member.State.LEFT:
        words = _("It has ended; no address works here any more.")
        return Finding("membership", StateKind.BAD, title, words, FaultOrigin.CONNECTION, _("the membership has ended"))
    if member.state == Member.State.PENDING:
        words = _("It waits for an administrator to activate it.")
        return Finding("membership", StateKind.WAIT, title, words, FaultOrigin.CONNECTION, _("the membership is not active yet"))
    return Finding("membership", StateKind.OK, title, _("Active."))


def _check_block(block: Block | None) -> Finding:
    title = _("Block")
    if block is None:
        return Finding("block", StateKind.OK, title, _("None."))
    facts = {"since": formats.format_full_time(block.valid.lower), "reason": block.get_reason_display()}
    if block.valid.upper is None:
        words = _("Since %(since)s, until lifted: %(reason)s.") % facts
    else:
        words = _("Since %(since)s, until %(until)s: %(reason)s.") % (facts | {"until": formats.format_full_time(block.valid.upper)})
    return Finding("block", StateKind.BAD, title, words, FaultOrigin.CONNECTION, _("it is blocked"))


def _check_rate(of: MemberConnection) -> Finding:
    """Report the current rate limit (which includes the fair share while the uplink is full), or the tariff's rate."""
    title, limit, applies = _("Rate"), rates.find_current_limit(of.member), rates.is_rate_limiting_on(of.member)
    if limit and applies:
        return Finding("rate", StateKind.WARN, title, describe_limit(limit), FaultOrigin.LIMIT, _("its rate is limited"))
    tariff = in_words(of.member.tariff) if applies else ""
    return Finding("rate", StateKind.OK, title, _("As in the tariff: %(rate)s.") % {"rate": tariff} if tariff else _("Not limited."))


def _check_quota(of: MemberConnection) -> Iterator[Finding]:
    full = find_quota_usage(of.member, now=of.now)
    if full is not None:
        facts = {"percent": formats.format_percent(full.percent), "quota": formats.format_volume(full.octets)}
        kind = StateKind.OK if full.kind is StateKind.PLAIN else StateKind.WARN
        yield Finding("quota", kind, _("Quota"), _("%(percent)s of %(quota)s are used this month. This does not cut anything off.") % facts)


def _check_line(of: MemberConnection) -> Iterator[Finding]:
    for share in FairShare.objects.filter(group__in=of.groups, on=True, since__isnull=False):
        words = _("Full since %(time)s; the heaviest users are slowed down.") % {"time": _format_time(share.since, of.now)}
        yield Finding("line", StateKind.WARN, _("Line to the internet"), words, FaultOrigin.NETWORK, _("the line to the internet is full"))


def _check_gateways(of: MemberConnection) -> Iterator[Finding]:
    read = dict(Collected.objects.filter(gateway__in=[each.gateway for each in of.gateways]).values_list("gateway", "at"))
    others = any(each.state.kind is not StateKind.BAD for each in of.gateways)
    for each in of.gateways:
        carries = each.carries4 or each.carries6 or not others
        silent = each.state.kind is StateKind.BAD
        fault = FaultOrigin.NETWORK if silent and carries else FaultOrigin.NONE
        kind = StateKind.WARN if silent and not carries else each.state.kind
        short = _("%(gateway)s does not answer") % {"gateway": each.gateway.name} if fault else ""
        yield Finding(
            "gateway", kind, _render_gateway_title(each), _describe_answers(each, read.get(each.gateway.pk), of.now), fault, short
        )


def _render_gateway_title(shown: gateways.GatewayOverview) -> str:
    return _("Gateway %(gateway)s, %(carries)s") % {"gateway": shown.gateway.name, "carries": shown.carries}


def _describe_answers(shown: gateways.GatewayOverview, read: datetime | None, now: datetime) -> str:
    last = _("Last reading of its counters: %(time)s.") % {"time": _format_time(read, now)} if read else ""
    return f"{shown.state.word}. {last}".strip()


def _check_rollouts(of: MemberConnection) -> Iterator[Finding]:
    newest = map_newest_rollouts()
    for rollout in (newest[group] for group in sorted(of.groups) if group in newest):
        facts = {
            "revision": rollout,
            "state": rollout.get_state_display(),
            "time": _format_time(rollout.finished or rollout.created, of.now),
        }
        kind = (
            StateKind.MOVING
            if rollout.state in Rollout.OPEN
            else StateKind.OK
            if rollout.state == Rollout.State.CONFIRMED
            else StateKind.WARN
        )
        words = _("%(revision)s %(state)s, %(time)s.") % facts
        kept = _("The gateways keep running the previous rules.") if kind is StateKind.WARN else ""
        yield Finding("rollout", kind, _("Last change of the rules"), " ".join(filter(None, [words, kept])))


def _check_revision_holds(of: MemberConnection) -> Iterator[Finding]:
    held = map_revision_holds_by_group()
    for hold in (held[group] for group in sorted(of.groups) if group in held):
        facts = {"revision": hold.revision, "time": _format_time(hold.since, of.now)}
        words = _("The rules have been on hold at %(revision)s since %(time)s; later changes wait.") % facts
        yield Finding("hold", StateKind.WAIT, _("Hold"), words)


def _format_time(at: datetime | None, now: datetime) -> str:
    return formats.format_moment(at, now, with_zone=True, with_seconds=False) if at else _("unknown")
