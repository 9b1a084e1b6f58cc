"""Needs that follow from the gateways' states: away, not polled, changed by hand, alone, behind, without queues, in memory."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from django.shortcuts import resolve_url
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.deployments.models import Rollout
from apps.deployments.rollouts.progress import join_names
from apps.desk.needs.need import AttentionItem, get_first_line
from apps.gateways.roles.picture import map_family_pictures
from apps.gateways.selectors import GatewayOverview, build_queue_line
from apps.lib.ui.states import StateKind, StateLabel

SETTLING: Final = timedelta(seconds=5)


def iter_attention_items(gates: Sequence[GatewayOverview], newest: Mapping[int, Rollout], now: datetime) -> Iterator[AttentionItem]:
    """Yield the most important need of each gateway; one for all if none answers, and one for all that are not polled.

    newest: the newest rollout of each group.
    """
    away = [each.status.unreachable_since for each in gates if each.status and each.status.unreachable_since]
    if len(away) > 1 and len(away) == len(gates):
        yield _build_cut_off_need(gates, max(away))
        return
    stale = [each for each in gates if each.state.kind is StateKind.WARN]
    told = stale if len(stale) > 1 else []
    if told:
        yield _build_stale_need(told)
    for each in gates:
        yield from _iter_needs_of_gateway(each, gates, newest, now, is_told=each in told)
    if memory := list_in_memory(gates):
        yield _build_memory_need(memory)


def _build_cut_off_need(gates: Sequence[GatewayOverview], since: datetime) -> AttentionItem:
    return AttentionItem(
        "away",
        StateLabel(StateKind.BAD, _("Cut off")),
        _("The portal reaches none of the gateways"),
        _("The cause is probably the portal’s own management network; the gateways may still be forwarding. Check its cable first."),
        since,
        _("Open"),
        resolve_url("gateways:list"),
        stands_for=_list_gateway_keys(gates),
        gateways=_list_ids(gates),
    )


def _build_stale_need(stale: Sequence[GatewayOverview]) -> AttentionItem:
    return AttentionItem(
        "stale",
        stale[0].state,
        _("%(gateways)s have not been polled recently") % {"gateways": join_names([each.gateway.name for each in stale])},
        stale[0].line.follows,
        min((each.status.seen for each in stale if each.status and each.status.seen), default=None),
        _("Open"),
        resolve_url("gateways:list"),
        stands_for=_list_gateway_keys(stale),
        gateways=_list_ids(stale),
    )


def _build_memory_need(names: Sequence[str]) -> AttentionItem:
    return AttentionItem(
        "memory",
        StateLabel(StateKind.PLAIN, _("In memory"), "info"),
        _("No packet passes through %(gateways)s") % {"gateways": join_names(names)},
        _("they only simulate the rules, for trying out the portal"),
        None,
        _("Show"),
        resolve_url("gateways:list"),
    )


def _iter_needs_of_gateway(
    each: GatewayOverview, every: Sequence[GatewayOverview], newest: Mapping[int, Rollout], now: datetime, *, is_told: bool
) -> Iterator[AttentionItem]:
    """Yield the most important need of one gateway. is_told: another need says already that it is not polled."""
    if each.state.kind is not StateKind.OK and not is_told:
        out_of_service = _build_gateway_need(each, each.state, _describe_away(each), _describe_away_reason(each), _find_since(each))
        yield replace(out_of_service, gateways=_list_ids(_list_lost_with(each, every)))
    elif each.drift:
        said = f"{each.drift.what[:1].upper()}{each.drift.what[1:]}. {each.drift.follows}"
        kind = StateKind.BAD if each.drift.is_whole_table and each.carried else StateKind.WARN
        yield _build_gateway_need(each, StateLabel(kind, each.drift.word), each.drift.sentence, said, each.drift.since)
    elif each.status and each.status.disk:
        yield _build_gateway_need(each, StateLabel(StateKind.WARN, _("Disk")), each.line.sentence, each.line.follows, None)
    elif each.alone:
        lonely = _build_gateway_need(each, StateLabel(StateKind.WARN, _("Alone")), each.line.sentence, each.line.follows, None)
        yield replace(lonely, gateways=_list_ids(_list_group_of(each, every)) - {each.gateway.pk})
    elif (late := find_unapplied_rollout(each, newest)) and _is_settled(late, now):
        words = _("%(gateway)s does not run %(revision)s yet") % {"gateway": each.gateway, "revision": late}
        yield _build_gateway_need(each, StateLabel(StateKind.WARN, _("Behind"), "overdue"), words, _describe_running(each), late.finished)
    elif unfair := build_queue_line(each.gateway, each.status):
        yield _build_gateway_need(each, StateLabel(StateKind.WARN, _("Queues")), unfair.sentence, unfair.follows, None)


def find_unapplied_rollout(each: GatewayOverview, newest: Mapping[int, Rollout]) -> Rollout | None:
    """Return the newest rollout if the gateway does not run it; None while it is under way, or the gateway's state is unknown."""
    last = newest.get(each.gateway.group_id)
    if last is None or last.state in Rollout.OPEN or each.status is None:
        return None
    return last if each.status.revision_id != last.revision_id else None


def _is_settled(rollout: Rollout, now: datetime) -> bool:
    """True if the rollout was confirmed some time ago: the gateways' states and rollouts are not read at one moment."""
    return rollout.state == Rollout.State.CONFIRMED and (rollout.finished is None or now - rollout.finished >= SETTLING)


def _list_gateway_keys(gates: Iterable[GatewayOverview]) -> frozenset[str]:
    """Return the keys of the needs that these gateways have alone."""
    return frozenset(f"gateway-{each.gateway.pk}" for each in gates)


def _list_ids(gates: Iterable[GatewayOverview]) -> frozenset[int]:
    return frozenset(each.gateway.pk for each in gates)


def _list_group_of(of: GatewayOverview, gates: Iterable[GatewayOverview]) -> list[GatewayOverview]:
    return [each for each in gates if each.gateway.group_id == of.gateway.group_id]


def _list_lost_with(of: GatewayOverview, gates: Iterable[GatewayOverview]) -> list[GatewayOverview]:
    """Return the gateways whose state it is that this one does not answer: the whole group, if its reports show that no other one would
    carry its families. A standby hears the carrier, or else takes over. Without reports nobody knows who carries, so it is this gateway
    alone.
    """
    reported = [picture for family in of.carried if (picture := map_family_pictures().get((of.gateway.group_id, family)))]
    is_lost = not all(picture.has_standby_for(of.gateway) for picture in reported)
    return _list_group_of(of, gates) if is_lost else [of]


def list_in_memory(gates: Sequence[GatewayOverview]) -> list[str]:
    """Return the names of gateways whose table is in memory: no packet passes them."""
    return [each.gateway.name for each in gates if each.status and each.status.in_memory]


def _build_gateway_need(each: GatewayOverview, state: StateLabel, what: str, evidence: str, at: datetime | None) -> AttentionItem:
    page = resolve_url("gateways:gateway", each.gateway.pk)
    return AttentionItem(f"gateway-{each.gateway.pk}", state, what.rstrip("."), evidence, at, _("Open"), page, gateways=_list_ids([each]))


def _describe_away(each: GatewayOverview) -> str:
    """Say that the gateway does not answer, and which IP versions have no primary that answers: a group has one primary for each."""
    if not (each.status and each.status.unreachable_since):
        return each.line.sentence
    families = [name for name, carried in (("IPv4", each.carries4), ("IPv6", each.carries6)) if carried]
    if not families:
        return each.line.sentence
    words = ngettext(
        "%(families)s has no primary that answers: %(sentence)s", "%(families)s have no primary that answers: %(sentence)s", len(families)
    )
    return words % {"families": join_names(families), "sentence": each.line.sentence}


def _describe_away_reason(each: GatewayOverview) -> str:
    """Return the reason, as the connection said it, and the consequence."""
    reason = get_first_line(each.error).rstrip(".") if each.status and each.status.unreachable_since else ""
    return f"{reason}. {each.line.follows}" if reason else each.line.follows


def _find_since(each: GatewayOverview) -> datetime | None:
    return (each.status.unreachable_since or each.status.seen) if each.status else None


def _describe_running(each: GatewayOverview) -> str:
    runs = each.status.revision if each.status else None
    return _("it still runs %(revision)s") % {"revision": runs} if runs else _("it does not run our ruleset yet")
