"""The dashboard: what needs action, claims that were checked, the gateways, the last rollouts.

Reads the database only. The number of queries is constant; the time is passed in.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.bans.blocks.selectors import count_blocked_members, list_next_ending
from apps.bans.models import BanFeed
from apps.deployments.approvals.texts import render_reason
from apps.deployments.approvals.texts import render_title as title_of_held
from apps.deployments.models import Rollout, RolloutStep
from apps.deployments.restored_database.restore_hold import find_open_restore
from apps.deployments.rollouts import evidence, progress
from apps.deployments.selectors import (
    list_cached_waiting_parts,
    list_rollouts_in_state,
    map_newest_rollouts,
    map_revision_holds_by_group,
)
from apps.desk.selectors import agents, claims, ending_bans, health, inward, packets, pools, portal_health, programs, roles
from apps.desk.selectors.board_facts import list_facts
from apps.desk.selectors.claims import DashboardFacts, find_unapplied_rollout
from apps.desk.selectors.need import AttentionItem, find_page_url
from apps.desk.selectors.result_cache import count_members, get_cached
from apps.gateways.roles.picture import map_family_pictures
from apps.gateways.selectors import GatewayOverview, build_overviews, build_queue_line, list_cached_gateways
from apps.inbound_mail import mailbox_health
from apps.lib.ui import formats
from apps.lib.ui.states import StateKind, StateLabel
from apps.lib.web.frame_reads import read_frame, read_with_frame
from apps.lib.web.navigation import NavigationCount as NavigationCount
from apps.mail import selectors as mails
from apps.members.models import Member
from apps.network.models import GatewayGroup
from apps.status.incidents.work_windows import find_work_at, list_work_windows

LAST = 8
SETTLING = timedelta(seconds=5)
RESTORED = "restored"  # key of the need
URGENT = (StateKind.BAD, StateKind.WARN, StateKind.MOVING, StateKind.WAIT, StateKind.PLAIN)


@dataclass(frozen=True)
class Dashboard:
    """Everything that the page shows."""

    at: str  # to the minute, so that the time does not change the page more often
    title: str
    active: int
    needs: list[AttentionItem]
    fine: list[str]
    calm: str
    gateways: list[GatewayOverview]
    rollouts: list[progress.RolloutRow]
    facts: str  # of other apps

    @property
    def is_restored(self) -> bool:
        """True while a restore of the database waits for somebody: then it is not known what the gateways run."""
        return any(need.key == RESTORED for need in self.needs)


def build_dashboard(now: datetime) -> Dashboard:
    """Build the dashboard for this time."""
    read_frame()
    gates, newest = build_overviews(list(list_cached_gateways()), now), map_newest_rollouts()
    facts, found = claims.gather_facts(gates, newest, now), _collect_needs(gates, newest, now)
    last = [progress.build_rollout_row(rollout, now) for rollout in list_rollouts_in_state("")[:LAST]]
    return Dashboard(
        formats.format_full_time(now),
        render_title(found, facts),
        count_members()["active"],
        found,
        claims.list_true_claims(facts),
        _describe_last_rollout(last, now),
        gates,
        last,
        ", ".join(list_facts(now)),
    )


def list_attention_items(now: datetime) -> list[AttentionItem]:
    """Return the needs, which the number in the navigation counts."""
    return _collect_needs(build_overviews(list(list_cached_gateways()), now), map_newest_rollouts(), now)


def _collect_needs(gates: Sequence[GatewayOverview], newest: Mapping[int, Rollout], now: datetime) -> list[AttentionItem]:
    restored = tuple(_iter_restore_needs(gates))
    of_people = (
        *restored,
        *_iter_live_needs(gates),
        *_iter_decision_needs(),
        *_iter_rollout_needs(newest.values()),
        *_iter_gateway_needs(gates, {} if restored else newest, now),
        *pools.iter_attention_items(),
        *_iter_member_needs(),
    )
    found = [
        *of_people,
        *_iter_block_needs(),
        *ending_bans.iter_ban_items(now),
        *_iter_feed_needs(),
        *_iter_flood_needs(),
        *_iter_outbox_needs(now),
        *_iter_inbound_needs(now),
        *packets.iter_attention_items(gates, now),
        *inward.iter_inward_items(gates, now),
        *health.iter_attention_items(gates, now),
        *agents.iter_attention_items(gates),
        *roles.iter_attention_items(now, {each.gateway.pk for each in gates if each.status and each.status.unreachable_since}),
        *portal_health.iter_attention_items(now),
        *programs.iter_attention_items(now),
    ]
    replaced = frozenset[str]().union(*(need.stands_for for need in found))
    windows = list_work_windows(now) if any(need.gateways for need in found) else ()
    kept = (replace(need, work=find_work_at(need.gateways, windows)) for need in found if need.key not in replaced)
    return sorted(kept, key=lambda need: URGENT.index(need.state.kind))


def count_attention_items(_request: HttpRequest) -> NavigationCount | None:
    """Return the number beside “Dashboard”; it asks for attention if any need is more than information."""
    found = get_cached("needs", lambda: list_attention_items(timezone.now()))
    return NavigationCount(len(found), asks=any(need.state.kind is not StateKind.PLAIN for need in found)) if found else None


# --- Needs


def _iter_restore_needs(gates: Sequence[GatewayOverview]) -> Iterator[AttentionItem]:
    """Yield a restore of the database that nobody has agreed to. What gateways run is unknown then, so no first steps are shown.

    A restore forgets what the gateways ran, and until somebody agrees they get nothing: while one is known, there is no such restore.
    """
    is_running_known = any(each.status and each.status.revision for each in gates)
    restore = None if is_running_known else find_open_restore()
    if restore is None:
        return
    made = formats.format_moment(restore.backup_made, timezone.now(), with_zone=True)
    yield AttentionItem(
        RESTORED,
        StateLabel(StateKind.BAD, _("Restored"), "hold"),
        _("This portal was restored from the backup of %(time)s") % {"time": made},
        _("Nothing is sent to the gateways until somebody has looked at what differs, and continues."),
        restore.restored,
        _("Look…"),
        find_page_url("deployments:restored"),
        stands_for=frozenset({"first-steps"}),
    )


def _iter_live_needs(gates: Sequence[GatewayOverview]) -> Iterator[AttentionItem]:
    """Yield the first steps of a network that does not run yet; else groups with gateways that are not live."""
    if not any(each.status and each.status.revision for each in gates):
        yield AttentionItem(
            "first-steps",
            StateLabel(StateKind.WAIT, _("To do")),
            _("No gateway runs your network yet"),
            _("The first steps show what is there and what is missing."),
            None,
            _("First steps"),
            find_page_url("desk:first-steps"),
        )
        return
    for group in dict.fromkeys(each.gateway.group for each in gates if each.gateway.group.live_since is None):
        yield AttentionItem(
            f"live-{group.pk}",
            StateLabel(StateKind.WAIT, _("Not live")),
            _("%(group)s is not live yet") % {"group": group},
            _("Nothing is deployed to its gateways. Look at the plan, then go live."),
            None,
            _("Show the plan"),
            find_page_url("deployments:plan", group.pk),
        )


def _iter_rollout_needs(newest: Iterable[Rollout]) -> Iterator[AttentionItem]:
    for rollout in newest:
        if rollout.state in (Rollout.State.FAILED, Rollout.State.ABORTED):
            yield AttentionItem(
                f"rollout-{rollout.pk}",
                StateLabel(StateKind.BAD, _("Failed") if rollout.state == Rollout.State.FAILED else _("Stopped")),
                _("%(revision)s did not reach every gateway") % {"revision": rollout},
                get_first_line(rollout.error),
                rollout.finished,
                _("Open"),
                find_page_url("deployments:rollout", rollout.pk),
                gateways=frozenset(rollout.steps.filter(state__in=RolloutStep.BAD).values_list("gateway", flat=True)),
            )
        elif getattr(rollout, "lost_packets", False) and (
            lost := evidence.describe_all_lost_packets(steps := list(rollout.steps.select_related("gateway")))
        ):
            what = _("A probe failed after %(revision)s") % {"revision": rollout}
            page = find_page_url("deployments:rollout", rollout.pk)
            yield AttentionItem(
                f"rollout-{rollout.pk}",
                StateLabel(StateKind.WARN, _("Probe")),
                what,
                " ".join(lost),
                rollout.finished,
                _("Open"),
                page,
                gateways=frozenset(each.gateway_id for each in steps if evidence.describe_all_lost_packets([each])),
            )


def _iter_decision_needs() -> Iterator[AttentionItem]:
    """Yield what waits for an approval, and groups on hold at an older revision."""
    for held in list_cached_waiting_parts():
        state, page = StateLabel(StateKind.WAIT, _("Approval")), find_page_url("deployments:held", held.pk)
        yield AttentionItem(
            f"held-{held.pk}", state, title_of_held(held), render_reason(held), held.since, _("Review"), page, is_decision=True
        )
    for hold in map_revision_holds_by_group().values():
        words = _("%(group)s is on hold at %(revision)s") % {"group": hold.group, "revision": hold.revision}
        by = f"{hold.by.name}: {hold.why}" if hold.by else hold.why
        page = find_page_url("deployments:release", hold.group_id)
        state = StateLabel(StateKind.WAIT, _("Hold"), "hold")
        yield AttentionItem(f"hold-{hold.pk}", state, words, by, hold.since, _("Release…"), page, is_intended=True)


def _iter_gateway_needs(gates: Sequence[GatewayOverview], newest: Mapping[int, Rollout], now: datetime) -> Iterator[AttentionItem]:
    every, away = gates, [each.status.unreachable_since for each in gates if each.status and each.status.unreachable_since]
    if len(away) > 1 and len(away) == len(gates):
        why = _("The cause is probably the portal’s own management network; the gateways may still be forwarding. Check its cable first.")
        state = StateLabel(StateKind.BAD, _("Cut off"))
        what, page = _("The portal reaches none of the gateways"), find_page_url("gateways:list")
        yield AttentionItem(
            "away", state, what, why, max(away), _("Open"), page, stands_for=_list_gateway_keys(gates), gateways=_list_ids(gates)
        )
        gates = [each for each in gates if each.status and not each.status.unreachable_since]
    stale = [each for each in gates if each.state.kind is StateKind.WARN]
    if len(stale) > 1:
        words = _("%(gateways)s have not been polled recently") % {"gateways": _join_names([each.gateway.name for each in stale])}
        since = min((each.status.seen for each in stale if each.status and each.status.seen), default=None)
        page = find_page_url("gateways:list")
        yield AttentionItem(
            "stale",
            stale[0].state,
            words,
            stale[0].line.follows,
            since,
            _("Open"),
            page,
            stands_for=_list_gateway_keys(stale),
            gateways=_list_ids(stale),
        )
    told = stale if len(stale) > 1 else []
    for each in gates:
        yield from _iter_needs_of_gateway(each, every, newest, now, is_told=each in told)
    if memory := _list_in_memory(gates):
        yield AttentionItem(
            "memory",
            StateLabel(StateKind.PLAIN, _("In memory"), "info"),
            _("No packet passes through %(gateways)s") % {"gateways": _join_names(memory)},
            _("they only simulate the rules, for trying out the portal"),
            None,
            _("Show"),
            find_page_url("gateways:list"),
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


def _list_in_memory(gates: Sequence[GatewayOverview]) -> list[str]:
    return [each.gateway.name for each in gates if each.status and each.status.in_memory]


def _build_gateway_need(each: GatewayOverview, state: StateLabel, what: str, evidence: str, at: datetime | None) -> AttentionItem:
    page = find_page_url("gateways:gateway", each.gateway.pk)
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
    return words % {"families": _join_names(families), "sentence": each.line.sentence}


def _describe_away_reason(each: GatewayOverview) -> str:
    """Return the reason in the transport's own words, and the consequence."""
    reason = get_first_line(each.status.error).rstrip(".") if each.status and each.status.unreachable_since else ""
    return f"{reason}. {each.line.follows}" if reason else each.line.follows


def _find_since(each: GatewayOverview) -> datetime | None:
    return (each.status.unreachable_since or each.status.seen) if each.status else None


def _describe_running(each: GatewayOverview) -> str:
    runs = each.status.revision if each.status else None
    return _("it still runs %(revision)s") % {"revision": runs} if runs else _("it does not run our ruleset yet")


def _iter_member_needs() -> Iterator[AttentionItem]:
    waiting = Member.objects.filter(state=Member.State.PENDING).order_by("since", "pk").values_list("name", flat=True)[:3]
    number = count_members()["pending"]
    if number and waiting:
        yield AttentionItem(
            "pending",
            StateLabel(StateKind.WAIT, _("Waiting")),
            ngettext("%(n)s member waits for activation", "%(n)s members wait for activation", number)
            % {"n": formats.format_number(number)},
            ", ".join(waiting) + (" …" if number > len(waiting) else ""),
            None,
            _("Review"),
            f"{find_page_url('desk:members')}?view=pending",
        )


def _iter_block_needs() -> Iterator[AttentionItem]:
    """Yield the number of blocked members, with the time at which the next block ends."""
    number = count_blocked_members()
    if number:
        ending = next(iter(list_next_ending()), None)
        said = _("the next one ends by itself") if ending else _("none of them ends by itself within 24 h")
        yield AttentionItem(
            "blocks",
            StateLabel(StateKind.PLAIN, _("Blocked"), "blocked"),
            ngettext("%(n)s member is blocked", "%(n)s members are blocked", number) % {"n": formats.format_number(number)},
            said,
            ending.valid.upper if ending else None,
            _("Review"),
            find_page_url("bans:blocks"),
        )


@read_with_frame
def _list_flooded() -> QuerySet[GatewayGroup]:
    return GatewayGroup.objects.filter(flood_mode=True)


def _iter_flood_needs() -> Iterator[AttentionItem]:
    for group in _list_flooded():
        words = _("%(group)s is in flood mode") % {"group": group}
        costs = _("every packet from outside is checked against the bans")
        yield AttentionItem(
            f"flood-{group.pk}",
            StateLabel(StateKind.WARN, _("Flood mode")),
            words,
            costs,
            None,
            _("Open"),
            find_page_url("gateways:group", group.pk),
            is_intended=True,
        )


@read_with_frame
def _list_stuck_feeds() -> QuerySet[BanFeed]:
    stuck = BanFeed.objects.filter(Q(error_since__isnull=False) | Q(held_since__isnull=False))
    return stuck.defer("held").select_related("list").order_by("list__name")


def _iter_feed_needs() -> Iterator[AttentionItem]:
    """Yield feeds that fail, and feeds with bans held back."""
    for feed in _list_stuck_feeds():
        page = f"{find_page_url('bans:list', feed.list_id)}#feed"
        if feed.held_since:
            given = {"list": feed.list, "n": formats.format_number(feed.held_removed), "of": formats.format_number(feed.held_of)}
            words = _("The feed of “%(list)s” would lift %(n)s of %(of)s bans") % given
            yield AttentionItem(
                f"feed-held-{feed.pk}", StateLabel(StateKind.WAIT, _("Held back")), words, feed.source, feed.held_since, _("Review"), page
            )
        if feed.error_since:
            words = _("“%(list)s” is not refreshed") % {"list": feed.list}
            yield AttentionItem(
                f"feed-{feed.pk}", StateLabel(StateKind.WARN, _("Feed")), words, feed.error_text, feed.error_since, _("Open"), page
            )


def _iter_inbound_needs(now: datetime) -> Iterator[AttentionItem]:
    if away := mailbox_health.find_mailbox_outage(now):
        state = StateLabel(StateKind.BAD, _("no incoming mail"), "mail")
        last = _("Last fetched successfully: %(at)s.") % {"at": formats.format_full_time(away.succeeded)} if away.succeeded else ""
        why = away.error or _("No worker fetches mail: start one for the queue “readings”.")
        what = _("The mailbox %(place)s is not fetched.") % {"place": away.place}
        yield AttentionItem("mailbox", state, what, f"{why} {last}".strip(), away.since, _("View"), find_page_url("inbound:arrivals"))
    if late := mailbox_health.find_overdue_mail():
        what = ngettext("%(n)s mail waits to be read.", "%(n)s mails wait to be read.", late.number) % {
            "n": formats.format_number(late.number)
        }
        why = _("No worker reads mail: start one for the queue “mail”.")
        yield AttentionItem(
            "unread",
            StateLabel(StateKind.BAD, _("unread"), "mail"),
            what,
            why,
            late.since,
            _("View"),
            find_page_url("inbound:arrivals") + "?state=waiting",
        )


def _iter_outbox_needs(now: datetime) -> Iterator[AttentionItem]:
    """Yield mail that waits for too long, and mail that failed."""
    page = find_page_url("mail:outbox")
    if late := mails.summarize_late_mails(now):
        given = {"n": formats.format_number(late.number)}
        if late.server:
            words = _("The mail server accepts nothing")
            waiting = ngettext("%(n)s mail waits in the outbox.", "%(n)s mails wait in the outbox.", late.number) % given
            why, since = f"{waiting} {late.server.error}", late.server.since
        else:
            words = ngettext("%(n)s mail is stuck in the outbox", "%(n)s mails are stuck in the outbox", late.number) % given
            why, since = _("the mail server is not the cause: check that a worker sends mail"), late.since
        yield AttentionItem("mail-late", StateLabel(StateKind.WARN, _("Mail"), "mail"), words, why, since, _("Open"), page)
    if number := mails.count_failed():
        words = ngettext("%(n)s mail failed", "%(n)s mails failed", number) % {"n": formats.format_number(number)}
        what = _("try it again, or discard it")
        yield AttentionItem(
            "mail-failed", StateLabel(StateKind.WARN, _("Mail"), "mail"), words, what, None, _("Review"), f"{page}?state=failed"
        )


# --- Sentences


def render_title(found: Sequence[AttentionItem], facts: DashboardFacts) -> str:
    """Render the title: “2 things need you, both gateways answer”."""
    number = len(found)
    first = (
        ngettext("%(n)s thing needs you", "%(n)s things need you", number) % {"n": formats.format_number(number)}
        if number
        else _("Nothing needs you")
    )
    said = (
        _("what the gateways run is not known")
        if any(need.key == RESTORED for need in found)
        else claims.describe_answering_gateways(facts, in_memory=bool(_list_in_memory(facts.gateways)))
    )
    return _("%(needs)s, %(gateways)s") % {"needs": first, "gateways": said}


def _describe_last_rollout(last: Sequence[progress.RolloutRow], now: datetime) -> str:
    """Describe the last rollout."""
    if not last:
        return _("No rollout yet.")
    at = formats.format_moment(last[0].rollout.created, now, with_seconds=False)
    return _("Last rollout: %(what)s, by %(who)s, %(at)s.") % {"what": last[0].what, "who": last[0].who, "at": at}


def get_first_line(text: str) -> str:
    return text.partition("\n")[0]


def _join_names(names: Sequence[str]) -> str:
    return progress.join_names(names)
