"""The process that traces packets for a web worker: it keeps the compiled rulesets, is replaced when it ends, and ends by itself."""

import os
import signal
from collections.abc import Iterator
from ipaddress import ip_address
from multiprocessing.connection import Pipe
from pathlib import Path

import pytest
from django.db import OperationalError
from django.utils import translation

from apps.deployments import services
from apps.deployments.desired_state.desired_state_cache import DesiredStateCache
from apps.deployments.models import GatewayState
from apps.deployments.services import reconcile
from apps.desk.packet_trace.answer import answer_question
from apps.desk.packet_trace.question import InvalidQuestion, TraceQuestion
from apps.desk.packet_trace.tracer import PacketTracer, TracerUnavailable
from apps.desk.packet_trace.tracer import tracer as of_all
from apps.desk.packet_trace.tracer_program import serve_questions
from tests import factories
from tests.db.page_client import signed_in

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def network(transactional_db: None) -> factories.Network:
    return factories.network()


@pytest.fixture
def tracer() -> Iterator[PacketTracer]:
    made = PacketTracer()
    yield made
    made.close()


def build_question(network: factories.Network, *, runs: bool = False) -> TraceQuestion:
    return TraceQuestion(network.gateways[0], ip_address("10.16.0.10"), ip_address("203.0.113.9"), runs=runs)


def list_children() -> list[int]:
    """Return the processes that this thread started and that have not ended."""
    return [int(each) for each in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]


def test_the_answer_is_that_of_this_process_without_any_element(served_network: factories.Network, tracer: PacketTracer) -> None:
    assert reconcile(served_network.group, by=served_network.admin.pk)
    question = build_question(served_network)
    asked, own = tracer.ask(question), answer_question(question)
    assert (asked.trace, asked.other, asked.elsewhere) == (own.trace, own.other, own.elsewhere)
    assert asked.ruleset.elements == {} and asked.traceable.wanted.elements == {}
    assert asked.traceable.runs is not None and asked.traceable.runs.elements == {}
    assert (asked.ruleset.chains, asked.ruleset.sets) == (own.ruleset.chains, own.ruleset.sets)


def test_the_process_that_asks_compiles_nothing(network: factories.Network, tracer: PacketTracer, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = DesiredStateCache()
    monkeypatch.setattr(services, "desired_state_cache", cache)
    tracer.ask(build_question(network))
    assert vars(cache)["_known"] == {}
    answer_question(build_question(network))
    assert list(vars(cache)["_known"]) == [network.group.pk]


def test_one_child_serves_all_questions_and_is_replaced_when_it_was_killed(network: factories.Network, tracer: PacketTracer) -> None:
    before = set(list_children())
    first = tracer.ask(build_question(network))
    [child] = set(list_children()) - before
    assert tracer.ask(build_question(network)).trace == first.trace
    assert set(list_children()) - before == {child}
    os.kill(child, signal.SIGKILL)
    assert tracer.ask(build_question(network)).trace == first.trace
    assert child not in list_children()


def test_a_refusal_is_said_in_the_language_of_who_asks(network: factories.Network, tracer: PacketTracer) -> None:
    with translation.override("de"), pytest.raises(InvalidQuestion, match="nicht bekannt") as refusal:
        tracer.ask(build_question(network, runs=True))
    assert refusal.value.field == "ruleset"
    assert not GatewayState.objects.exists()


def test_a_failure_of_the_child_is_raised_here_with_its_traceback(
    network: factories.Network, tracer: PacketTracer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NETZWART_DATABASE_URL", "host=/nowhere dbname=nobody")
    with pytest.raises(OperationalError) as failure:
        tracer.ask(build_question(network))
    assert "answer_question" in "".join(failure.value.__notes__)


def test_a_child_that_cannot_start_is_not_waited_for(
    network: factories.Network, tracer: PacketTracer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NETZWART_SECRET_KEY", "")
    with pytest.raises(TracerUnavailable, match="Ask again") as failure:
        tracer.ask(build_question(network))
    assert failure.value.args == ("ended 2 times",)


def test_page_and_api_say_what_to_do_when_no_child_answers(network: factories.Network, monkeypatch: pytest.MonkeyPatch) -> None:
    of_all.close()
    monkeypatch.setenv("NETZWART_SECRET_KEY", "")
    staff = signed_in(network.admin)
    given = {"source": "10.16.0.10", "destination": "203.0.113.9"}
    page = staff.get("/why/", given | {"gateway": "nat-1", "protocol": "tcp", "port": 443})
    assert (page.status_code, "does not answer. Ask again" in page.content.decode()) == (200, True)
    answer = staff.get(f"/api/gateways/gateways/{network.gateways[0].pk}/trace/", given)
    assert (answer.status_code, "does not answer. Ask again" in answer.json()["detail"]) == (503, True)


def test_a_child_that_nobody_asks_ends() -> None:
    ours, its = Pipe()
    with ours, its:
        serve_questions(its, idle_seconds=0)
        assert not ours.poll()


def test_a_child_ends_with_the_process_that_asks() -> None:
    ours, its = Pipe()
    ours.close()
    with its:
        serve_questions(its, idle_seconds=600)
