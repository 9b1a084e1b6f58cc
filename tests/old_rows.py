"""Makes a row of a given age for each table that is pruned, and a query for the rows that still hold what pruning removes."""

from collections.abc import Callable
from datetime import timedelta
from ipaddress import ip_network
from itertools import count
from typing import Any

from allauth.account.models import EmailAddress, EmailConfirmation
from allauth.usersessions.models import UserSession
from django.apps import apps
from django.contrib.sessions.models import Session
from django.db import connection
from django.db.models import QuerySet
from django.utils import timezone

from apps.accounts.models import User
from apps.alarms.models import Alarm, AlarmChannel, ChannelMessage, DutyShift, Silence
from apps.announcements.models import Announcement, AnnouncementRecipient
from apps.bans.models import BanCount, BanHits, BanList, Upload
from apps.deployments.models import Revision, RevisionContent, UnapprovedLoss
from apps.events.models import Event, Presence
from apps.gateways.models import AgentUpgrade, CarrierChange, EvidenceArchive, HealthReading, HealthSample, RoleSwitch
from apps.inbound_mail.models import Arrival
from apps.lib.models import KeptAnswer
from apps.mail.models import Message, MessageCount
from apps.members.models import PeopleUpload
from apps.network.models import Gateway, GatewayGroup
from apps.operations.models import BackupNote, DatabaseDay, HostHeartbeat, TableDay
from apps.status.models import ServiceDay, Subscription
from apps.webhooks.models import Delivery, Endpoint
from tests import factories

_numbers = count(1)
type Maker = Callable[[timedelta], QuerySet[Any]]


def revisions(group: GatewayGroup, whole: tuple[bool, ...], age: timedelta) -> list[Revision]:
    """Create revisions of that age with their contents: complete, or as the difference from the one before."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_current_snapshot()::text")
        snapshot = cursor.fetchone()[0]
    made: list[Revision] = []
    for is_whole in whole:
        revision = Revision.objects.create(group=group, snapshot=snapshot, delta="x", changes=[], digests={})
        RevisionContent.objects.create(revision=revision, base=None if is_whole else made[-1], packed=b"x")
        made.append(revision)
    Revision.objects.filter(pk__in=[each.pk for each in made]).update(created=timezone.now() - age)
    return made


def _contents(age: timedelta) -> QuerySet[Any]:
    """Create two complete contents. The first is dropped when the second is old enough, because no later one depends on it."""
    revisions(GatewayGroup.objects.create(name=f"Group {next(_numbers)}"), (True, True), age)
    return RevisionContent.objects.all()


def _losses(age: timedelta) -> QuerySet[Any]:
    made = UnapprovedLoss.objects.create(group=GatewayGroup.objects.create(name=f"Group {next(_numbers)}"), packed=b"x")
    UnapprovedLoss.objects.filter(pk=made.pk).update(at=timezone.now() - age)
    return UnapprovedLoss.objects.all()


def _somebody() -> User:
    return User.objects.get_or_create(username="old")[0]


def _session(age: timedelta) -> QuerySet[Any]:
    Session.objects.create(session_key=f"s{next(_numbers)}", session_data="", expire_date=timezone.now() + timedelta(days=14) - age)
    return Session.objects.all()


def _user_session(age: timedelta) -> QuerySet[Any]:
    made = UserSession.objects.create(user=_somebody(), session_key=f"u{next(_numbers)}", ip="192.0.2.1", user_agent="")
    UserSession.objects.filter(pk=made.pk).update(created_at=timezone.now() - age)
    rows: QuerySet[Any] = UserSession.objects.all()
    return rows


def _confirmation(age: timedelta) -> QuerySet[Any]:
    address = EmailAddress.objects.get_or_create(user=_somebody(), email="old@example.org")[0]
    EmailConfirmation.objects.create(email_address=address, key=f"k{next(_numbers)}", created=timezone.now() - age)
    rows: QuerySet[Any] = EmailConfirmation.objects.all()
    return rows


def _kept_answer(age: timedelta) -> QuerySet[Any]:
    given = {"user": _somebody(), "key": f"k{next(_numbers)}", "request": "x", "status": 201, "body": b""}
    KeptAnswer.objects.create(**given, at=timezone.now() - age)
    return KeptAnswer.objects.all()


def _mail(age: timedelta) -> QuerySet[Any]:
    given = {"to": "a@example.org", "language": "en", "subject": "x", "text": "x", "sender": "b@example.org"}
    Message.objects.create(**given, message_id=f"<{next(_numbers)}@x>", state="sent", ended=timezone.now() - age)
    return Message.objects.filter(erased=None)


def _mail_count(_age: timedelta) -> QuerySet[Any]:
    """One mail more, which its own row counts: however young, it is summed up with those before."""
    _mail(timedelta(0))
    return MessageCount.objects.filter(state="sent")


def _arrival(age: timedelta) -> QuerySet[Any]:
    given = {"way": "pipe", "size": 1, "octets": b"x", "sha256": bytes(32), "message_id": f"<{next(_numbers)}@x>"}
    Arrival.objects.create(**given, state="taken", ended=timezone.now() - age)
    return Arrival.objects.filter(octets__isnull=False)


def _event(age: timedelta) -> QuerySet[Any]:
    Event.objects.all().delete()  # those that other rows of this test have written
    for each in (age, timedelta(0)):
        Event.objects.create(kind="rollout", object_id=1, state="queued", at=timezone.now() - each)
    return Event.objects.all()


def _presence(age: timedelta) -> QuerySet[Any]:
    Presence.objects.create(ticket_id=next(_numbers), user=_somebody(), seen=timezone.now() - age)
    return Presence.objects.all()


def _upload(age: timedelta) -> QuerySet[Any]:
    banlist = BanList.objects.get_or_create(name="Old")[0]
    made = Upload.objects.create(list=banlist, by=_somebody(), name="x", content=b"x")
    Upload.objects.filter(pk=made.pk).update(created=timezone.now() - age)
    return Upload.objects.all()


def _people_upload(age: timedelta) -> QuerySet[Any]:
    made = PeopleUpload.objects.create(by=_somebody(), name="x", content=b"x", meanings=[])
    PeopleUpload.objects.filter(pk=made.pk).update(created=timezone.now() - age)
    return PeopleUpload.objects.all()


def _gateway() -> Gateway:
    group = GatewayGroup.objects.get_or_create(name="Old")[0]
    given = {"link": "local", "lan": "lan0", "wan": "wan0", "management": "mgmt0", "management_networks": [ip_network("10.0.0.0/24")]}
    return Gateway.objects.filter(group=group).first() or Gateway.objects.create(group=group, name="old", **given)


def _ban_count(_age: timedelta) -> QuerySet[Any]:
    """One ban more, which its own row counts: however young, it is summed up with those before."""
    counted, _made = BanList.objects.get_or_create(name="Counted")
    counted.bans.create(prefix=ip_network(f"192.0.2.{counted.bans.count()}"))
    return BanCount.objects.filter(list=counted)


def _hits(age: timedelta) -> QuerySet[Any]:
    prefix = ip_network(f"203.0.113.{next(_numbers)}/32")
    BanHits.objects.create(gateway=_gateway(), prefix=prefix, last_hit=timezone.now() - age)
    return BanHits.objects.all()


def _ban_event(age: timedelta) -> QuerySet[Any]:
    """Create the event of a ban that a feed renewed."""
    events = apps.get_model("bans", "BanEvent")
    banlist = BanList.objects.get_or_create(name="Old")[0]
    ban = {"id": 1, "version": 2, "list": banlist, "prefix": ip_network("203.0.113.1/32"), "created": timezone.now() - age}
    made = events.objects.create(pgh_label="update", pgh_obj_id=1, **ban)
    events.objects.filter(pk=made.pk).update(pgh_created_at=timezone.now() - age)
    return events.objects.all()  # type: ignore[no-any-return]


def _delivery(age: timedelta) -> QuerySet[Any]:
    endpoint = Endpoint.objects.first() or Endpoint.objects.create(name="Old", url="https://example.org/", owner=_somebody())
    made = Delivery.objects.create(endpoint=endpoint, event="ban.added", body="x", position=next(_numbers), source="x")
    Delivery.objects.filter(pk=made.pk).update(state="sent", ended=timezone.now() - age)
    return Delivery.objects.all()


def _carrier_change(age: timedelta) -> QuerySet[Any]:
    CarrierChange.objects.create(group=_gateway().group, family=4, carriers=["old"], at=timezone.now() - age, cause="first")
    return CarrierChange.objects.all()


def _health_reading(age: timedelta) -> QuerySet[Any]:
    HealthReading.objects.create(gateway=_gateway(), at=timezone.now() - age, counters={})
    return HealthReading.objects.all()


def _health_sample(age: timedelta) -> QuerySet[Any]:
    """Create one of the span that is kept longest."""
    HealthSample.objects.create(gateway=_gateway(), span=HealthSample.Span.DAY, begin=timezone.now() - age, averages={}, maxima={})
    return HealthSample.objects.all()


def _evidence(age: timedelta) -> QuerySet[Any]:
    EvidenceArchive.objects.create(gateway=_gateway(), cause="person", asked=timezone.now() - age)
    return EvidenceArchive.objects.all()


def _role_switch(age: timedelta) -> QuerySet[Any]:
    gateway = _gateway()
    given = {"kind": "switch", "families": [4], "state": "done", "outcome": "moved", "ended": timezone.now() - age}
    RoleSwitch.objects.create(group=gateway.group, gateway=gateway, **given)
    return RoleSwitch.objects.all()


def _agent_upgrade(age: timedelta) -> QuerySet[Any]:
    AgentUpgrade.objects.create(group=_gateway().group, agent="0.1.0", digest="", state="done", ended=timezone.now() - age)
    return AgentUpgrade.objects.all()


def _alarm(age: timedelta) -> QuerySet[Any]:
    at = timezone.now() - age
    Alarm.objects.create(key="gateway-1", severity="warning", texts={}, began=at, gone=at, ended=at)
    return Alarm.objects.all()


def _channel_message(age: timedelta) -> QuerySet[Any]:
    channel = AlarmChannel.objects.first() or AlarmChannel.objects.create(name="Old", target="x", shown="x")
    ChannelMessage.objects.create(channel=channel, event="test", title="x", text="x", state="sent", ended=timezone.now() - age)
    return ChannelMessage.objects.all()


def _shift(age: timedelta) -> QuerySet[Any]:
    at = timezone.now() - age
    DutyShift.objects.create(person=factories.user(f"duty{next(_numbers)}"), begins=at - timedelta(hours=1), ends=at)
    return DutyShift.objects.all()


def _silence(age: timedelta) -> QuerySet[Any]:
    at = timezone.now() - age
    Silence.objects.create(reason="maintenance", since=at, until=at)
    return Silence.objects.all()


def _service_day(age: timedelta) -> QuerySet[Any]:
    ServiceDay.objects.create(service="ipv4", day=(timezone.now() - age).date(), fine=1)
    return ServiceDay.objects.all()


def _subscription(age: timedelta) -> QuerySet[Any]:
    Subscription.objects.create(address=f"s{next(_numbers)}@example.org", language="en", asked=timezone.now() - age)
    return Subscription.objects.all()


def _announcement(age: timedelta) -> QuerySet[Any]:
    Announcement.objects.create(title_en="x", text_en="x", shown_until=timezone.now() - age)
    return Announcement.objects.all()


def _announcement_recipient(age: timedelta) -> QuerySet[Any]:
    of = Announcement.objects.create(title_en="x", text_en="x", shown_until=timezone.now() - age)
    AnnouncementRecipient.objects.create(announcement=of, member=factories.member(), delivery="page")
    return AnnouncementRecipient.objects.all()


def _database_day(age: timedelta) -> QuerySet[Any]:
    DatabaseDay.objects.create(day=(timezone.now() - age).date(), octets=1)
    return DatabaseDay.objects.all()


def _table_day(age: timedelta) -> QuerySet[Any]:
    TableDay.objects.create(day=(timezone.now() - age).date(), table="traffic_day", octets=1)
    return TableDay.objects.all()


def _backup_note(age: timedelta) -> QuerySet[Any]:
    BackupNote.objects.create(at=timezone.now() - age, place="nas")
    return BackupNote.objects.all()


def _host_heartbeat(age: timedelta) -> QuerySet[Any]:
    HostHeartbeat.objects.create(role="worker", host=f"host-{next(_numbers)}", started=timezone.now() - age, seen=timezone.now() - age)
    return HostHeartbeat.objects.all()


MAKERS: dict[str, Maker] = {
    "sessions.Session": _session,
    "usersessions.UserSession": _user_session,
    "account.EmailConfirmation": _confirmation,
    "lib.KeptAnswer": _kept_answer,
    "mail.Message": _mail,
    "mail.MessageCount": _mail_count,
    "inbound.Arrival": _arrival,
    "events.Event": _event,
    "events.Presence": _presence,
    "bans.Upload": _upload,
    "members.PeopleUpload": _people_upload,
    "bans.BanCount": _ban_count,
    "bans.BanHits": _hits,
    "bans_banevent": _ban_event,
    "deployments.RevisionContent": _contents,
    "deployments.UnapprovedLoss": _losses,
    "webhooks.Delivery": _delivery,
    "operations.DatabaseDay": _database_day,
    "operations.TableDay": _table_day,
    "operations.BackupNote": _backup_note,
    "operations.HostHeartbeat": _host_heartbeat,
    "gateways.CarrierChange": _carrier_change,
    "gateways.EvidenceArchive": _evidence,
    "gateways.HealthReading": _health_reading,
    "gateways.HealthSample": _health_sample,
    "gateways.RoleSwitch": _role_switch,
    "gateways.AgentUpgrade": _agent_upgrade,
    "alarms.Alarm": _alarm,
    "alarms.Silence": _silence,
    "alarms.DutyShift": _shift,
    "status.ServiceDay": _service_day,
    "status.Subscription": _subscription,
    "alarms.ChannelMessage": _channel_message,
    "announcements.Announcement": _announcement,
    "announcements.AnnouncementRecipient": _announcement_recipient,
}
