"""Neighbouring releases: the last release's portal with this agent, and its agent, which is replaced by this one and replaces it."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from firewall import wire, wire_versions
from firewall.digest import digest_ruleset
from firewall.ruleset import Ruleset
from firewall.wire_versions import Additions, WhenSet
from gateway.persistent_state import StateDirectory
from tests import wire_schema
from tests.agent.client import Client
from tests.agent.failover_runtime import set_up_failover
from tests.agent.gateways import ROOT, Served, clock
from tests.agent.requests import deploy, runs, welcome
from tests.agent.rulesets import ban, network, step, text_of, whole
from tests.agent.test_beats import Busy, Waiting

RELEASED = max(wire_schema.RELEASED)
OLDER = wire.SPOKEN[0]
PORTAL = Path(__file__).with_name("released_portal.py")
BEFORE, AFTER = network(20), network(21, ban("203.0.113.9/32"))


@pytest.fixture(params=["in memory", pytest.param("kernel", marks=pytest.mark.kernel)])
def kind(request: pytest.FixtureRequest, kernel_is_there: str) -> str:
    """Where the agents keep their tables."""
    if request.param == "kernel" and kernel_is_there:
        pytest.skip(f"no kernel to test on: {kernel_is_there}")
    return str(request.param)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Served]:
    """This release's agent, in memory."""
    made = Served(tmp_path / "state", on_kernel=False)
    yield made
    made.close()


@pytest.fixture
def older_agent(tmp_path: Path, kind: str, released_sources: Path) -> Iterator[Served]:
    """The released agent, which runs and has confirmed AFTER."""
    made = Served(tmp_path / "state", on_kernel=kind == "kernel", root=released_sources, version=RELEASED)
    deploy(made, whole(BEFORE, token=1, now=clock()))
    deploy(made, step(BEFORE, AFTER, token=2, now=clock()))
    yield made
    made.close()


@pytest.fixture
def newer_agent(monkeypatch: pytest.MonkeyPatch) -> Iterator[Busy]:
    """This release's agent, as if it told its steady clock, and digests, only since the last version."""
    fields = {"Welcome": {"steady": WhenSet.OMIT}}
    monkeypatch.setitem(wire_versions.LACKING, OLDER, Additions(classes=frozenset({"DigestIs"}), fields=fields))
    made = Busy(Waiting())
    yield made
    made.close()


def ask_as_released_portal(sources: Path, socket: Path) -> list[str]:
    """Return the answers to all requests of the released portal, with its codec."""
    command = [sys.executable, "-P", str(PORTAL), str(socket)]
    done = subprocess.run(command, cwd=sources, env=os.environ | {"PYTHONPATH": str(sources)}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return list(map(str, json.loads(done.stdout)))


def test_a_released_portal_gets_the_same_from_this_agent_as_from_its_own(tmp_path: Path, kind: str, released_sources: Path) -> None:
    told = []
    for name, root in (("own", released_sources), ("new", ROOT)):
        served = Served(tmp_path / name / "state", on_kernel=kind == "kernel", root=root, version=RELEASED)
        set_up_failover(served)
        told.append(ask_as_released_portal(released_sources, served.socket))
        served.close()
    assert told[0] == told[1]
    assert {"Planned", "Applied", "Confirmed", "Drifted", "Reading", "GaugesAre", "MachineFacts", "HealthCounters", "RolesAre"} <= {
        each.split()[0] for each in told[1]
    }


def test_the_sources_that_were_released_have_the_schema_that_is_committed(released_sources: Path) -> None:
    command = [sys.executable, "-P", wire_schema.__file__, "--print"]
    environment = os.environ | {"PYTHONPATH": str(released_sources)}
    done = subprocess.run(command, cwd=released_sources, env=environment, capture_output=True, check=True)
    assert done.stdout == wire_schema.get_schema_path(RELEASED).read_bytes()


@pytest.mark.parametrize("survives", [True, False], ids=["the table stays", "the machine boots"])
def test_an_agent_that_is_upgraded_and_downgraded_runs_what_was_confirmed(
    older_agent: Served, kind: str, released_sources: Path, *, survives: bool
) -> None:
    for root, version, token in ((ROOT, wire.VERSION, 3), (released_sources, RELEASED, 5)):
        if kind == "kernel" and not survives:
            older_agent.nft("flush", "ruleset")
        older_agent.replace(root, version)
        found = welcome(older_agent)
        assert found.digest == found.confirmed == text_of(AFTER) == runs(older_agent)
        assert (found.token, found.damage) == (token - 1, "")
        deploy(older_agent, step(AFTER, BEFORE, token=token, now=clock()))
        deploy(older_agent, whole(AFTER, token=token + 1, now=clock()))


def test_an_agent_answers_each_peer_in_its_own_version(service: Served) -> None:
    peers = [Client(service.socket, version) for version in wire.SPOKEN]
    for peer in (*peers, *reversed(peers)):
        assert isinstance(peer.ask(wire.Hello(clock())), wire.Welcome)
    for peer in peers:
        peer.close()


@pytest.mark.parametrize("version", wire.SPOKEN)
def test_a_peer_that_breaks_the_rules_is_told_why_in_its_own_version(service: Served, version: int) -> None:
    client = Client(service.socket, version)
    client.send(json.dumps({"v": version, "id": 1, "last": True, "part": "{"}).encode() + b"\n")
    number, answer = client.receive()
    assert number == 0 and isinstance(answer, wire.Refused) and answer.reason == "malformed"
    client.close()


def test_a_peer_of_a_later_release_is_told_which_version_to_use(service: Served) -> None:
    client = Client(service.socket)
    client.send(json.dumps({"v": wire.VERSION + 1, "id": 1, "last": True, "part": "{}"}).encode() + b"\n")
    number, answer = client.receive()
    assert number == 0 and isinstance(answer, wire.Refused) and answer.reason == "version"
    client.close()


def test_an_older_portal_gets_answers_without_what_it_does_not_know(newer_agent: Busy) -> None:
    told = []
    for version in wire.SPOKEN:
        client = Client(newer_agent.socket, version)
        answer = client.ask(wire.Hello(clock()))
        client.close()
        assert isinstance(answer, wire.Welcome)
        told.append(answer.steady)
    assert told[0] == 0 < told[1]


def test_an_answer_that_cannot_be_said_to_an_older_portal_is_refused_in_words(newer_agent: Busy) -> None:
    client = Client(newer_agent.socket, OLDER)
    answer = client.ask(wire.Digest(clock()))
    assert isinstance(answer, wire.Refused) and answer.reason == "version"
    assert answer.text == f"DigestIs is not known there: the answer cannot be given in version {OLDER}; upgrade the portal"
    assert isinstance(client.ask(wire.Hello(clock())), wire.Welcome), "the connection stays"
    client.close()


# --- What is on the disk


def test_a_stored_ruleset_is_written_as_the_release_before_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(wire_versions.LACKING, OLDER, NEW_FIELD)
    store(tmp_path, Ruleset(counters=frozenset()))
    assert "counters" not in json.loads((tmp_path / "confirmed").read_text())["ruleset"]
    monkeypatch.setitem(wire_versions.LACKING, min(wire_versions.LACKING), NEW_FIELD)
    assert load(tmp_path) == Ruleset()


def test_a_stored_ruleset_that_needs_this_release_is_written_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(wire_versions.LACKING, OLDER, NEW_FIELD)
    store(tmp_path, AFTER)
    assert load(tmp_path) == AFTER


NEW_FIELD = Additions(fields={"Ruleset": {"counters": WhenSet.REFUSE}})


def store(directory: Path, ruleset: Ruleset) -> None:
    with closing(StateDirectory(directory)) as state:
        state.write_checkpoint(ruleset, digest_ruleset(ruleset), clock())


def load(directory: Path) -> Ruleset | None:
    with closing(StateDirectory(directory)) as state:
        confirmed = state.load()
        return confirmed.ruleset if confirmed else None
