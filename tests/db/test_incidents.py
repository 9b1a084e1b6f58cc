"""Incidents: opened, told, ended, opened again; their tickets; what members and the public read of them, and what not."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone
from django.utils.translation import override

from apps.accounts import tokens
from apps.accounts.models import User
from apps.lib.errors import Conflict, Problem
from apps.mail.models import Message
from apps.members.models import Member, Room, Site
from apps.status.incidents import attached_tickets, services
from apps.status.incidents.models import Incident, IncidentTicket, IncidentUpdate
from apps.status.incidents.phase import IncidentPhase, find_phase
from apps.status.incidents.report_draft import write_draft
from apps.status.incidents.services import IncidentFacts, UpdateFacts
from apps.status.incidents.timeline import TimelineKind, build_timeline
from apps.status.subscriptions.mails import write_pending_mails
from apps.status.subscriptions.models import Subscription
from apps.tickets import bulk
from apps.tickets import services as tickets
from apps.tickets.models import Bulk, Ticket
from tests import factories
from tests.api_responses import wrong
from tests.db.page_client import get_form_input, list_messages, signed_in, text

HOUR = timedelta(hours=1)
TWICE = datetime(2024, 10, 27, 1, 30, tzinfo=UTC)  # 02:30 in Berlin, for the second time in that night
Stage = IncidentUpdate.Stage


def describe(**given: Any) -> IncidentFacts:
    facts = {"kind": "fault", "services": ["ipv4"], "began": timezone.now() - HOUR, "title_en": "Slow in houses A to F", **given}
    return IncidentFacts(**facts)


def say(stage: str = "looking", words: str = "We see it, too, and are looking.", **given: Any) -> UpdateFacts:
    return UpdateFacts(**{"stage": stage, "text_en": words, **given})


@pytest.fixture
def mara(db: None) -> User:
    return factories.user("mara")


@pytest.fixture
def slow(mara: User) -> Incident:
    return services.open_incident(facts=describe(), first=say(), by=mara)


def announce(by: User, begins: datetime | None = None, **given: Any) -> Incident:
    begins = begins or timezone.now() + HOUR
    facts = describe(kind="maintenance", began=begins, planned_end=begins + HOUR, title_en="nat-1 gets a new kernel", **given)
    return services.open_incident(facts=facts, first=say("planned", "Expect a pause below one second."), by=by)


def house(code: str) -> Site:
    return Site.objects.create(name=f"House {code}", code=code)


def resident(name: str, site: Site | None, **given: Any) -> Member:
    made = factories.member(name, **given)
    if site:
        made.room = Room.objects.create(site=site, floor=0, name=f"R{made.number}")
        made.save()
    return made


def write(member: Member, subject: str = "Internet is slow") -> Ticket:
    user = member.user or factories.user(f"m{member.number}", staff=False)
    return tickets.open_ticket(subject=subject, text="Since an hour.", member=member, by=user)


def test_an_incident_is_told_and_ends_and_is_opened_again_if_it_was_not_over(slow: Incident, mara: User) -> None:
    services.post_update(incident=slow, facts=say("over", "All is well again."), by=mara)
    slow.refresh_from_db()
    assert slow.ended and find_phase(slow, timezone.now()) is IncidentPhase.OVER
    services.post_update(incident=slow, facts=say("looking", "It is back."), by=mara)
    slow.refresh_from_db()
    assert slow.ended is None and [each.stage for each in slow.updates.all()] == ["looking", "over", "looking"]


def test_planned_work_goes_its_way(mara: User) -> None:
    work, now = announce(mara), timezone.now()
    assert find_phase(work, now) is IncidentPhase.PLANNED
    assert find_phase(work, work.began) is IncidentPhase.OPEN
    assert find_phase(work, work.planned_end or now) is IncidentPhase.OVERDUE
    services.post_update(incident=work, facts=say("called_off", "Another day."), by=mara)
    work.refresh_from_db()
    assert find_phase(work, now) is IncidentPhase.CALLED_OFF


@pytest.mark.parametrize(
    ("facts", "field", "words"),
    [
        ({"title_en": " ", "title_de": ""}, "title_en", "Enter a title"),
        ({"services": []}, "services", "Choose what is affected"),
        ({"services": ["gopher"]}, "services", "Choose what is affected"),
        ({"began": timezone.now() + timedelta(days=9)}, "began", "has begun already"),
        ({"planned_end": timezone.now() + HOUR}, "planned_end", "Only planned work"),
        ({"kind": "maintenance"}, "planned_end", "needs a planned end"),
        ({"kind": "maintenance", "planned_end": timezone.now() - 2 * HOUR}, "planned_end", "after the beginning"),
        ({"kind": "maintenance", "planned_end": timezone.now() + timedelta(days=500)}, "planned_end", "within a year"),
    ],
)
def test_nonsense_about_an_incident_is_refused_with_its_field(mara: User, facts: dict[str, Any], field: str, words: str) -> None:
    with pytest.raises(Problem, match=words) as refused:
        services.open_incident(facts=describe(**facts), first=say(), by=mara)
    assert refused.value.fieldname == field and not Incident.objects.exists()


@pytest.mark.parametrize(
    ("facts", "field", "words"),
    [
        ({"text_en": "", "text_de": " "}, "text_en", "Say in one sentence"),
        ({"stage": "planned"}, "stage", "Choose a stage"),
        ({"next_update": timezone.now() - HOUR}, "next_update", "still to come"),
        ({"text_de": "x" * 5_001}, "text_de", "at most 5000"),
    ],
)
def test_nonsense_in_an_update_is_refused_with_its_field(slow: Incident, mara: User, facts: dict[str, Any], field: str, words: str) -> None:
    with pytest.raises(Problem, match=words) as refused:
        services.post_update(incident=slow, facts=UpdateFacts(**{"stage": "found", "text_en": "x", **facts}), by=mara)
    assert refused.value.fieldname == field and slow.updates.count() == 1


def test_work_that_has_not_begun_is_not_over_and_work_that_has_begun_is_not_called_off(mara: User) -> None:
    with pytest.raises(Problem, match="not begun yet"):
        services.post_update(incident=announce(mara), facts=say("over"), by=mara)
    with pytest.raises(Problem, match="begun already"):
        services.post_update(incident=announce(mara, timezone.now() - HOUR / 2), facts=say("called_off"), by=mara)


@pytest.mark.parametrize(
    ("columns", "constraint"),
    [
        ({"title_en": ""}, "incident_has_a_title"),
        ({"services": []}, "incident_affects_something"),
        ({"services": ["gopher"]}, "incident_affects_something"),
        ({"kind": "party"}, "incident_kind"),
        ({"impact": "huge"}, "incident_impact"),
        ({"planned_end": timezone.now()}, "incident_planned_end"),
        ({"ended": timezone.now() - 5 * HOUR}, "incident_ends_after_it_began"),
    ],
)
def test_the_database_refuses_nonsense(slow: Incident, columns: dict[str, Any], constraint: str) -> None:
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        Incident.objects.filter(pk=slow.pk).update(**columns)


def test_who_edits_an_old_state_is_told_so(slow: Incident, mara: User) -> None:
    services.change_incident(incident=slow, version=slow.version, facts=describe(title_en="Slow everywhere"), by=mara)
    with pytest.raises(Conflict):
        services.change_incident(incident=slow, version=slow.version, facts=describe(title_en="Slow in A"), by=mara)
    slow.refresh_from_db()
    assert slow.title == "Slow everywhere"


def test_a_missing_language_is_filled_by_the_other(slow: Incident) -> None:
    with override("de"):
        assert slow.title == "Slow in houses A to F"
    slow.title_de = "Langsam in den Häusern A bis F"
    with override("de"):
        assert slow.title == "Langsam in den Häusern A bis F"


def test_what_is_not_public_is_on_no_public_page_and_in_no_mail(mara: User) -> None:
    secret = services.open_incident(facts=describe(public=False, title_en="Somebody attacks us"), first=say(), by=mara)
    shown = services.open_incident(facts=describe(title_en="Slow"), first=say(words="We are looking."), by=mara)
    services.post_update(incident=shown, facts=say("found", "It is Selin's server.", public=False), by=mara)
    assert not secret.updates.filter(notify=True).exists() and not shown.updates.filter(public=False, notify=True).exists()
    for path in ("/status/", "/status/atom.xml", "/status/status.json", "/status/calendar.ics"):
        page = Client().get(path).content.decode()
        assert "Slow" in page and "attacks" not in page and "Selin" not in page and "mara" not in page.lower(), path


def test_mails_about_an_incident_that_is_hidden_again_are_not_written(slow: Incident, mara: User) -> None:
    assert slow.updates.filter(notify=True, mailed=None).count() == 1
    services.change_incident(incident=slow, version=slow.version, facts=describe(public=False), by=mara)
    assert not slow.updates.filter(notify=True).exists() and "Slow" not in Client().get("/status/").content.decode()


def test_mails_about_an_incident_that_is_hidden_again_are_discarded_while_they_wait(slow: Incident, mara: User) -> None:
    other = services.open_incident(facts=describe(title_en="Away in house G"), first=say(), by=mara)
    Subscription.objects.create(address="ada@example.org", language="en", confirmed=timezone.now())
    while write_pending_mails():
        continue
    services.change_incident(incident=slow, version=slow.version, facts=describe(title_en="Slow in A"), by=mara)
    assert set(Message.objects.values_list("state", flat=True)) == {"waiting"}
    slow.refresh_from_db()
    services.change_incident(incident=slow, version=slow.version, facts=describe(public=False), by=mara)
    assert dict(Message.objects.values_list("about_id", "state")) == {slow.pk: "discarded", other.pk: "waiting"}


def test_tickets_from_affected_houses_are_suggested_and_attached_once(mara: User) -> None:
    a, b = house("A"), house("B")
    before = write(resident("Early", a))
    Ticket.objects.filter(pk=before.pk).update(opened_at=timezone.now() - 3 * HOUR)
    slow = services.open_incident(facts=describe(sites=[a]), first=say(), by=mara)
    ours, others = write(resident("Selin", a)), write(resident("Jonas", b))
    homeless = write(resident("Nobody", None))
    assert list(attached_tickets.list_suggested_tickets(slow)) == [ours]
    assert attached_tickets.attach_tickets(incident=slow, tickets=[ours], by=mara) == 1
    assert attached_tickets.attach_tickets(incident=slow, tickets=[ours, others], by=mara) == 1
    assert not attached_tickets.list_suggested_tickets(slow).exists()
    everywhere = services.open_incident(facts=describe(), first=say(), by=mara)
    assert list(attached_tickets.list_suggested_tickets(everywhere)) == [homeless]
    with pytest.raises(Conflict, match=f"#{ours.pk} is attached to “Slow in houses A to F”"):
        attached_tickets.attach_tickets(incident=everywhere, tickets=[ours, homeless], by=mara)
    assert not everywhere.attached.exists()


def test_the_rule_attaches_new_tickets_but_not_what_a_person_detached(mara: User) -> None:
    slow = services.open_incident(facts=describe(attach_tickets=True), first=say(), by=mara)
    first = write(resident("Selin", None))
    assert attached_tickets.attach_by_rule() == 1 and attached_tickets.attach_by_rule() == 0
    attached_tickets.detach_ticket(incident=slow, ticket=first, by=mara)
    assert attached_tickets.attach_by_rule() == 0 and not attached_tickets.list_attached_tickets(slow).exists()
    other = services.open_incident(facts=describe(), first=say(), by=mara)
    assert [list(attached_tickets.list_suggested_tickets(each)) for each in (slow, other)] == [[], [first]]
    assert attached_tickets.attach_tickets(incident=slow, tickets=[first], by=mara) == 1
    assert [link.by for link in attached_tickets.list_attached_tickets(slow)] == [mara]
    services.post_update(incident=slow, facts=say("over"), by=mara)
    write(resident("Jonas", None))
    assert attached_tickets.attach_by_rule() == 0


def test_the_page_of_a_ticket_names_its_incident_until_it_is_detached(slow: Incident, mara: User) -> None:
    written = write(resident("Selin", None))
    path = f"/tickets/{written.pk}/"
    client = signed_in(mara)
    assert f"/incidents/{slow.pk}/" not in client.get(path).content.decode()
    attached_tickets.attach_tickets(incident=slow, tickets=[written], by=mara)
    assert f'href="/incidents/{slow.pk}/"' in client.get(path).content.decode()
    attached_tickets.detach_ticket(incident=slow, ticket=written, by=mara)
    assert f"/incidents/{slow.pk}/" not in client.get(path).content.decode()


def test_one_answer_reaches_all_attached_tickets_and_solves_them_once(slow: Incident, mara: User) -> None:
    asked = [write(resident(f"Member {number}", None, email=f"m{number}@example.org")) for number in range(3)]
    attached_tickets.attach_tickets(incident=slow, tickets=asked, by=mara)
    tickets.answer_ticket(ticket=asked[0], text="Solved before.", solved=True, by=mara)
    Message.objects.all().delete()
    key, said = uuid4(), {"text_en": "All is well again.", "text_de": ""}
    named = [each.pk for each in asked]
    first, second = (attached_tickets.answer_attached(incident=slow, named=named, key=key, by=mara, **said) for _click in range(2))
    with pytest.raises(Problem, match="No attached ticket is left"):
        attached_tickets.answer_attached(incident=slow, named=named, key=uuid4(), by=mara, **said)
    page = signed_in(mara).get(f"/incidents/{slow.pk}/")
    assert first == second == Bulk.objects.get() and page.context["answerable"] == 0
    while bulk.send_pending_answers():
        continue
    assert set(Ticket.objects.values_list("state", flat=True)) == {"solved"}
    assert sorted(Message.objects.filter(template="ticket_answer").values_list("to", flat=True)) == ["m1@example.org", "m2@example.org"]
    with pytest.raises(Problem, match="No attached ticket is left"):
        attached_tickets.answer_attached(incident=slow, named=named, key=uuid4(), by=mara, **said)


def test_a_ticket_that_is_attached_after_the_page_named_how_many_is_answered_only_when_it_was_named(slow: Incident, mara: User) -> None:
    first, late = (write(resident(f"Member {number}", None, email=f"m{number}@example.org")) for number in range(2))
    client, path = signed_in(mara), f"/incidents/{slow.pk}/tickets/answer/"
    attached_tickets.attach_tickets(incident=slow, tickets=[first], by=mara)
    page = client.get(path)
    assert "Answer 1 ticket" in text(page)
    given = {"key": str(page.context["form"]["key"].value()), "text_en": "All is well again.", "text_de": ""}
    attached_tickets.attach_tickets(incident=slow, tickets=[late], by=mara)
    answer = client.post(path, given | {"ticket": _list_named(page)})
    assert answer.status_code == 422 and "1 more ticket would be answered now. Nothing was sent." in text(answer)
    assert "Answer 2 tickets" in text(answer) and not Bulk.objects.exists()
    sent = client.post(path, given | {"ticket": _list_named(answer)})
    assert sent.status_code == 302 and Bulk.objects.get().items.count() == 2


def test_what_was_solved_after_the_page_named_it_is_left_out_without_a_question(slow: Incident, mara: User) -> None:
    asked = [write(resident(f"Member {number}", None)) for number in range(2)]
    attached_tickets.attach_tickets(incident=slow, tickets=asked, by=mara)
    named = [each.pk for each in asked]
    tickets.answer_ticket(ticket=asked[0], text="Solved before.", solved=True, by=mara)
    made = attached_tickets.answer_attached(incident=slow, named=named, key=uuid4(), text_en="Well again.", text_de="", by=mara)
    assert [each.ticket for each in made.items.all()] == asked[1:]


def _list_named(page: Any) -> list[str]:
    return re.findall(r'name="ticket" value="(\d+)"', text(page))


def test_members_read_of_what_affects_their_house_on_each_of_their_pages(mara: User) -> None:
    a, b = house("A"), house("B")
    services.open_incident(facts=describe(sites=[a], title_en="Slow in house A"), first=say(), by=mara)
    announce(mara)
    announce(mara, timezone.now() + timedelta(days=9), title_de="Neue Glasfaser")
    pages = {}
    for site in (a, b):
        user = factories.user(f"of-{site.code.lower()}", staff=False)
        resident(f"Of {site.code}", site, user=user)
        pages[site.code] = text(signed_in(user).get("/me/tickets/"))
    assert "Slow in house A" in pages["A"] and "We see it, too" in pages["A"] and "Slow in house A" not in pages["B"]
    for page in pages.values():
        assert "nat-1 gets a new kernel" in page and "Glasfaser" not in page


def test_the_time_line_tells_what_was_before_and_what_was_told(slow: Incident, mara: User) -> None:
    house("Z")
    attached_tickets.attach_tickets(incident=slow, tickets=[write(resident("Selin", None))], by=mara)
    services.post_update(incident=slow, facts=say("found", "A loop."), by=mara)
    entries = build_timeline(slow, timezone.now(), edits=True)
    assert [each.at for each in entries] == sorted((each.at for each in entries), reverse=True)
    told = [each.detail for each in entries if each.kind is TimelineKind.TOLD]
    assert told == ["A loop.", "We see it, too, and are looking."]
    assert any(each.kind is TimelineKind.EDIT and "House Z" in f"{each.words} {each.detail}" for each in entries)
    draft = write_draft(slow, entries, 1, timezone.now())
    assert draft.index("We see it, too") < draft.index("A loop.") and "## Why it happened" in draft and "Tickets: 1." in draft


def test_staff_open_tell_and_report_on_pages(mara: User) -> None:
    client = signed_in(mara)
    began = (timezone.localtime() - timedelta(days=1)).replace(hour=12).strftime("%Y-%m-%dT%H:%M")
    form = {"title_en": "Slow", "services": ["ipv4", "ipv6"], "impact": "degraded", "began": began, "public": "on",
            "stage": "looking", "text_en": "We are looking.", "notify": "on"}  # fmt: skip
    made = client.post("/incidents/add/fault/", form)
    row = Incident.objects.get()
    assert made["Location"] == f"/incidents/{row.pk}/" and row.services == ["ipv4", "ipv6"]
    refused = client.post("/incidents/add/fault/", form | {"text_en": "", "title_en": ""})
    assert refused.status_code == 422 and "Enter a title" in text(refused)
    client.post(f"/incidents/{row.pk}/tell/", {"stage": "over", "text_en": "Mended.", "public": "on"})
    page = text(client.get(f"/incidents/{row.pk}/"))
    assert "Mended." in page and "mara" in page.lower()
    draft = client.get(f"/incidents/{row.pk}/report/")
    assert "We are looking." in text(draft)
    row.refresh_from_db()
    client.post(f"/incidents/{row.pk}/report/", {"version": row.version, "report": "A loop between two routers."})
    row.refresh_from_db()
    assert row.report == "A loop between two routers."
    conflict = client.post(f"/incidents/{row.pk}/report/", {"version": row.version - 1, "report": "Another."})
    assert conflict.status_code == 422 and "changed since you read it" in text(conflict)
    edited = client.post(f"/incidents/{row.pk}/edit/", {**form, "version": row.version, "title_en": "Slow for an hour"})
    assert edited.status_code == 302 and "Slow for an hour" in text(client.get("/incidents/"))
    late = client.post(f"/incidents/{row.pk}/edit/", {**form, "version": row.version, "title_en": "Slow for a day"})
    kept = late.context["form"]
    assert late.status_code == 422 and kept["services"].value() == ["ipv4", "ipv6"] and kept["title_en"].value() == "Slow for a day"
    again = client.post(f"/incidents/{row.pk}/edit/", {**form, "version": kept["version"].value(), "title_en": "Slow for a day"})
    assert again.status_code == 302 and Incident.objects.get().title == "Slow for a day"


@pytest.mark.parametrize("began", [TWICE - HOUR, TWICE, TWICE + timedelta(seconds=42)])
def test_an_incident_that_began_when_the_clock_went_back_is_edited_like_others(slow: Incident, mara: User, began: datetime) -> None:
    Incident.objects.filter(pk=slow.pk).update(began=began)
    path, client = f"/incidents/{slow.pk}/edit/", signed_in(mara)
    shown = {name: value for name, value in get_form_input(client.get(path)).items() if value}
    assert client.post(path, shown | {"title_en": "Slow for an hour"}).status_code == 302
    slow.refresh_from_db()
    assert (slow.title, slow.began) == ("Slow for an hour", began)
    assert f"02:30 CE{'S' * (began < TWICE)}T" in text(client.get(f"/incidents/{slow.pk}/"))


def test_incidents_and_planned_work_begin_in_the_hour_that_the_clock_shows_twice(mara: User) -> None:
    client = signed_in(mara)
    fault = {"title_en": "Slow", "services": ["ipv4"], "impact": "degraded", "public": "on", "stage": "looking", "text_en": "We look."}
    assert client.post("/incidents/add/fault/", fault | {"began": "2024-10-27T02:30"}).status_code == 302
    work = fault | {"began": "2024-10-27T02:30", "planned_end": "2024-10-27T02:45", "stage": "planned"}
    assert client.post("/incidents/add/maintenance/", work).status_code == 302
    assert set(Incident.objects.values_list("began", flat=True)) == {TWICE}
    refused = client.post("/incidents/add/fault/", fault | {"began": "2024-03-31T02:30"})
    assert (refused.status_code, "02:30 does not exist on this day" in text(refused)) == (422, True)


def test_a_script_announces_work_that_ends_earlier_by_the_clock_than_it_begins(mara: User, client: Client) -> None:
    _token, key = tokens.create_token(user=mara, name="script")
    given = {"services": ["ipv6"], "kind": "maintenance", "title_en": "Kernel", "first": {"stage": "planned", "text_en": "A pause."},
             "began": "2024-10-27T02:45:00+02:00", "planned_end": "2024-10-27T02:15:00+01:00"}  # fmt: skip
    made = client.post("/api/status/incidents/", given, content_type="application/json", headers={"Authorization": f"Bearer {key}"})
    assert made.status_code == 201, made.content
    row = Incident.objects.get()
    assert row.planned_end and row.planned_end - row.began == HOUR / 2


def test_a_ticket_number_that_is_none_is_said(slow: Incident, mara: User) -> None:
    client = signed_in(mara)
    for number in ("99999", "x", "", "9" * 30):
        answered = client.post(f"/incidents/{slow.pk}/tickets/attach/", {"ticket": number}, follow=True)
        assert list_messages(answered) == ["There is no such ticket, or it was merged into another."]
    assert not IncidentTicket.objects.exists()


def test_a_script_opens_and_ends_an_incident(mara: User, client: Client) -> None:
    _token, key = tokens.create_token(user=mara, name="script")
    headers = {"Authorization": f"Bearer {key}"}
    site = house("A")
    given = {"services": ["ipv6"], "title_en": "Slow", "sites": [site.pk], "first": {"stage": "looking", "text_en": "We are looking."}}
    made = client.post("/api/status/incidents/", given, content_type="application/json", headers=headers)
    assert made.status_code == 201, made.content
    path = f"/api/status/incidents/{made.json()['id']}/"
    assert [each["text_en"] for each in client.get(path, headers=headers).json()["updates"]] == ["We are looking."]
    etag = client.get(path, headers=headers)["ETag"]
    changed = client.patch(path, {"impact": "down"}, content_type="application/json", headers=headers | {"If-Match": etag})
    assert changed.status_code == 200 and changed.json()["impact"] == "down" and changed.json()["sites"]
    retold = {"impact": "none", "first": {"stage": "over", "text_en": "Mended."}}
    assert "tell/" in str(wrong(client.patch(path, retold, content_type="application/json", headers=headers))["first"])
    over = client.post(f"{path}tell/", {"stage": "over", "text_en": "Mended."}, content_type="application/json", headers=headers)
    assert over.status_code == 200 and over.json()["ended"]
    nothing = client.post(
        "/api/status/incidents/", {"services": ["ipv6"], "title_en": "x"}, content_type="application/json", headers=headers
    )
    assert nothing.status_code == 400 and Incident.objects.count() == 1


def test_a_script_that_sends_a_control_character_or_an_unknown_field_tells_nothing(slow: Incident, mara: User, client: Client) -> None:
    _token, key = tokens.create_token(user=mara, name="script")

    def post(path: str, **body: Any) -> Any:
        return client.post(path, body, content_type="application/json", headers={"Authorization": f"Bearer {key}"})

    path = f"/api/status/incidents/{slow.pk}/tell/"
    for text_de in ("Wir\x1bsuchen", "Wir\x0bsuchen", "Wir\x0csuchen"):
        assert list(wrong(post(path, stage="found", text_de=text_de))) == ["text_de"]
    for first, field in (({"Public": False}, "first.Public"), ({"text_en": "We look\x1b"}, "first.text_en")):
        opened = post("/api/status/incidents/", services=["ipv6"], title_en="x", first={"stage": "looking", "text_en": "We look", **first})
        assert list(wrong(opened)) == [field]
    assert IncidentUpdate.objects.count() == 1
    told = post(path, stage="found", text_en="A loop.\nIn house A.")
    assert "A loop.\nIn house A." in [each["text_en"] for each in told.json()["updates"]]
