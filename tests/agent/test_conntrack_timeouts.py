"""Remaining times of connections: counted on a kernel as conntrack(8) set them, one reading at a time, and not for too long."""

import subprocess
from collections.abc import Iterator
from threading import Event

import pytest

from firewall import wire
from firewall.conntrack_timeouts import ReadTimeouts, TimeoutsAre
from gateway.evidence.part import Deadline
from gateway.memory_table import FakeKernel
from tests.agent.client import PATIENCE, Client
from tests.agent.conftest import restrict_to_gateways
from tests.agent.gateways import AnyGateway, OnKernel, clock
from tests.agent.requests import deploy, runs
from tests.agent.rulesets import network, text_of, whole
from tests.agent.test_beats import Busy, Waiting


def read(gateway: AnyGateway) -> TimeoutsAre:
    answer = gateway.ask(ReadTimeouts())
    assert isinstance(answer, TimeoutsAre), answer
    return answer


def test_every_gateway_answers_and_changes_nothing(gateway: AnyGateway) -> None:
    deploy(gateway, whole(network(3), token=1, now=clock()))
    assert read(gateway).is_whole
    assert runs(gateway) == text_of(network(3))


def insert(gateway: OnKernel, number: int, protocol: str, remaining: int, *more: str) -> None:
    ends = ["-s", f"10.1.0.{number}", "-d", "203.0.113.1", "--sport", "1000", "--dport", "443"]
    gateway.space.do(
        subprocess.run, ["conntrack", "-I", "-p", protocol, *ends, "-t", str(remaining), *more], check=True, capture_output=True
    )


@restrict_to_gateways("kernel")
def test_the_kernel_tells_protocol_state_and_remaining_time_of_each_connection(gateway: OnKernel) -> None:
    """conntrack(8) sets times that lie half a minute inside of their buckets, so that a slow reading finds the same."""
    insert(gateway, 1, "tcp", 7_410, "--state", "ESTABLISHED")
    insert(gateway, 2, "tcp", 7_411, "--state", "ESTABLISHED")
    insert(gateway, 3, "tcp", 3_750, "--state", "ESTABLISHED")
    insert(gateway, 4, "tcp", 1_950, "--state", "TIME_WAIT")
    insert(gateway, 5, "udp", 1_950, "--status", "SEEN_REPLY")
    insert(gateway, 6, "udp", 1_950)
    found = read(gateway)
    assert {(each.protocol, each.state, each.starts, each.counts) for each in found.histograms} == {
        (6, "established", (3_720, 7_380), (1, 2)),
        (6, "time_wait", (1_920,), (1,)),
        (17, "answered", (1_920,), (1,)),
        (17, "unanswered", (1_920,), (1,)),
    }
    assert (found.connections, found.is_whole) == (6, True)


@restrict_to_gateways("kernel")
def test_a_reading_whose_time_is_over_says_that_it_is_not_whole(gateway: OnKernel) -> None:
    for number in range(1, 200):
        insert(gateway, number, "tcp", 3_750, "--state", "ESTABLISHED")
    found = gateway.space.do(gateway.table.read_timeouts, Deadline(0, Event()))
    assert not found.is_whole and 0 < found.connections < 199


class Slow(Waiting):
    """A table whose connections take until `may` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = Event()

    def read_timeouts(self, deadline: Deadline) -> TimeoutsAre:
        self.begun.set()
        assert self.may.wait(PATIENCE)
        return super().read_timeouts(deadline)

    commit = FakeKernel.commit


@pytest.fixture
def slow_gateway() -> Iterator[Busy]:
    made = Busy(Slow())
    yield made
    made.close()


def test_a_change_is_deployed_while_connections_are_read_and_a_second_reading_is_refused(slow_gateway: Busy) -> None:
    table = slow_gateway.table
    assert isinstance(table, Slow)
    waiting = slow_gateway.send_and_wait(ReadTimeouts())
    assert table.begun.wait(PATIENCE)
    other = Client(slow_gateway.socket)
    applied = other.ask(whole(network(3), token=1, now=clock()))
    assert isinstance(applied, wire.Applied), applied
    busy = other.ask(ReadTimeouts())
    assert "being read here already" in getattr(busy, "text", ""), busy
    table.may.set()
    _, answer = waiting.answer()
    assert isinstance(answer, TimeoutsAre)
    for each in (waiting, other):
        each.close()
