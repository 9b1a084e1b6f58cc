"""The dashboard: what needs somebody, what was checked and is fine, the gateways, the last rollouts.

Only what the database knows. The number of queries is constant; the time is passed in.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Min, Q
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.bans.blocks.selectors import counted, ending_within
from apps.bans.models import Ban, BanFeed, BanHits
from apps.deployments.approvals.texts import title as title_of_held
from apps.deployments.approvals.texts import why
from apps.deployments.models import Rollout
from apps.deployments.rollouts import evidence, progress
from apps.deployments.selectors import hold_by_group, newest_by_group, rollouts_in, waiting
from apps.desk.selectors import claims, programs
from apps.desk.selectors.claims import Facts, behind
from apps.desk.selectors.keeping import kept, member_counts
from apps.desk.selectors.need import Need, url
from apps.gateways.selectors import Shown, gateways, shown
from apps.inbound import mailbox_health
from apps.lib.ui import formats
from apps.lib.ui.states import Kind, State
from apps.lib.web.navigation import Count as NavigationCount
from apps.mail import selectors as mails
from apps.members.models import Member
from apps.network.models import GatewayGroup, Pool
from apps.network.selectors import held_in_pools, pools, size

SOON = timedelta(hours=24)
LAST = 8
NEARLY_FULL = 0.95
URGENT = (Kind.BAD, Kind.WARN, Kind.MOVING, Kind.WAIT, Kind.PLAIN)


@dataclass(frozen=True)
class Dashboard:
    """Everything the page shows."""

    at: str  # to the minute, so that nothing moves within one
    title: str
    active: int
    needs: list[Need]
    fine: list[str]
    calm: str
    gateways: list[Shown]
    rollouts: list[progress.Row]


def dashboard(now: datetime) -> Dashboard:
    """What is true, what needs somebody, what happened last."""
    gates, newest = shown(list(gateways()), now), newest_by_group()
    facts, found = claims.gather(gates, newest, now), _needs(gates, newest, now)
    last = [progress.row(rollout, now) for rollout in rollouts_in("")[:LAST]]
    return Dashboard(
        formats.full(now), title(found, facts), member_counts()["active"], found, claims.fine(facts), _calm(last, now), gates, last
    )


def needs(now: datetime) -> list[Need]:
    """What the number in the navigation counts."""
    return _needs(shown(list(gateways()), now), newest_by_group(), now)


def _needs(gates: Sequence[Shown], newest: Mapping[int, Rollout], now: datetime) -> list[Need]:
    of_people = (*_of_decisions(), *_of_rollouts(newest.values()), *_of_gateways(gates, newest), *_of_pools(), *_of_members())
    found = [
        *of_people,
        *_of_blocks(),
        *_of_bans(now),
        *_of_feeds(),
        *_of_floods(),
        *_of_mail(now),
        *_of_mail_in(now),
        *programs.needs(now),
    ]
    return sorted(found, key=lambda need: URGENT.index(need.state.kind))


def asking(_request: HttpRequest) -> NavigationCount | None:
    """The number beside “Dashboard”: people ought to look where it is violet."""
    found = kept("needs", lambda: needs(timezone.now()))
    return NavigationCount(len(found), asks=any(need.state.kind is not Kind.PLAIN for need in found)) if found else None


# --- What needs somebody


def _of_rollouts(newest: Iterable[Rollout]) -> Iterator[Need]:
    for rollout in newest:
        if rollout.state in (Rollout.State.FAILED, Rollout.State.ABORTED):
            yield Need(
                f"rollout-{rollout.pk}",
                State(Kind.BAD, _("Failed") if rollout.state == Rollout.State.FAILED else _("Stopped")),
                _("%(revision)s did not reach every gateway") % {"revision": rollout},
                first_line(rollout.error),
                rollout.finished,
                _("Open"),
                url("deployments:rollout", rollout.pk),
            )
        elif getattr(rollout, "lost_packets", False) and (lost := evidence.lost_in(rollout.steps.select_related("gateway"))):
            what = _("A probe failed after %(revision)s") % {"revision": rollout}
            page = url("deployments:rollout", rollout.pk)
            yield Need(f"rollout-{rollout.pk}", State(Kind.WARN, _("Probe")), what, " ".join(lost), rollout.finished, _("Open"), page)


def _of_decisions() -> Iterator[Need]:
    """What waits for a second person, and groups that are held at an older revision."""
    for held in waiting():
        state, page = State(Kind.WAIT, _("Approval")), url("deployments:held", held.pk)
        yield Need(f"held-{held.pk}", state, title_of_held(held), why(held), held.since, _("Review"), page, is_decision=True)
    for hold in hold_by_group().values():
        words = _("%(group)s is held at %(revision)s") % {"group": hold.group, "revision": hold.revision}
        by = f"{hold.by.name}: {hold.why}" if hold.by else hold.why
        page = url("deployments:release", hold.group_id)
        yield Need(f"hold-{hold.pk}", State(Kind.WAIT, _("Hold"), "hold"), words, by, hold.since, _("Release…"), page)


def _of_gateways(gates: Sequence[Shown], newest: Mapping[int, Rollout]) -> Iterator[Need]:
    away = [each.status.unreachable_since for each in gates if each.status and each.status.unreachable_since]
    if len(away) > 1 and len(away) == len(gates):
        why = _(
            "Probably the portal’s own management network is the reason: the gateways may forward all the same. Look at its cable first."
        )
        state = State(Kind.BAD, _("Cut off"))
        yield Need("away", state, _("The portal reaches none of the gateways"), why, max(away), _("Open"), url("gateways:list"))
        gates = [each for each in gates if each.status and not each.status.unreachable_since]
    stale = [each for each in gates if each.state.kind is Kind.WARN]
    if len(stale) > 1:
        words = _("Nobody has asked %(gateways)s lately") % {"gateways": _listed([each.gateway.name for each in stale])}
        since = min((each.status.seen for each in stale if each.status and each.status.seen), default=None)
        yield Need("stale", stale[0].state, words, stale[0].line.follows, since, _("Open"), url("gateways:list"))
    for each in gates:
        if each.state.kind is not Kind.OK and not (each in stale and len(stale) > 1):
            yield _need(each, each.state, _away(each), _why_away(each), _since(each))
        elif each.drift:
            said = f"{each.drift.what}. {each.drift.follows}"
            yield _need(each, State(Kind.WARN, each.drift.word), each.drift.sentence, said, each.drift.since)
        elif each.status and each.status.disk:
            yield _need(each, State(Kind.WARN, _("Disk")), each.line.sentence, each.line.follows, None)
        elif each.alone:
            yield _need(each, State(Kind.WARN, _("Alone")), each.line.sentence, each.line.follows, None)
        elif (late := behind(each, newest)) and late.state == Rollout.State.CONFIRMED:
            words = _("%(gateway)s does not run %(revision)s yet") % {"gateway": each.gateway, "revision": late}
            yield _need(each, State(Kind.WARN, _("Behind"), "overdue"), words, _runs(each), late.finished)
    if memory := _in_memory(gates):
        yield Need(
            "memory",
            State(Kind.PLAIN, _("In memory"), "info"),
            _("No packet passes through %(gateways)s") % {"gateways": _listed(memory)},
            _("they only pretend, for trying the portal out"),
            None,
            _("Show"),
            url("gateways:list"),
        )


def _in_memory(gates: Sequence[Shown]) -> list[str]:
    return [each.gateway.name for each in gates if each.status and each.status.in_memory]


def _need(each: Shown, state: State, what: str, evidence: str, at: datetime | None) -> Need:
    return Need(f"gateway-{each.gateway.pk}", state, what.rstrip("."), evidence, at, _("Open"), url("gateways:gateway", each.gateway.pk))


def _away(each: Shown) -> str:
    """That it does not answer, and which families have no primary that does: a group has one of each."""
    if not (each.status and each.status.unreachable_since):
        return each.line.sentence
    families = [name for name, carried in (("IPv4", each.gateway.carries4), ("IPv6", each.gateway.carries6)) if carried]
    if not families:
        return each.line.sentence
    words = ngettext(
        "%(families)s has no primary that answers: %(sentence)s", "%(families)s have no primary that answers: %(sentence)s", len(families)
    )
    return words % {"families": _listed(families), "sentence": each.line.sentence}


def _why_away(each: Shown) -> str:
    """The reason in the link's own words, and what follows."""
    reason = first_line(each.status.error).rstrip(".") if each.status and each.status.unreachable_since else ""
    return f"{reason}. {each.line.follows}" if reason else each.line.follows


def _since(each: Shown) -> datetime | None:
    return (each.status.unreachable_since or each.status.seen) if each.status else None


def _runs(each: Shown) -> str:
    runs = each.status.revision if each.status else None
    return _("it still runs %(revision)s") % {"revision": runs} if runs else _("it runs nothing of ours yet")


def _of_pools() -> Iterator[Need]:
    held = kept("held-in-pools", held_in_pools)
    for pool in pools().exclude(kind=Pool.Kind.PUBLIC4):
        free = size(pool) - held.get(pool.pk, 0)
        if held.get(pool.pk, 0) >= size(pool) * NEARLY_FULL:
            yield Need(
                f"pool-{pool.pk}",
                State(Kind.WARN, _("Nearly full")),
                _("The pool %(pool)s is nearly full") % {"pool": pool.name},
                ngettext("%(n)s of %(size)s is free", "%(n)s of %(size)s are free", free)
                % {"n": formats.number(free), "size": formats.number(size(pool))},
                None,
                _("Open"),
                url("network:pool", pool.pk),
            )


def _of_members() -> Iterator[Need]:
    waiting = Member.objects.filter(state=Member.State.PENDING).order_by("since", "pk").values_list("name", flat=True)[:3]
    number = member_counts()["pending"]
    if number and waiting:
        yield Need(
            "pending",
            State(Kind.WAIT, _("Waiting")),
            ngettext("%(n)s member waits for activation", "%(n)s members wait for activation", number) % {"n": formats.number(number)},
            ", ".join(waiting) + (" …" if number > len(waiting) else ""),
            None,
            _("Review"),
            f"{url('desk:members')}?view=pending",
        )


def _of_blocks() -> Iterator[Need]:
    """Members who are blocked: people who wait, and are told so."""
    number = counted()
    if number:
        ending = ending_within(24).first()
        said = _("the next one ends by itself") if ending else _("none of them ends by itself within 24 h")
        yield Need(
            "blocks",
            State(Kind.PLAIN, _("Blocked"), "blocked"),
            ngettext("%(n)s member is blocked", "%(n)s members are blocked", number) % {"n": formats.number(number)},
            said,
            ending.valid.upper if ending else None,
            _("Review"),
            url("bans:blocks"),
        )


def _of_bans(now: datetime) -> Iterator[Need]:
    ending = Ban.objects.filter(expires__gt=now, expires__lte=now + SOON, list__enabled=True)
    facts = ending.aggregate(number=Count("pk"), first=Min("expires"))
    if facts["number"]:
        hit = (
            BanHits.objects.filter(prefix__in=ending.values("prefix"), last_hit__gt=now - timedelta(hours=1))
            .values("prefix")
            .distinct()
            .count()
        )
        yield Need(
            "bans",
            State(Kind.PLAIN, _("Expiring"), "clock"),
            ngettext("%(n)s ban ends within 24 h", "%(n)s bans end within 24 h", facts["number"]) % {"n": formats.number(facts["number"])},
            _hit_words(hit),
            facts["first"],
            _("Review"),
            url("bans:lists"),
        )


def _of_floods() -> Iterator[Need]:
    for group in GatewayGroup.objects.filter(flood_mode=True):
        words = _("%(group)s is in flood mode") % {"group": group}
        costs = _("every packet from outside is looked up in the bans")
        yield Need(f"flood-{group.pk}", State(Kind.WARN, _("Flood mode")), words, costs, None, _("Open"), url("gateways:group", group.pk))


def _of_feeds() -> Iterator[Need]:
    """Feeds that fail, and what they hold back."""
    stuck = BanFeed.objects.filter(Q(error_since__isnull=False) | Q(held_since__isnull=False)).defer("held").select_related("list")
    for feed in stuck.order_by("list__name"):
        page = f"{url('bans:list', feed.list_id)}#feed"
        if feed.held_since:
            given = {"list": feed.list, "n": formats.number(feed.held_removed), "of": formats.number(feed.held_of)}
            words = _("The feed of “%(list)s” would lift %(n)s of %(of)s bans") % given
            yield Need(f"feed-held-{feed.pk}", State(Kind.WAIT, _("Held back")), words, feed.source, feed.held_since, _("Review"), page)
        if feed.error_since:
            words = _("“%(list)s” is not refreshed") % {"list": feed.list}
            yield Need(f"feed-{feed.pk}", State(Kind.WARN, _("Feed")), words, feed.why, feed.error_since, _("Open"), page)


def _of_mail_in(now: datetime) -> Iterator[Need]:
    if away := mailbox_health.outage(now):
        state = State(Kind.BAD, _("no mail in"), "mail")
        last = _("The last look that succeeded was %(at)s.") % {"at": formats.full(away.succeeded)} if away.succeeded else ""
        why = away.error or _("No worker looks at it: one that takes the queue “readings” does.")
        what = _("The mailbox %(place)s is not fetched.") % {"place": away.place}
        yield Need("mailbox", state, what, f"{why} {last}".strip(), away.since, _("Look"), url("inbound:arrivals"))
    if late := mailbox_health.unread():
        what = ngettext("%(n)s mail waits to be read.", "%(n)s mails wait to be read.", late.number) % {"n": formats.number(late.number)}
        why = _("No worker reads mail: one that takes the queue “mail” does.")
        yield Need(
            "unread", State(Kind.BAD, _("unread"), "mail"), what, why, late.since, _("Look"), url("inbound:arrivals") + "?state=waiting"
        )


def _of_mail(now: datetime) -> Iterator[Need]:
    """Mail that waits for too long, and mail that failed."""
    page = url("mail:outbox")
    if late := mails.late(now):
        words = ngettext("%(n)s mail does not leave", "%(n)s mails do not leave", late.number) % {"n": formats.number(late.number)}
        why = late.server.error if late.server else _("the mail server is not the reason: look whether a worker sends mail")
        yield Need("mail-late", State(Kind.WARN, _("Mail"), "mail"), words, why, late.since, _("Open"), page)
    if number := mails.failed():
        words = ngettext("%(n)s mail failed", "%(n)s mails failed", number) % {"n": formats.number(number)}
        what = _("try it again, or discard it")
        yield Need("mail-failed", State(Kind.WARN, _("Mail"), "mail"), words, what, None, _("Review"), f"{page}?state=failed")


def _hit_words(number: int) -> str:
    if not number:
        return _("none of them was hit in the last hour")
    return ngettext("%(n)s of them was hit in the last hour", "%(n)s of them were hit in the last hour", number) % {
        "n": formats.number(number)
    }


# --- Sentences


def title(found: Sequence[Need], facts: Facts) -> str:
    """“2 things need you, both gateways answer”."""
    number = len(found)
    first = (
        ngettext("%(n)s thing needs you", "%(n)s things need you", number) % {"n": formats.number(number)}
        if number
        else _("Nothing needs you")
    )
    said = claims.answering(facts, in_memory=bool(_in_memory(facts.gateways)))
    return _("%(needs)s, %(gateways)s") % {"needs": first, "gateways": said}


def _calm(last: Sequence[progress.Row], now: datetime) -> str:
    """What was done last."""
    if not last:
        return _("Nothing was rolled out yet.")
    at = formats.moment(last[0].rollout.created, now, with_seconds=False)
    return _("Last done: %(what)s, by %(who)s, %(at)s.") % {"what": last[0].what, "who": last[0].who, "at": at}


def first_line(text: str) -> str:
    return text.partition("\n")[0]


def _listed(names: Sequence[str]) -> str:
    return progress.listed(names)
