"""A demo network with one of everything, so that every page has something to show, and the list of pages with what each shows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from functools import cache
from ipaddress import ip_address, ip_interface, ip_network
from typing import Any
from uuid import uuid4

from django.db.models import Model
from django.urls import NoReverseMatch, URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from apps.accounts import tokens
from apps.accounts.models import ApiToken, RoleChange, User
from apps.accounts.role_changes import submit_role_change
from apps.alarms.channels.services import ChannelFacts, add_channel, send_test
from apps.alarms.duty.calendar_reading import read_due_calendars
from apps.alarms.duty.calendar_services import CalendarFacts, add_calendar
from apps.alarms.duty.rota_feed import build_feed_url, renew_feed
from apps.alarms.duty.services import add_shift
from apps.alarms.models import Alarm, AlarmChannel, DutyCalendar, DutyShift, Silence
from apps.alarms.services import silence_alarms
from apps.announcements.models import Announcement
from apps.announcements.services import withdraw_announcement
from apps.bans import allow_list, feed_services, services, uploads
from apps.bans.models import AllowEntry, Ban, BanFeed, BanList, Block, Listener, Reachable, Upload
from apps.deployments.models import GatewayState, HeldBack, Revision, Rollout
from apps.deployments.services import reconcile
from apps.desk import address_lookup_log
from apps.desk.people_import.uploads import save_upload
from apps.desk.seeding import demo
from apps.gateways.agent_upgrade.models import AgentUpgrade, AgentUpgradeStep
from apps.gateways.evidence.models import EvidenceArchive, EvidenceDownload, EvidenceFile
from apps.gateways.evidence.part_texts import TITLES
from apps.gateways.failover_settings import change_failover
from apps.gateways.joining.models import JoiningMachine
from apps.gateways.roles.models import RoleSwitch
from apps.gateways.roles.observation import note_carriers, store_roles
from apps.inbound_mail.models import Arrival
from apps.inbound_mail.parse_limits import TOO_MANY_ADDRESSES
from apps.lib.database.validity import is_valid_now
from apps.mail import circuit_breaker, notice_kinds, unsubscribing
from apps.mail.models import Message
from apps.members.departures import plan_departure
from apps.members.models import Departure, Device, Member, PeopleUpload, Room, Site, Tariff
from apps.nat.models import Move, Pinhole, PortForward
from apps.nat.moving import services as moving
from apps.nat.pinholes.services import add_pinhole
from apps.network.models import Gateway, GatewayGroup, Holding, Pool
from apps.operations.portal_health.collection import store_portal_reading
from apps.operations.portal_health.figures import TableActivity
from apps.operations.portal_health.models import BackupNote, DatabaseDay, TableDay
from apps.status.availability.bookkeeping import note_levels
from apps.status.incidents import services as incidents
from apps.status.incidents.attached_tickets import attach_tickets
from apps.status.incidents.services import IncidentFacts, UpdateFacts
from apps.status.models import Incident, ServiceDay, ServiceLevel, Subscription
from apps.status.network_services import NetworkService
from apps.status.subscriptions.services import ask_for_subscription, build_token
from apps.tickets import bulk, canned, merging, splitting
from apps.tickets import own_tickets as tickets_of_members
from apps.tickets import services as tickets
from apps.tickets.attachments import AttachmentFile
from apps.tickets.links import add_link
from apps.tickets.models import Attachment, Bulk, Canned, Link, Ticket
from apps.tickets.models import Message as TicketMessage
from apps.tickets.models import Move as TicketMove
from apps.traffic.models import Collected, FairShare
from apps.traffic.rates.models import RateLimit
from apps.traffic.rates.selectors import get_uplink
from apps.traffic.rates.services import limit_member, set_uplink
from apps.webhooks import delivery_gathering
from apps.webhooks import services as webhooks
from apps.webhooks.models import Delivery, Endpoint
from firewall.health import Forwarding, MachineLevels
from firewall.roles import FailoverRole, FamilyRole, RolesAre
from tests import announcement_factories
from tests.health_situations import build_counters, store_reading
from tests.joining_machines import make_ready_machine
from tests.portal_situations import build_figures
from tests.whole.system import wait_for

LONG = "Kindergarten-Freundeskreis-Nachbarschaftshilfe-Donaudampfschifffahrtsgesellschaft"  # 81 characters, without a space
FEED = b"".join(b"198.18.%d.0/24 # %s\n" % (at, LONG.encode()) for at in range(60))

RESIDENT = "selin"
PASSWORD = "correct horse battery"

# Routes that are not visited: those that take only POST, files, and a few more with their reasons.
POSTED = (
    "accounts:back-channel-logout", "desk:first-steps-mail",
    "desk:departure-drop", "desk:move-drop", "desk:member-invite", "desk:invitation-withdraw", "own:pinhole-switch", "own:pinhole-reopen",
    "network:pool-undo", "members:site-undo", "members:room-undo", "members:tariff-undo",
    "accounts:keys", "accounts:session-end", "accounts:sessions-end-others", "accounts:invitation-withdraw",
    "accounts:person-sign-out",
    "accounts:roles-agree", "accounts:roles-drop",
    "lib:theme", "nat:forward-add", "nat:forward-switch", "nat:forward-restore",
    "nat:pinhole-add", "nat:pinhole-switch", "nat:pinhole-restore", "bans:feed_now", "bans:add", "bans:bulk", "bans:restore", "bans:revert",
    "bans:blocks-bulk", "bans:block-restore", "bans:reachable-add", "bans:server-interface", "deployments:deploy",
    "deployments:again", "deployments:pause", "deployments:resume", "deployments:approve", "gateways:put-right", "gateways:count-again",
    "gateways:evidence-collect", "gateways:agents-stop",
    "gateways:group-undo", "gateways:undo", "gateways:failover-undo", "gateways:joining-trust", "desk:settings-undo", "desk:settings-reset",
    "tickets:many", "tickets:unmerge", "tickets:change", "tickets:take", "tickets:presence", "tickets:link", "tickets:unlink",
    "tickets:notices", "desk:live-end", "inbound:again",
    "tickets:assign-member",
    "announcements:publish", "own:announcement-seen",
    "webhooks:ping", "webhooks:again", "alarms:seen", "alarms:end-silence", "alarms:channel-test",
    "alarms:shift-take", "alarms:calendar-read", "alarms:duty-link",
    "status:tickets-attach", "status:ticket-detach",
    "mail:again", "desk:members-bulk", "desk:member-activate", "desk:holding-add", "desk:device-add", "own:port-switch", "own:port-reopen",
)  # fmt: skip
FILES = (
    "traffic:throughput-csv", "traffic:talkers-csv", "traffic:sums-csv", "traffic:quotas-csv", "traffic:of-csv", "traffic:of-months-csv",
    "desk:member-everything",
    "tickets:attachment", "tickets:chart-csv",
    "api-schema", "bans:download", "nat:forwards-csv", "nat:pinholes-csv", "desk:members-csv", "deployments:delta", "deployments:held-text",
    "inbound:file", "desk:export", "desk:people-sample", "gateways:failover-file", "gateways:health-csv",
    "gateways:evidence-download",
    "status:atom", "status:calendar", "status:json", "alarms:duty-feed",
)  # fmt: skip
NOT_VISITED = {
    **dict.fromkeys(POSTED, "an answer to POST alone"),
    **dict.fromkeys(FILES, "a file"),
    "gateways:agent-package": "a file",
    "own:everything": "a file, for members",
    "own:ticket-attachment": "a file, for members",
    "operations:health": "an answer for monitors",
    **dict.fromkeys(("operations:healthz", "operations:readyz"), "plain text for a monitor"),
    "set_language": "sends on",
    "accounts:signed-out": "sends on",
    "lib:language": "sends on",
    "deployments:compare-text": "a file, of two revisions",
    "own:traffic-csv": "a file, of the member who asks",
    "own:months-csv": "a file, of the member who asks",
    "deployments:running": "a part of every page, asked for by HTMX alone",
    "deployments:rollout_now": "a part of deployments:rollout, asked for by HTMX alone",
    "bans:saved": "a part of bans:list, asked for by HTMX alone",
    "bans:feed_state": "a part of bans:list, asked for by HTMX alone",
    "desk:live-seen": "needs a kernel; visited by test_live.py",
    **dict.fromkeys(
        ("accounts:invited", "own:join", "account_confirm_email", "account_reset_password_from_key"),
        "needs what was sent by mail; see test_invitations.py",
    ),
    **dict.fromkeys(("mfa_edit_webauthn", "mfa_remove_webauthn"), "needs a passkey; see test_signing_in.py"),
    **dict.fromkeys(("openid_connect_login", "openid_connect_callback"), "leads to another's page; see test_single_sign_on.py"),
}


@dataclass(frozen=True)
class Page:
    """A page that a browser can open: its name in the URL configuration, and its path."""

    name: str
    path: str


def make() -> User:
    """Make the demo network with one of everything and deploy it. Returns the user to view the pages with."""
    demo.seed_demo(Gateway.Link.LOCAL, timezone.localdate())
    for user in User.objects.filter(username__in=("mara", RESIDENT)):  # as the demo's logins: who has none cannot confirm with it
        user.set_password(PASSWORD)
        user.save(update_fields=["password"])
    return fill()


def is_filled() -> bool:
    """True if `fill` has run. It makes the demo's only fair share."""
    return FairShare.objects.exists()


def fill() -> User:
    """Add one of everything that the demo network lacks, also while a worker deploys it. Returns the user to view the pages with."""
    mara, group = User.objects.get(username="mara"), GatewayGroup.objects.get()
    reconcile(group, by=mara.pk)
    _openings(mara)
    make_ready_machine(group, "nat-3")
    _bans(mara)
    jakob = User.objects.get(username="jakob")
    address_lookup_log.record_and_answer_lookup(address=ip_address("198.51.100.7"), port=65535, at=timezone.now(), reason=LONG, by=mara)
    submit_role_change(user=jakob, before=jakob.roles, after=["network_admin", "auditor"], reason=LONG, by=mara)
    member = Member.objects.get(user__username=RESIDENT)
    of_pinhole = Member.objects.get(**_member())
    plan_departure(member=of_pinhole, on=timezone.localdate() + timedelta(days=20), by=mara)
    room = Room.objects.order_by("pk")[0]
    moving.plan_member_move(member=of_pinhole, on=timezone.localdate() + timedelta(days=9), room=room, pool=None, follow=True, by=mara)
    limit_member(member=member, up_kbit=1000, down_kbit=5000, reason="other", note=LONG, until=timezone.now() + timedelta(hours=3), by=mara)
    _full(group, mara)
    _health(Gateway.objects.order_by("pk")[0])
    _evidence(Gateway.objects.order_by("pk")[0], mara)
    _portal_health()
    _mails()
    _tickets(mara, member)
    _arrivals()
    _webhooks(mara)
    _tokens(mara, member)
    _alarms(mara)
    _rota(mara)
    _incidents(mara)
    _announcements(mara)
    group.removal_least = 3
    group.save()
    wait_for(lambda: reconcile(group, by=mara.pk) is None)
    for forward in PortForward.objects.filter(is_valid_now(), enabled=True)[:5]:
        forward.delete()
    wait_for(lambda: reconcile(group, by=mara.pk) is None and HeldBack.objects.exists())
    return mara


def _full(group: GatewayGroup, mara: User) -> None:
    """Add a full uplink, failover, a gateway with a refused reading, and one that is out of service."""
    now = timezone.now()
    uplink = get_uplink(group)
    set_uplink(group=group, version=uplink.version, up_kbit=1_000_000, down_kbit=1_000_000, limits_rates=True, by=mara)
    change_failover(group=group, version=0, inside=[ip_interface("10.0.0.254/11"), ip_interface("fe80::1/64")], by=mara)
    _failover_roles(group, mara)
    _agent_upgrade(group, mara)
    FairShare.objects.create(group=group, on=True, since=now)
    told = {"at": now, "up_bits": 120_000_000, "down_bits": 981_000_000, "refused": f"set up4: {LONG}", "refused_at": now}
    first = group.gateways.order_by("pk")[0]
    Collected.objects.update_or_create(gateway=first, defaults=told)
    gone = {"link": "local", "lan": "lan0", "wan": "wan0", "management": "mgmt0", "management_networks": first.management_networks}
    Gateway.ever.create(group=group, name="nat-0", retired=now, **gone)


def _failover_roles(group: GatewayGroup, mara: User) -> None:
    """Let the gateways tell their roles: one carries both families, the other is drained of one. Both were switched before."""
    now = timezone.now()
    took = int(now.timestamp()) - 90_000
    carrier, standby = group.gateways.order_by("pk")[:2]
    for gateway, role in ((carrier, FailoverRole.PRIMARY), (standby, FailoverRole.STANDBY)):
        carries = role is FailoverRole.PRIMARY
        families = tuple(FamilyRole(each, role, took, carries, not carries and each == 6) for each in (4, 6))
        store_roles(gateway, RolesAre(families, 0, 12, 1_268_000 if carries else 1_000), now)
    note_carriers(group, now)
    given = {"families": [4, 6], "by": mara, "started": now - timedelta(days=1), "ended": now}
    details = {"target": carrier.name, "seconds": "0.3", "packets": LONG}
    RoleSwitch.objects.create(group=group, gateway=standby, kind="drain", state="failed", outcome="no packets", details=details, **given)


def _agent_upgrade(group: GatewayGroup, mara: User) -> None:
    """Add an upgrade of agents that stopped at its second gateway."""
    run = AgentUpgrade.objects.create(group=group, agent="0.1.0+11111111", digest="", state="stopped", by=mara, ended=timezone.now())
    first, second = group.gateways.order_by("pk")[:2]
    AgentUpgradeStep.objects.create(upgrade=run, gateway=first, position=0, state="confirmed", needs_package=True)
    AgentUpgradeStep.objects.create(upgrade=run, gateway=second, position=1, state="went_back", problem="ended", reason=LONG)
    GatewayState.objects.filter(gateway=second).update(agent="0.1.0+22222222")


def _alarms(mara: User) -> None:
    """Add an alarm of each kind: not told yet, told, seen, silenced and over."""
    now, hour = timezone.now(), timedelta(hours=1)
    texts = {each: {"title": LONG, "evidence": f"{LONG} {LONG}"} for each in ("en", "de")}
    Alarm.objects.create(key="scene-new", severity="decision", texts=texts, path="/members/", began=now)
    Alarm.objects.create(key="scene-told", severity="critical", texts=texts, path="/gateways/", began=now - hour, reported=now - hour)
    Alarm.objects.create(
        key="scene-seen", severity="warning", texts=texts, began=now - hour, reported=now - hour, seen=now - hour, seen_by=mara
    )
    Alarm.objects.create(
        key="scene-over", severity="warning", texts=texts, began=now - 3 * hour, reported=now - 3 * hour, gone=now - hour, ended=now - hour
    )
    silence_alarms(key="scene-new", until=now + hour, reason=LONG, by=mara)
    Silence.objects.create(reason=LONG, since=now - 2 * hour, until=now + 2 * hour)
    night: dict[str, Any] = {"quiet_from": time(23), "quiet_until": time(7), "after_minutes": 15}
    channel = add_channel(facts=ChannelFacts(name=LONG[:80], target=f"json://127.0.0.1:9/{LONG}", **night), by=mara)
    AlarmChannel.objects.filter(pk=channel.pk).update(failing_since=now - hour, error=LONG)
    add_channel(facts=ChannelFacts(name="Off", target="json://127.0.0.1:9/off", active=False), by=mara)
    send_test(channel=channel, by=mara)


def _rota(mara: User) -> None:
    """Add shifts that people entered and of a calendar, with gaps, an event that is nobody's, and a calendar that cannot be read."""
    now, hour = timezone.now(), timedelta(hours=1)
    jonas = User.objects.filter(username="jonas").first() or mara
    add_shift(person=mara, begins=now - hour, ends=now + 8 * hour, by=mara)
    add_shift(person=jonas, begins=now + 8 * hour, ends=now + 20 * hour, by=mara)
    add_calendar(facts=CalendarFacts(LONG[:80], content=_write_rota_file(now), file_name=f"{LONG}.ics"), by=mara)
    add_calendar(facts=CalendarFacts("A web page", content=b"<html>Sign in</html>", file_name="export.ics"), by=mara)
    read_due_calendars(timezone.now())
    renew_feed(user=mara)


def _write_rota_file(now: datetime) -> bytes:
    first = f"{now + timedelta(days=2):%Y%m%d}"
    weekly = f"DTSTART;VALUE=DATE:{first}\r\nRRULE:FREQ=WEEKLY\r\nSUMMARY:Netzdienst mara"
    party = f"DTSTART;VALUE=DATE:{first}\r\nSUMMARY:{LONG}"
    events = "".join(f"BEGIN:VEVENT\r\nUID:{at}\r\n{each}\r\nEND:VEVENT\r\n" for at, each in enumerate((weekly, party)))
    return f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//scene//\r\n{events}END:VCALENDAR\r\n".encode()


def _incidents(mara: User) -> None:
    """Add a fault with tickets, one that staff alone see, planned work, a fault that is over, days, and subscribers."""
    now, hour = timezone.now(), timedelta(hours=1)
    levels = {"ipv4": ServiceLevel.DEGRADED, "ipv6": ServiceLevel.FINE, "portal": ServiceLevel.FINE}
    note_levels({NetworkService(name): level for name, level in levels.items()}, now - 2 * hour)
    note_levels({NetworkService(name): level for name, level in levels.items()}, now)
    for back, down in ((1, 0), (2, 900), (3, 90)):
        day = timezone.localdate(now) - timedelta(days=back)
        ServiceDay.objects.create(service="ipv4", day=day, fine=80_000, degraded=600 * back, down=down)
    begins: dict[str, Any] = {"began": now - hour, "services": ["ipv4", "ipv6"]}
    told = UpdateFacts("looking", text_en=f"{LONG} {LONG}", next_update=now + hour)
    fault = IncidentFacts(kind="fault", title_en=LONG, sites=list(Site.objects.all()), attach_tickets=True, **begins)
    open_fault = incidents.open_incident(facts=fault, first=told, by=mara)
    attach_tickets(incident=open_fault, tickets=list(Ticket.objects.filter(merged_into=None)[:2]), by=mara)
    hidden = IncidentFacts(kind="fault", title_en="Hidden", public=False, **begins)
    incidents.open_incident(facts=hidden, first=told, by=mara)
    over = incidents.open_incident(facts=IncidentFacts(kind="fault", title_en="Over", **begins), first=told, by=mara)
    incidents.post_update(incident=over, facts=UpdateFacts("over", text_en=LONG), by=mara)
    work = IncidentFacts(kind="maintenance", services=["portal"], title_en=LONG, began=now + hour, planned_end=now + 2 * hour)
    incidents.open_incident(facts=work, first=UpdateFacts("planned", text_en=LONG), by=mara)
    ask_for_subscription(address="reader@lindenhof.example", language="en")


def _announcements(mara: User) -> None:
    """Add a draft, one that is shown, one that is planned, and one that was withdrawn."""
    link = f"https://lindenhof.example/{LONG}"
    words = {"title_en": LONG, "text_en": f"{LONG}\n\n{link}", "title_de": LONG, "text_de": f"{LONG}\n\n{link}"}
    everywhere = {"sites": Site.objects.all(), "pools": Pool.objects.all(), "tariffs": Tariff.objects.all()}
    announcement_factories.publish(mara, **words)
    announcement_factories.publish(mara, shown_from=timezone.now() + timedelta(days=1), by_mail=False, **words)
    withdraw_announcement(announcement=announcement_factories.publish(mara, **words), by=mara)
    announcement_factories.draft(mara, **words, **everywhere)


def _mails() -> None:
    """Add a mail in each state, among them one that has waited too long and one that failed, and an outage of the mail server."""
    notice_kinds.register_kind("scene", LONG)
    for number, state in enumerate(("waiting", "failed", "sent", "discarded")):
        at = timezone.now() - timedelta(hours=number)
        Message.objects.create(
            to=f"{LONG[:60]}@lindenhof.example", language="de", subject=LONG, text=f"{LONG}\n\n{LONG}", sender="n@lindenhof.example",
            message_id=f"<{number}@lindenhof.example>", written=at - timedelta(hours=1), state=state, tries=number + 1,
            ended=None if state == "waiting" else at, error=f"550 5.1.1 <{LONG}>: no such mailbox", reply_to="support@lindenhof.example",
        )  # fmt: skip
    circuit_breaker.record_failure("[Errno 111] Connection refused", timezone.now())


def _tickets(mara: User, member: Member) -> None:
    """Add a ticket with everything that a thread can contain, one in each state, and a canned answer."""
    by, file = User.objects.get(username=RESIDENT), AttachmentFile(f"{LONG}.txt", b"x")
    full = tickets_of_members.open_own_ticket(member=member, subject=LONG, text=f"{LONG}\n\n{LONG}", files=[file], by=by)
    tickets.add_note(ticket=full, text=LONG, files=[file], by=mara)
    tickets.answer_ticket(ticket=full, text=f"{LONG}\n{LONG}", by=mara)
    TicketMessage.objects.create(ticket=full, kind="member", via="mail", sender=f"{LONG[:60]}@example.org", text=LONG, verified=False)
    Ticket.objects.filter(pk=full.pk).update(priority=4, tags=[LONG[:30], "nat"], state="reopened")
    for state in Ticket.State.values:
        made = tickets_of_members.open_own_ticket(member=member, subject=f"Is {state}", text=LONG, by=by)
        Ticket.objects.filter(pk=made.pk).update(state=state, assignee=mara, touched_at=timezone.now() - timedelta(days=1))
    Ticket.objects.create(subject="Who is this?", address=f"{LONG[:60]}@example.org")
    add_link(ticket=full, kind="network.gateway", object_id=Gateway.objects.order_by("pk")[0].pk, by=mara)
    joined = tickets_of_members.open_own_ticket(member=member, subject=f"Again: {LONG}"[:200], text=LONG, files=[file], by=by)
    merging.merge_tickets(into=full, tickets=[joined], by=mara)
    last = full.messages.latest("pk").pk
    splitting.split_ticket(ticket=full, messages=[last], subject=f"Apart: {LONG}"[:200], same_member=False, by=mara)
    sent = bulk.answer_tickets(key=uuid4(), tickets=[full, joined], text_de=LONG, text_en=LONG, by=mara)
    sent.items.filter(ticket=joined).update(done_at=timezone.now(), why=LONG[:300])
    canned.add_canned_answer(name=LONG[:80], text_de=f"Hallo {{name}}, {LONG}", text_en=LONG, by=mara)


def _arrivals() -> None:
    """Add an arrival in each state, with everything that a page can show."""
    headers = f"Received: from {LONG}\nFrom: {LONG}@lindenhof.example\nSubject: {LONG} {LONG}\n\n".encode()
    for state in ("quarantined", "waiting", "taken", "deleted"):
        Arrival.objects.create(
            way="lmtp", sender=f"{LONG[:60]}@lindenhof.example", recipients=[f"support+{LONG[:50]}@lindenhof.example"] * 2, state=state,
            octets=None if state == "deleted" else headers, size=len(headers), sha256=bytes(32), message_id=f"<{LONG}{state}@example>",
            ended=None if state == "waiting" else timezone.now(), reason=TOO_MANY_ADDRESSES if state in ("quarantined", "deleted") else "",
            detail=LONG,
        )  # fmt: skip


def _webhooks(mara: User) -> None:
    """Add a webhook with a delivery in each state, and a paused one. Nothing is sent."""
    facts = webhooks.EndpointFacts(
        name=LONG[:80], url=f"https://hooks.lindenhof.example/{LONG}", kinds=["forward", "member"], events=["created"]
    )
    row, _secret = webhooks.add_webhook(facts=facts, by=mara)
    webhooks.add_webhook(facts=webhooks.EndpointFacts(name="Paused", url="https://hooks.lindenhof.example/", active=False), by=mara)
    for number, state in enumerate(Delivery.State.values):
        made = delivery_gathering.build_delivery(row, {"event": "member.changed", "reason": LONG, "before": None}, object_id=number)
        made.state, made.tries, made.ended = state, number, None if state == "waiting" else timezone.now()
        made.due, made.status, made.answer = timezone.now() + timedelta(days=1), 500, f"{LONG}\n{LONG * 3}"
        made.error = f"unknown host: {LONG}.example"
        made.save()
    Endpoint.objects.filter(pk=row.pk).update(failures=4, rest_until=timezone.now() + timedelta(days=1))


def _tokens(mara: User, member: Member) -> None:
    """Add a token with limits by scope, member, network and time, an expired one of a site, and one of a gateway group."""
    now, networks = timezone.now(), [ip_network("192.0.2.0/24"), ip_network("2001:db8:dead:beef::/64")]
    limits: dict[str, Any] = {"member": member.pk, "networks": networks, "expires": now + timedelta(days=90)}
    tokens.create_token(user=mara, name=LONG[:80], scopes=["forward:write", "member:read", "address:read", "ban:write"], **limits)
    tokens.create_token(
        user=mara, name="door", scopes=["*:read"], site=Room.objects.order_by("pk")[0].site_id, expires=now - timedelta(days=1)
    )
    tokens.create_token(user=mara, name="all", group=GatewayGroup.objects.get().pk)


def _openings(mara: User) -> None:
    prefix = Holding.objects.filter(is_valid_now(), kind=Pool.Kind.PREFIX6).order_by("pk")[0]
    address = prefix.prefix.network_address + 0x1000_2000_3000_4000
    add_pinhole(holding=prefix, address=address, protocol="tcp", port=443, purpose=LONG[:80], by=mara)
    own = Holding.objects.filter(is_valid_now(), kind=Pool.Kind.PREFIX6, member__user__username=RESIDENT)[0]
    add_pinhole(holding=own, address=own.prefix.network_address + 7, protocol="tcp", port=22, purpose=LONG[:80], by=mara)
    add_pinhole(holding=prefix, address=address, protocol="udp", port=6000, ports=10, until=timezone.now() + timedelta(days=9), by=mara)


def _health(gateway: Gateway) -> None:
    """Add readings with several faults; the last ones are of the time to come, so that they are fresh while the pages are visited."""
    now = timezone.now()
    faults: dict[str, Any] = {
        "forwarding": Forwarding(True, True, True, False),
        "levels": MachineLevels(250_000, 262_144, 8 << 30, 300 << 20, 100 << 30, 2 << 28, 95_000),
    }
    for second in (*range(-1200, 0, 60), *range(7180, 7201, 10)):
        at = now + timedelta(seconds=second)
        store_reading(gateway, build_counters(10_000 + second, at.timestamp(), **faults), at)


def _portal_health() -> None:
    """Add sizes of a month, a backup, and a reading with two faults, which is fresh while the pages are visited."""
    now = timezone.now()
    for days in range(30, 0, -1):
        DatabaseDay.objects.create(day=now.date() - timedelta(days=days), octets=(3 << 30) - days * 50_000_000)
        TableDay.objects.create(day=now.date() - timedelta(days=days), table="traffic_hour", octets=(1 << 30) - days * 20_000_000)
    BackupNote.objects.create(at=now - timedelta(days=3), octets=700_000_000, place=f"nas:/backup/{LONG}"[:200])
    table = TableActivity("traffic_fiveminutes_20261123", 2 << 30, 300_000, 900_000, None)
    store_portal_reading(build_figures(tables=(table,)), timedelta(hours=48), now + timedelta(hours=2))


def _evidence(gateway: Gateway, mara: User) -> None:
    """Add an archive that a person asked for, one without the gateway's part, and one that is being collected."""
    now = timezone.now()
    parts = [{"name": name, "size": 12_345, "note": "", "milliseconds": 7} for name in TITLES]
    parts[4]["note"] = "Accounting of connections is off (net.netfilter.nf_conntrack_acct), so their packets and octets are not known."
    parts[8] |= {"size": None, "note": "The agent may not read the journal, or there is none: its account needs the group systemd-journal."}
    ended = {"started": now, "finished": now, "state": "done", "size": 41_214}
    whole = EvidenceArchive.objects.create(gateway=gateway, cause="person", by=mara, parts=parts, **ended)
    EvidenceFile.objects.create(archive=whole, octets=b"an archive")
    EvidenceDownload.objects.create(archive=whole, by=mara)
    alone = EvidenceArchive.objects.create(gateway=gateway, cause="revert", problem="refused", reason=LONG, parts=parts[-1:], **ended)
    EvidenceFile.objects.create(archive=alone, octets=b"an archive")
    EvidenceArchive.objects.create(gateway=gateway, cause="switch", state="running", started=now)


def _bans(mara: User) -> None:
    banlist = services.create_list(name="Scanners", description=LONG, by=mara)
    services.ban_prefix(list=banlist, prefix=ip_network("2001:db8:dead:beef:1234:5678:9abc:def0/128"), comment=LONG, author=mara)
    feed_services.add_feed(list=banlist, source=f"https://feeds.example.org/{LONG}/netset.txt", by=mara)
    now = timezone.now()
    held = {"held": FEED, "held_since": now, "held_removed": 40, "held_of": 60}
    gone_wrong = {"error": {"fault": "status", "what": "503"}, "error_since": now, "outcome": {"added": 1, "removed": 2, "unchanged": 3}}
    BanFeed.objects.update(phase=BanFeed.Phase.IDLE, checked=now, refreshed=now, **gone_wrong, **held)
    allow_list.allow_prefix(prefix="203.0.113.224/28", comment=LONG, author=mara)
    allow_list.allow_prefix(prefix="2001:db8:bad:1234:5678:9abc:def0:1", expires=timezone.now() + timedelta(hours=2), author=mara)
    options = {"keep": False, "minimum_count": 0, "comment": "", "direction": "both"}
    uploads.save_upload(list=banlist, name=f"{LONG}.txt", content=FEED + b"999.1.1.1\n", options=options, by=mara)
    people = f"Name;E-mail;House;Wohnt in\n{LONG};a@lindenhof.example;{LONG};1\n;b@lindenhof.example;;\n"
    save_upload(name=f"{LONG}.csv", content=people.encode(), create_rooms=False, by=mara)


def _pk(model: type[Model], **where: Any) -> Callable[[], dict[str, Any]]:
    return lambda: {"pk": model._default_manager.filter(**where).order_by("pk").values_list("pk", flat=True)[0]}


def _member() -> dict[str, Any]:
    """Return the id of a member who has forwards, pinholes and devices."""
    return {"pk": Pinhole.objects.values_list("holding__member", flat=True)[0]}


def _holding() -> dict[str, Any]:
    return {"pk": Pinhole.objects.values_list("holding", flat=True)[0]}


def _list() -> dict[str, Any]:
    return {"pk": BanList.objects.get(name="Scanners").pk}


def _group() -> dict[str, Any]:
    return {"group": GatewayGroup.objects.get().pk}


def _archive() -> dict[str, Any]:
    row = EvidenceArchive.objects.filter(finished__isnull=False)[0]
    return {"pk": row.gateway_id, "archive": row.pk}


def _find_blocked() -> dict[str, Any]:
    return {"pk": Block.objects.filter(is_valid_now()).values_list("pk", flat=True)[0]}


def _forward() -> dict[str, Any]:
    return {"pk": PortForward.objects.filter(is_valid_now()).values_list("pk", flat=True)[0]}


def _staff() -> dict[str, Any]:
    """Return the id of the account with a pending change of roles."""
    return {"pk": RoleChange.objects.get().user_id}


@cache
def _build_token_once(of: Subscription) -> str:
    """Build the token of a subscription. It is signed with the time in seconds, so lists of pages made in turn would differ."""
    return build_token(of)


def _own_pinhole() -> dict[str, Any]:
    return {"pk": Pinhole.objects.filter(is_valid_now(), holding__member__user__username=RESIDENT).values_list("pk", flat=True)[0]}


def _own_forward() -> dict[str, Any]:
    return {"pk": PortForward.objects.filter(is_valid_now(), holding__member__user__username=RESIDENT).values_list("pk", flat=True)[0]}


LISTS = ("list", "switch", "edit", "delete", "feed", "feed_now", "feed_held", "feed_remove", "add", "bulk", "import")
ROLLOUT = ("rollout", "again", "delta", "stop", "pause", "resume")
MEMBER = (
    "member",
    "member-history",
    "member-edit",
    "member-activate",
    "member-leave",
    "member-move",
    "member-everything",
    "holdings",
    "holding-add",
    "device-add",
)

# Pages for visitors who have not signed in.
STRANGERS = (
    "account_login", "account_inactive", "account_signup", "account_reset_password", "account_reset_password_done",
    "api-docs",
    "mail:switch-off", "account_reset_password_from_key_done", "account_email_verification_sent", "socialaccount_login_cancelled",
    "socialaccount_login_error", "status:page", "status:subscribe", "status:confirm",
)  # fmt: skip

# Pages that answer 404, because the user has no such object.
NOTHING = ("an address that leads nowhere", "mfa_deactivate_totp", "mfa_download_recovery_codes", "mfa_view_recovery_codes")

# Arguments for the paths of pages.
SHOWS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "desk:export": lambda: {"name": "names.zone"},
    **{f"bans:{name}": _list for name in LISTS},
    **{f"bans:{name}": _pk(Ban) for name in ("ban", "saved", "lift", "revert")},
    **{f"bans:{name}": _find_blocked for name in ("block", "block-lift", "block-restore")},
    **{f"bans:{name}": _pk(AllowEntry) for name in ("allow_entry", "disallow")},
    **{f"bans:{name}": _pk(Listener) for name in ("listener", "listener-remove")},
    **{f"bans:{name}": _group for name in ("notice", "reachable-add")},
    **{f"desk:{name}": _member for name in MEMBER},
    **{f"desk:{name}": _member for name in ("member-move", "member-everything")},
    **{f"desk:{name}": _pk(Device) for name in ("device-edit", "device-remove")},
    **{f"deployments:{name}": _pk(Rollout) for name in ROLLOUT},
    **{f"deployments:{name}": _pk(HeldBack) for name in ("held", "approve", "refuse", "held-text")},
    **{f"deployments:{name}": _pk(Revision) for name in ("revision", "back")},
    **{
        f"gateways:{name}": _pk(Gateway)
        for name in ("health", "health-csv", "gateway", "edit", "put-right", "count-again", "rename", "replace", "retire", "remove")
    },
    **{f"gateways:{name}": _pk(Gateway) for name in ("evidence", "evidence-collect", "timeouts")},
    **{f"gateways:{name}": _archive for name in ("evidence-download", "evidence-delete")},
    **{f"gateways:{name}": _pk(JoiningMachine) for name in ("joining", "joining-move", "joining-trust", "joining-give-up")},
    **{
        f"gateways:{name}": _pk(GatewayGroup)
        for name in ("group", "group-remove", "protection", "limits", "profile", "failover", "failover-settings", "failover-stop", "flood")
    },
    **{f"gateways:{name}": _pk(GatewayGroup) for name in ("agents", "agents-upgrade", "agents-stop")},
    **{
        f"{name}-undo": lambda: {"event": 1}
        for name in ("gateways:group", "members:site", "members:room", "members:tariff", "network:pool")
    },
    "gateways:undo": lambda: {"event": 1},
    "gateways:failover-undo": lambda: {"event": 1},
    "gateways:switch": lambda: _pk(Gateway)() | {"kind": "drain"},
    "gateways:failover-install": _pk(Gateway, name="nat-2"),
    "gateways:failover-file": lambda: _pk(Gateway)() | {"filename": "keepalived.conf"},
    "desk:settings-undo": lambda: {"event": 1},
    "gateways:reinstate": lambda: {"pk": Gateway.ever.exclude(retired=None).values_list("pk", flat=True)[0]},
    "gateways:primary": lambda: _pk(Gateway, carries6=False)() | {"family": 6},
    **{f"nat:{name}": _member for name in ("forwards-of", "forward-add", "pinholes-of", "pinhole-add")},
    **{f"nat:{name}": _forward for name in ("forward-edit", "forward-switch", "forward-remove", "forward-restore")},
    **{f"nat:{name}": _pk(Pinhole) for name in ("pinhole-edit", "pinhole-switch", "pinhole-remove", "pinhole-restore")},
    **{f"network:{name}": _pk(Pool) for name in ("pool", "pool-edit", "pool-remove")},
    **{f"network:pool-{name}": _pk(Pool) for name in ("enlarge", "split", "retire")},
    **{f"own:{name}": _own_forward for name in ("port-close", "port-switch", "port-reopen")},
    **{f"own:{name}": _pk(Device, member__user__username=RESIDENT) for name in ("device", "device-remove")},
    "bans:block-member": _member,
    **{f"desk:{name}": _member for name in ("check", "member-invite", "invitation-withdraw")},
    "bans:download": lambda: _list() | {"form": "csv"},
    "bans:preview": _pk(Upload),
    "desk:people-check": _pk(PeopleUpload),
    "bans:reachable-remove": _pk(Reachable),
    "bans:restore": lambda: _list() | {"history": "00000000-0000-0000-0000-000000000000"},
    "deployments:release": _pk(GatewayGroup),
    "deployments:plan": _pk(GatewayGroup),
    "desk:holding-release": _holding,
    "desk:live-end": lambda: {"gateway": "nat-1", "number": 1},
    "lib:styleguide": lambda: {"name": "parts"},
    "nat:renumber": _holding,
    "desk:departure-drop": _pk(Departure),
    "desk:move-drop": _pk(Move),
    **{f"members:{name}": _pk(Tariff) for name in ("tariff", "tariff-remove")},
    **{f"members:{name}": _pk(Site) for name in ("site", "site-edit", "site-remove", "rooms-add")},
    **{f"members:{name}": _pk(Room) for name in ("room", "room-remove")},
    "traffic:of": _member,
    "traffic:of-csv": _member,
    "traffic:of-months-csv": _member,
    "traffic:quota": _pk(Tariff),
    "rates:limit": _member,
    "rates:release": _pk(RateLimit),
    **{f"own:pinhole-{name}": _own_pinhole for name in ("switch", "close", "reopen")},
    "nat:rules": _group,
    "rates:uplink": _group,
    "rates:switch": _group,
    **{f"accounts:{name}": _staff for name in ("person", "roles", "person-sign-out", "person-revoke-tokens")},
    **{f"accounts:{name}": _pk(RoleChange) for name in ("roles-agree", "roles-drop")},
    "fairshare:edit": _group,
    "fairshare:off": _group,
    **{f"mail:{name}": _pk(Message, state="failed") for name in ("message", "again", "discard")},
    **{f"inbound:{name}": _pk(Arrival, state="quarantined") for name in ("arrival", "delete", "again", "file")},
    "mail:switch-off": lambda: {
        "token": unsubscribing.build_unsubscribe_link("selin@lindenhof.example", "scene").rstrip("/").rpartition("/")[2]
    },
    "accounts:session-end": lambda: {"pk": 1},
    **{f"tickets:{name}": _pk(Ticket) for name in ("ticket", "change", "take", "link")},
    **{f"status:incident{name}": _pk(Incident) for name in ("", "-edit", "-tell", "-report")},
    **{f"status:tickets-{name}": _pk(Incident) for name in ("attach", "answer")},
    "status:ticket-detach": lambda: _pk(Incident)() | {"ticket": Ticket.objects.values_list("pk", flat=True)[0]},
    "status:incident-add": lambda: {"kind": "maintenance"},
    "status:confirm": lambda: {"token": _build_token_once(Subscription.objects.all()[0])},
    "alarms:seen": _pk(Alarm),
    "alarms:end-silence": _pk(Silence),
    **{f"announcements:{name}": _pk(Announcement, state="draft") for name in ("edit", "remove")},
    **{f"announcements:{name}": _pk(Announcement, state="published") for name in ("announcement", "publish", "withdraw")},
    "own:announcement-seen": _pk(Announcement, state="published"),
    **{f"alarms:{name}": _pk(AlarmChannel) for name in ("channel", "channel-remove", "channel-test")},
    **{f"alarms:shift-{name}": _pk(DutyShift, calendar=None) for name in ("take", "remove")},
    **{f"alarms:calendar{name}": _pk(DutyCalendar) for name in ("", "-remove", "-read")},
    "alarms:duty-feed": lambda: {"token": build_feed_url(User.objects.get(username="mara")).split("/")[-2]},
    **{f"webhooks:{name}": _pk(Endpoint) for name in ("webhook", "edit", "secret", "remove", "ping")},
    **{f"webhooks:{name}": _pk(Delivery) for name in ("delivery", "again")},
    **{f"tickets:{name}": _pk(Ticket) for name in ("ticket", "change", "take", "assign-member", "presence", "link", "split")},
    "tickets:unlink": _pk(Link),
    "tickets:sent": _pk(Bulk),
    "tickets:unmerge": _pk(TicketMove),
    "tickets:attachment": _pk(Attachment),
    "tickets:attachment-remove": _pk(Attachment),
    "own:ticket": _pk(Ticket, member__user__username=RESIDENT),
    **{f"tickets:canned-{name}": _pk(Canned) for name in ("edit", "remove")},
    "accounts:invitation-withdraw": lambda: {"pk": 1},
    "accounts:token-revoke": _pk(ApiToken, user__username="mara", member_id__isnull=False),
}

# Pages to visit again with a query: they look different with an answer, without results, or filtered.
ALSO = (
    ("desk:why", "gateway=nat-1&source=203.0.113.9&source_port=5000&destination=198.51.100.7&protocol=tcp&port=51413"),
    ("desk:search", "q=selin"),
    ("desk:search", "q=203.0.113.200"),
    ("desk:search", "q=nobody-of-this-name"),
    ("desk:members", "view=pending&sort=-paid"),
    ("mail:outbox", "state=failed"),
    ("inbound:arrivals", "state=all"),
    ("inbound:arrivals", "state=deleted&q=kindergarten"),
    ("inbound:arrivals", "q=nobody-of-this-name"),
    ("mail:outbox", "state=all&q=kindergarten"),
    ("mail:outbox", "q=nobody-of-this-name"),
    ("tickets:list", "state=all"),
    ("tickets:list", "q=kindergarten"),
    ("tickets:chart", "window=year"),
    ("tickets:merge", "ticket={ticket}&ticket={other}"),
    ("tickets:list", "q=nobody-of-this-name"),
    ("desk:members", "q=nobody-of-this-name"),
    ("bans:covering", "address=203.0.113.225"),
    ("bans:covering", "address=nonsense"),
    ("bans:blocks", "state=over"),
    ("network:held", "address=10.16.0.10"),
    ("deployments:compare", "from={first}&to={last}"),
    ("accounts:people", "view=all&q=nobody-of-this-name"),
    ("audit:history", "kind=nat.portforward"),
    ("traffic:overview", "window=week&measure=packets"),
    ("traffic:talkers", "sort=up&since=2100-01-01T00:00"),
    ("traffic:sums", "by=room"),
)


def pages() -> list[Page]:
    """Return every page for staff in the order of the URL configuration, then some again with a query, and one that does not exist."""
    named = [Page(name, address(name)) for name in list_pages() if not name.startswith("own:")]
    revisions = list(Revision.objects.order_by("pk").values_list("pk", flat=True))
    ticket, other = Ticket.objects.filter(merged_into=None, member__user__username=RESIDENT).order_by("pk").values_list("pk", flat=True)[:2]
    known = {"first": revisions[0], "last": revisions[-1], "ticket": ticket, "other": other}
    asked = [Page(name, f"{address(name)}?{query.format(**known)}") for name, query in ALSO]
    return [*named, *asked, Page("an address that leads nowhere", "/nowhere/")]


def own() -> list[Page]:
    """Return every page of a member's own pages, for RESIDENT."""
    return [Page(name, address(name)) for name in list_pages() if name.startswith("own:")]


def list_pages() -> list[str]:
    """Return the names of all pages, in the order of the URL configuration."""
    return [name for name in dict.fromkeys(_names(get_resolver(), "")) if name not in NOT_VISITED]


def address(name: str) -> str:
    try:
        return reverse(name, kwargs=SHOWS[name]() if name in SHOWS else None)
    except NoReverseMatch as error:
        raise AssertionError(f"{name} is not visited: say in tests/web/demo_scene.py what it shows, or why it cannot be visited") from error


def _names(resolver: URLResolver, namespace: str) -> list[str]:
    found: list[str] = []
    for each in resolver.url_patterns:
        if isinstance(each, URLPattern):
            found += [f"{namespace}{each.name}"] if each.name else []
        elif each.namespace != "api":
            found += _names(each, f"{namespace}{each.namespace}:" if each.namespace else namespace)
    return found
