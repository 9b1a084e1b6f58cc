"""Evidence of gateways: requested by people and before a step back, collected by a worker, downloaded by few, and forgotten in time."""

import io
import json
import tarfile
import zlib
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.utils import timezone
from structlog.testing import capture_logs

from apps.deployments.models import Revision, Rollout
from apps.deployments.rollouts import going_back, rollback
from apps.deployments.rollouts.going_back import ReturnKind, announce_return
from apps.deployments.services import reconcile
from apps.gateways.evidence import collection
from apps.gateways.evidence.archive import unpack_part
from apps.gateways.evidence.collection import collect_evidence, end_forgotten_requests, list_waiting_requests
from apps.gateways.evidence.models import EvidenceArchive, EvidenceDownload, EvidenceFile
from apps.gateways.evidence.part_texts import FILES, PORTAL, README, TITLES
from apps.gateways.evidence.requests import request_evidence, request_evidence_before
from apps.gateways.evidence.selectors import list_archives
from apps.gateways.retention import prune_evidence
from apps.network.models import Gateway
from firewall import wire
from firewall.evidence import LARGEST, CollectEvidence, EvidenceKind, EvidencePart
from tests import factories
from tests.db.agents import end_started, stop_agent
from tests.db.lying_gateway import lying
from tests.db.page_client import signed_in, text
from tests.db.rollout_rows import forward
from tests.db.test_decisions import Hesitant
from workers import evidence as tasks

pytestmark = pytest.mark.django_db(transaction=True)
Cause, State, Problem = EvidenceArchive.Cause, EvidenceArchive.State, EvidenceArchive.Problem
COUNTERS = FILES[EvidenceKind.COUNTERS]


@pytest.fixture
def network(served_network: factories.Network) -> Iterator[factories.Network]:
    """Gateways in memory that run a ruleset."""
    assert reconcile(served_network.group)
    yield served_network
    end_started()


def collect(gateway: Gateway, network: factories.Network) -> EvidenceArchive:
    """Request evidence and collect it at once."""
    row = request_evidence(gateway=gateway, by=network.admin)
    collect_evidence(row.pk)
    row.refresh_from_db()
    return row


def read_files(row: EvidenceArchive) -> dict[str, bytes]:
    """Return the files of the archive by name, without its one folder."""
    found = {}
    with tarfile.open(fileobj=io.BytesIO(bytes(row.file.octets))) as archive:
        for entry in archive:
            file = archive.extractfile(entry)
            assert file and entry.name.startswith(f"evidence-{row.gateway.name}-") and entry.name.count("/") == 1
            found[entry.name.partition("/")[2]] = file.read()
    return found


def list_causes() -> list[tuple[str, str]]:
    return sorted(EvidenceArchive.objects.values_list("gateway__name", "cause"))


def test_an_archive_holds_what_the_gateway_and_the_portal_know_and_explains_each_file(network: factories.Network) -> None:
    row = collect(network.gateways[0], network)
    files = read_files(row)
    assert (row.state, row.problem, row.size) == (State.DONE, "", len(row.file.octets))
    assert b"leaked: 0 packets" in files[COUNTERS]
    [rollout] = json.loads(files[PORTAL])["rollouts"]
    assert rollout["gateway_state"] == "confirmed"
    readme = files[README].decode()
    assert all(each in readme for each in TITLES) and "in memory: there is no machine" in " ".join(readme.split())
    assert {each["name"]: each["size"] for each in row.parts}[COUNTERS] == len(files[COUNTERS])


def test_the_archive_names_no_account(network: factories.Network) -> None:
    assert network.admin.username.encode() not in b"".join(read_files(collect(network.gateways[0], network)).values())


def test_of_a_gateway_that_does_not_answer_there_is_what_the_portal_knows(network: factories.Network) -> None:
    gateway = network.gateways[0]
    with stop_agent(gateway):
        row = collect(gateway, network)
    assert (row.state, row.problem, set(read_files(row))) == (State.DONE, Problem.UNREACHABLE, {README, PORTAL})
    page = text(signed_in(network.admin).get(f"/gateways/{gateway.pk}/evidence/"))
    assert "nat-1 did not answer, so there is only what the portal knows." in page


def test_an_older_agent_is_named_as_the_reason(network: factories.Network) -> None:
    def refuse(request: wire.Request, honest: str) -> str:
        older = {"is": "Refused", "reason": "malformed", "text": "request.is: expected one of Apply, Hello, got 'CollectEvidence'"}
        return json.dumps(older) if isinstance(request, CollectEvidence) else honest

    gateway = network.gateways[0]
    with lying(gateway, refuse):
        row = collect(gateway, network)
    assert (row.state, row.problem) == (State.DONE, Problem.OLDER)
    assert "Install the portal’s agent there." in text(signed_in(network.admin).get(f"/gateways/{gateway.pk}/evidence/"))


def test_what_an_agent_in_disorder_sends_breaks_nothing(network: factories.Network) -> None:
    def refuse(request: wire.Request, honest: str) -> str:
        refused = {"is": "Refused", "reason": "state", "text": "the disk <b>is</b> " + "x" * 500}
        return json.dumps(refused) if isinstance(request, CollectEvidence) else honest

    gateway = network.gateways[0]
    with lying(gateway, refuse):
        row = collect(gateway, network)
    assert (row.state, row.problem, len(row.reason)) == (State.DONE, Problem.REFUSED, 300)
    assert "the disk &lt;b&gt;is" in text(signed_in(network.admin).get(f"/gateways/{gateway.pk}/evidence/"))


@pytest.mark.parametrize(
    ("deflated", "note"),
    [
        (zlib.compress(bytes(LARGEST[EvidenceKind.COUNTERS] + 1)), "The gateway sent more than it may."),
        (zlib.compress(bytes(1 << 24)), "The gateway sent more than it may."),
        (zlib.compress(b"x" * 100)[:-8], "The gateway sent more than it may."),
        (b"no such thing", "The gateway sent something that cannot be expanded."),
    ],
)
def test_a_part_that_would_expand_beyond_its_limit_is_left_out(deflated: bytes, note: str) -> None:
    entry = unpack_part(EvidencePart(EvidenceKind.COUNTERS, deflated, 5, 1, "  a\nnote "))
    assert (entry.octets, entry.note) == (None, note)


def test_a_second_press_while_one_is_open_is_the_same_request(network: factories.Network) -> None:
    first, second = (request_evidence(gateway=network.gateways[0], by=network.admin) for _ in range(2))
    assert first == second and list_causes() == [("nat-1", "person")]
    collect_evidence(first.pk)
    assert request_evidence(gateway=network.gateways[0], by=network.admin) != first


def test_the_schedule_takes_up_what_no_worker_has_begun(network: factories.Network, monkeypatch: pytest.MonkeyPatch) -> None:
    row = request_evidence(gateway=network.gateways[0], by=network.admin)
    assert list_waiting_requests() == [row.pk]
    monkeypatch.setattr(tasks.collect_evidence, "delay", tasks.collect_evidence)
    tasks.tend_evidence()
    row.refresh_from_db()
    assert row.state == State.DONE and list_waiting_requests() == []


def test_a_request_is_carried_out_once_and_few_at_a_time(network: factories.Network, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = network.gateways
    row = collect(first, network)
    collect_evidence(row.pk)
    assert EvidenceFile.objects.count() == 1
    monkeypatch.setattr(collection, "AT_ONCE", 1)
    busy = EvidenceArchive.objects.create(gateway=second, cause=Cause.SWITCH, state=State.RUNNING, started=timezone.now())
    waits = request_evidence(gateway=first, by=network.admin)
    collect_evidence(waits.pk)
    waits.refresh_from_db()
    assert waits.state == State.WAITING
    busy.delete()
    collect_evidence(waits.pk)
    waits.refresh_from_db()
    assert waits.state == State.DONE


def test_requests_that_came_to_nothing_end(network: factories.Network) -> None:
    long_ago, gateway = timezone.now() - timedelta(minutes=10), network.gateways[0]
    late = EvidenceArchive.objects.create(gateway=gateway, cause=Cause.PERSON, asked=long_ago)
    lost = EvidenceArchive.objects.create(gateway=gateway, cause=Cause.PERSON, asked=long_ago, state=State.RUNNING, started=long_ago)
    fresh = request_evidence_anew(gateway)
    end_forgotten_requests()
    assert dict(EvidenceArchive.objects.values_list("pk", "problem")) == {late.pk: "late", lost.pk: "lost", fresh.pk: ""}
    page = text(signed_in(network.admin).get(f"/gateways/{gateway.pk}/evidence/"))
    assert "No worker had time within two minutes" in page and "The worker was lost meanwhile." in page


def request_evidence_anew(gateway: Gateway) -> EvidenceArchive:
    return EvidenceArchive.objects.create(gateway=gateway, cause=Cause.PERSON)


@pytest.mark.parametrize(
    "values",
    [{"cause": "whim"}, {"problem": "bad luck"}, {"state": "done"}, {"state": "failed", "finished": timezone.now()}, {"size": 7}],
)
def test_the_database_refuses_an_archive_that_cannot_be(network: factories.Network, values: dict[str, object]) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        EvidenceArchive.objects.create(**{"gateway": network.gateways[0], "cause": "person"} | values)


# --- Before a step back


def test_before_a_rollout_takes_back_what_is_on_trial_evidence_is_requested(network: factories.Network) -> None:
    forward(network, 8000)
    aborted = reconcile(network.group, links=Hesitant(network))
    assert aborted and aborted.state == Rollout.State.ABORTED
    first = aborted.steps.select_related("gateway").order_by("position")[0].gateway.name
    assert list_causes() == [(first, "revert")]


def test_before_a_return_to_an_older_revision_evidence_of_each_gateway_is_requested(network: factories.Network) -> None:
    before = Revision.objects.latest("pk")
    forward(network, 8000)
    assert reconcile(network.group)
    rollback.roll_back(before, why="calls break", by=network.admin)
    assert list_causes() == [("nat-1", "rollback"), ("nat-2", "rollback")]


def test_a_rollout_goes_back_although_evidence_cannot_be_requested(network: factories.Network) -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE gateways_evidencearchive ADD CONSTRAINT nothing CHECK (false) NOT VALID")
    try:
        forward(network, 8000)
        aborted = reconcile(network.group, links=Hesitant(network))
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE gateways_evidencearchive DROP CONSTRAINT nothing")
    assert aborted and aborted.state == Rollout.State.ABORTED
    assert aborted.steps.filter(state="went_back").count() == 1 and list_causes() == []


def test_a_listener_that_fails_is_undone_alone(network: factories.Network, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(kind: ReturnKind, gateways: object) -> None:
        request_evidence_anew(network.gateways[1])
        raise ZeroDivisionError(kind)

    monkeypatch.setattr(going_back, "_listeners", [fail, *going_back._listeners])
    announce_return(ReturnKind.ROLLBACK, [network.gateways[0]])
    assert list_causes() == [("nat-1", "rollback")]


def test_what_goes_back_again_and_again_is_collected_once_in_two_minutes(network: factories.Network) -> None:
    for _ in range(3):
        request_evidence_before(Cause.REVERT, [network.gateways[0]])
    assert list_causes() == [("nat-1", "revert")]
    EvidenceArchive.objects.update(asked=timezone.now() - timedelta(minutes=3))
    request_evidence_before(Cause.REVERT, [network.gateways[0]])
    assert len(list_causes()) == 2


# --- Kept for how long, and seen by whom


def make_archive(gateway: Gateway, ago: timedelta = timedelta(0), cause: str = Cause.PERSON) -> EvidenceArchive:
    at = timezone.now() - ago
    row = EvidenceArchive.objects.create(gateway=gateway, cause=cause, asked=at, started=at, finished=at, state=State.DONE, size=3)
    EvidenceFile.objects.create(archive=row, octets=b"abc")
    return row


def test_archives_are_forgotten_after_thirty_days_with_their_files(network: factories.Network) -> None:
    old, young = (make_archive(network.gateways[0], timedelta(days=days)) for days in (31, 29))
    EvidenceDownload.objects.create(archive=old, by=network.admin)
    assert prune_evidence(timezone.now(), 10) == 1
    assert list(EvidenceFile.objects.values_list("archive", flat=True)) == [young.pk]
    assert not EvidenceDownload.objects.exists()


def test_of_each_gateway_the_newest_are_kept_and_those_of_people_longest(
    network: factories.Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collection, "KEPT", 3)
    first, second = network.gateways
    old = make_archive(first, timedelta(hours=9))
    by_portal = [make_archive(first, timedelta(hours=hours), Cause.REVERT) for hours in (8, 7)]
    others = make_archive(second, timedelta(hours=9), Cause.REVERT)
    newest = collect(first, network)
    assert {*EvidenceArchive.objects.all()} == {old, by_portal[1], newest, others}


def test_other_apps_find_archives_by_gateway_and_time(network: factories.Network) -> None:
    first, second = network.gateways
    early, late, other = make_archive(first, timedelta(hours=5)), make_archive(first, timedelta(hours=1)), make_archive(second)
    now = timezone.now()
    assert list(list_archives([first.pk])) == [late, early]
    assert list(list_archives([first.pk, second.pk], now - timedelta(hours=2), now + timedelta(hours=1))) == [other, late]
    assert list(list_archives([first.pk], until=now - timedelta(hours=2))) == [early]


@pytest.fixture
def mara(network: factories.Network) -> Client:
    return signed_in(network.admin)


def test_the_button_requests_and_the_page_follows_until_it_is_done(mara: Client, network: factories.Network) -> None:
    gateway = network.gateways[0]
    here = f"/gateways/{gateway.pk}/evidence/"
    for page in (f"/gateways/{gateway.pk}/", f"/gateways/{gateway.pk}/health/", here):
        assert f'action="{here}collect/"' in text(mara.get(page)), page
    assert "No evidence yet" in text(mara.get(here))
    answer = mara.post(f"{here}collect/")
    assert answer.status_code == 302 and answer["Location"] == here
    waits = text(mara.get(here, headers={"HX-Target": "now"}))
    assert "Evidence is being collected." in waits and "every 2s" in waits and "<html" not in waits
    collect_evidence(EvidenceArchive.objects.get().pk)
    done = text(mara.get(here))
    assert "every 2s" not in done and "11 parts" in done and "Counters of the ruleset" in done


def test_a_download_is_recorded_and_no_browser_shows_the_file(mara: Client, network: factories.Network) -> None:
    row = collect(network.gateways[0], network)
    here = f"/gateways/{row.gateway_id}/evidence/"
    with capture_logs() as lines:
        answer = mara.get(f"{here}{row.pk}/")
    assert [each["security"] for each in lines if "security" in each] == ["evidence downloaded"]
    assert answer.content == bytes(row.file.octets)
    assert answer["Content-Disposition"] == f'attachment; filename="evidence-nat-1-{row.asked:%Y%m%dT%H%M%SZ}.tar.gz"'
    assert (answer["Content-Type"], answer["X-Content-Type-Options"]) == ("application/octet-stream", "nosniff")
    assert "sandbox" in answer["Content-Security-Policy"] and "no-store" in answer["Cache-Control"]
    assert EvidenceDownload.objects.get().by == network.admin
    assert f"Downloaded by {network.admin}" in text(mara.get(here))


def test_an_auditor_sees_that_there_is_evidence_and_may_not_have_it(network: factories.Network) -> None:
    row, auditor = collect(network.gateways[0], network), signed_in(factories.user("avi", roles=["auditor"]))
    here = f"/gateways/{row.gateway_id}/evidence/"
    page = text(auditor.get(here))
    assert "Collected" in page.title() and f"{here}{row.pk}/" not in page and "collect/" not in page
    assert auditor.get(f"{here}{row.pk}/").status_code == 403
    assert auditor.post(f"{here}collect/").status_code == 403
    assert auditor.post(f"{here}{row.pk}/delete/").status_code == 403
    assert EvidenceDownload.objects.count() == 0


def test_deleting_asks_first_and_is_recorded(mara: Client, network: factories.Network) -> None:
    row = collect(network.gateways[0], network)
    path = f"/gateways/{row.gateway_id}/evidence/{row.pk}/delete/"
    assert "Copies that were downloaded are not." in text(mara.get(path))
    with capture_logs() as lines:
        assert mara.post(path).status_code == 302
    assert "evidence deleted" in [each.get("security") for each in lines]
    assert not EvidenceArchive.objects.exists() and not EvidenceFile.objects.exists()


def test_an_archive_of_another_gateway_or_one_under_way_is_not_found(mara: Client, network: factories.Network) -> None:
    first, second = network.gateways
    row, waits = make_archive(first), request_evidence(gateway=second, by=network.admin)
    paths = (
        f"{second.pk}/evidence/{row.pk}/",
        f"{second.pk}/evidence/{row.pk}/delete/",
        f"{second.pk}/evidence/{waits.pk}/",
        f"{second.pk}/evidence/{waits.pk}/delete/",
    )
    assert [mara.get(f"/gateways/{path}").status_code for path in paths] == [404] * 4
