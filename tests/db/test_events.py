"""Live events: who receives which, what triggers publish, and who is shown as present at a ticket."""

from datetime import timedelta
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import connection
from django.test import Client
from django.utils import timezone

from apps.accounts import tokens
from apps.accounts.models import User
from apps.accounts.permissions import has_right
from apps.accounts.roles import Role
from apps.accounts.route_rights import API
from apps.events import selectors
from apps.events.event_types import KINDS, OF_MEMBERS, PublishedEvent, Subscriber
from apps.events.models import Event, Presence
from apps.events.retention import prune_events
from apps.events.subscriber_rights import SubscriberRefused, SubscriberRequest, authenticate_subscriber
from apps.tickets import own_tickets
from apps.tickets import services as tickets
from tests import factories
from tests.db.page_client import signed_in


def make_event(kind: str, member: int | None, *, own: bool) -> PublishedEvent:
    return PublishedEvent(kind, 1, "open", member, own)


def by_session(user: User) -> Subscriber:
    cookie = signed_in(user).cookies["sessionid"].value
    return authenticate_subscriber(
        SubscriberRequest(((b"host", b"localhost"), (b"cookie", f"sessionid={cookie}".encode())), "127.0.0.1", secure=False, of_api=False)
    )


def by_token(key: str) -> Subscriber:
    headers = ((b"host", b"localhost"), (b"authorization", f"Bearer {key}".encode()))
    return authenticate_subscriber(SubscriberRequest(headers, "127.0.0.1", secure=False, of_api=True))


@pytest.mark.django_db
def test_each_role_hears_what_it_may_read_and_members_what_is_their_own() -> None:
    mine, other = factories.member("Selin").pk, factories.member("Noah").pk
    for role in Role:
        user = factories.user(f"a-{role.value}".replace("_", "-"), roles=[role.value])
        listener = by_session(user)
        readable = {kind for kind, collection in KINDS.items() if has_right(user, API[collection].read)}
        for kind in (*KINDS, "several"):
            for member, own_thing in ((None, False), (other, False), (other, True)):
                assert listener.can_see(make_event(kind, member, own=own_thing)) == (kind in readable), (role, kind)
    user = User.objects.get(username="a-member")
    type(factories.member()).objects.filter(pk=mine).update(user=user)
    listener = by_session(user)
    for kind in OF_MEMBERS:
        seen = [
            listener.can_see(make_event(kind, member, own=own_thing)) for member, own_thing in ((mine, True), (mine, False), (other, True))
        ]
        assert seen == [True, False, False], kind
    assert listener.can_see(make_event("several", None, own=True))
    assert not listener.kinds


@pytest.mark.django_db
def test_a_token_hears_no_more_than_its_scope_its_member_and_its_owner(settings: LazySettings) -> None:
    admin, theirs, other = factories.user(), factories.member("Selin").pk, factories.member("Noah").pk
    scoped = by_token(tokens.create_token(user=admin, name="a", scopes=["forward:read", "ticket:write"])[1])
    assert scoped.kinds == {"forward", "ticket", "presence"}
    single = by_token(tokens.create_token(user=admin, name="b", member=theirs)[1])
    assert single.can_see(make_event("forward", theirs, own=True))
    assert not single.can_see(make_event("forward", other, own=True)) and not single.can_see(make_event("rollout", None, own=False))
    _token, key = tokens.create_token(user=admin, name="c")
    theo = factories.user("theo")
    User.objects.filter(pk=admin.pk).update(is_active=False)
    with pytest.raises(SubscriberRefused) as refused:
        by_token(key)
    assert refused.value.status == 401
    settings.REQUIRE_SECOND_FACTOR = True
    with pytest.raises(SubscriberRefused) as refused:
        by_session(theo)
    assert refused.value.status == 403


@pytest.mark.django_db
def test_members_are_told_of_answers_and_nothing_of_notes_and_who_has_it() -> None:
    mara, selin = factories.user(), factories.user("selin", staff=False)
    member = factories.member(user=selin)
    ticket = own_tickets.open_own_ticket(member=member, subject="No IPv6", text="Since Monday.", by=selin)
    Event.objects.all().delete()
    tickets.take_ticket(ticket=ticket, by=mara)
    tickets.add_note(ticket=ticket, text="Ask Theo.", by=mara)
    assert set(Event.objects.values_list("kind", "state", "own")) == {("ticket", "taken", False), ("ticket", "noted", False)}
    tickets.answer_ticket(ticket=ticket, text="Restart it.", by=mara)
    answers = Event.objects.filter(own=True)
    assert set(answers.values_list("kind", "object_id", "member_id")) == {("ticket", ticket.pk, member.pk)}
    assert set(answers.values_list("state", flat=True)) == {"answered", "waiting"}


@pytest.mark.django_db
def test_what_is_older_than_an_hour_is_forgotten_and_who_was_away_longer_looks_again() -> None:
    here = selectors.get_current_position()
    ages = [timezone.now() - timedelta(minutes=minutes) for minutes in (1, 61)]
    Event.objects.bulk_create([Event(kind="rollout", object_id=1, state="queued", at=at) for at in ages])
    assert prune_events(timezone.now(), 10) == 1
    assert not selectors.list_events_since(here).missed
    assert selectors.list_events_since(type(here)(here.seconds - selectors.KEPT, here.snapshot)).missed
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint + 1000")
        [later] = cursor.fetchone()
    assert selectors.list_events_since(type(here)(here.seconds, f"{later}:{later}:")).missed, "the database was restored from a backup"


@pytest.mark.django_db
def test_staff_sees_who_looks_at_a_ticket_who_writes_and_what_became_of_it() -> None:
    mara, theo = factories.user(), factories.user("theo", roles=["helpdesk"])
    member = factories.member()
    ticket = tickets.write_to(member=member, subject="Port 25", text="It is closed.", by=mara)
    type(ticket).objects.filter(pk=ticket.pk).update(assignee=None)
    at = f"/tickets/{ticket.pk}/presence/"
    shown: dict[str, Any] = {"assignee": 0, "state": "waiting", "entries": 1}

    def sign(client: Client, **given: str) -> str:
        answer = client.post(at, shown | given)
        assert answer.status_code == 200
        return answer.content.decode()

    first, second = signed_in(mara), signed_in(theo)
    assert "Theo" not in sign(first) and "Mara Lindqvist is looking at this" in sign(second)
    sign(first, writing="1")
    page = sign(second)
    assert "Mara Lindqvist is writing here" in page and "looking" not in page
    tickets.take_ticket(ticket=ticket, by=mara)
    tickets.add_note(ticket=ticket, text="Mine.", by=mara)
    page = sign(second)
    assert "Mara Lindqvist has taken this ticket meanwhile" in page and "something new in the thread" in page
    assert set(Event.objects.filter(kind="presence").values_list("state", flat=True)) == {"looking", "writing"}

    Presence.objects.update(seen=timezone.now() - timedelta(seconds=31))
    assert "writing here" not in sign(second)
    assert Presence.objects.count() == 1
    assert Event.objects.filter(kind="presence", state="gone").exists()
    assert sign(second, assignee="x" * 30, entries="-1")
    assert f'hx-post="{at}"' in second.get(f"/tickets/{ticket.pk}/").content.decode()
