"""Another program for a running agent: on trial, kept when it is confirmed, and otherwise gone by itself, whatever ends it."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from firewall import wire
from firewall.agent_programs import LARGEST_PROGRAM, KeepProgram, ProgramIs, StoreProgram, TryProgram
from gateway.machine import read_boot_id
from gateway.programs.choice import ProgramChoice, ProgramTrial
from gateway.programs.launcher import PROGRAMS
from gateway.programs.store import ProgramStore
from tests.agent.gateways import clock
from tests.agent.launched import (
    CRASHES,
    LONG,
    MUTE,
    NEEDS_MORE,
    NEWER,
    PACKAGED,
    RESTORES,
    RESTORES_NOTHING,
    TOKEN,
    LaunchedGateway,
    digest_of,
    launch_gateway,
)
from tests.agent.requests import deploy
from tests.agent.rulesets import network, text_of, whole
from tests.agent.test_bundle import AGENT, GROUP, ONE_RIGHT, PYTHON, RIGHTS

RULESET = network(3)


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[LaunchedGateway]:
    with launch_gateway(tmp_path) as gateway:
        yield gateway


def expect_refusal(answer: wire.Reply, words: str) -> None:
    assert isinstance(answer, wire.Refused), answer
    assert words in answer.text


def expect_former(gateway: LaunchedGateway, tried: bytes, problem: str) -> None:
    told = gateway.read()
    assert (told.runs, told.trial, told.failed) == (digest_of(PACKAGED), "", digest_of(tried))
    assert problem in told.problem


def test_a_confirmed_program_runs_and_runs_after_each_restart(agent: LaunchedGateway) -> None:
    agent.try_out(NEWER)
    assert agent.read().runs == agent.read().trial == digest_of(NEWER)
    assert isinstance(agent.keep(NEWER), ProgramIs)
    for _ in range(2):
        told = agent.read()
        assert (told.runs, told.trial, told.packaged, told.problem) == (digest_of(NEWER), "", digest_of(PACKAGED), "")
        agent.kill()


def test_it_says_its_own_version(agent: LaunchedGateway) -> None:
    before = agent.ask(wire.Hello(clock()))
    agent.try_out(NEWER)
    after = agent.ask(wire.Hello(clock()))
    assert isinstance(before, wire.Welcome)
    assert isinstance(after, wire.Welcome)
    assert before.agent != after.agent


def test_the_ruleset_on_the_disk_is_there_for_the_new_program(agent: LaunchedGateway) -> None:
    deploy(agent, whole(RULESET, token=TOKEN, now=clock()))
    agent.try_out(NEWER)
    agent.keep(NEWER)
    welcome = agent.ask(wire.Hello(clock()))
    assert isinstance(welcome, wire.Welcome)
    assert welcome.confirmed == text_of(RULESET)


def test_without_confirmation_the_program_before_comes_back(agent: LaunchedGateway) -> None:
    agent.try_out(NEWER, within=4, until="was given up")
    agent.await_line("listening at")
    expect_former(agent, NEWER, "within 4 s")


@pytest.mark.parametrize(
    ("program", "within", "problem"),
    [
        pytest.param(CRASHES, LONG, "it ended with status 3", id="crashes"),
        pytest.param(MUTE, 3, "within 3 s", id="does not listen"),
        pytest.param(NEEDS_MORE, LONG, "No module named 'django'", id="needs more than the standard library"),
    ],
)
def test_a_program_that_does_not_work_is_given_up(agent: LaunchedGateway, program: bytes, within: int, problem: str) -> None:
    agent.try_out(program, within, until="was given up")
    agent.await_line("listening at")
    expect_former(agent, program, problem)


TELLS_TIMES = """
import json, os, sys, time
is_check = "self-check" in sys.argv
told = time.monotonic() if is_check else json.loads(os.environ["NETZWART_LAUNCH"])["ends"]
open({path!r}, "a").write(f"{{told}} ")
"""


def test_the_time_of_a_trial_begins_again_when_the_program_starts_after_its_self_check(tmp_path: Path) -> None:
    package, allowed_by, times = (tmp_path / name for name in ("netzwart-agent.pyz", "allow-upgrades", "times"))
    package.write_bytes(PACKAGED)
    allowed_by.touch()
    program = TELLS_TIMES.format(path=str(times)).encode()
    store = ProgramStore(tmp_path / PROGRAMS)
    store.add(digest_of(program), program)
    store.write(ProgramChoice(digest_of(PACKAGED), trial=ProgramTrial(digest_of(program), LONG, read_boot_id())))
    options = ["--state", str(tmp_path), "--allowed-by", str(allowed_by)]
    subprocess.run([sys.executable, str(package), "launch", *options, "serve"], check=False)
    checked, ends = map(float, times.read_text().split())
    assert ends - checked >= LONG


def test_a_power_cut_between_any_two_steps_leaves_the_program_before_or_the_confirmed_one(agent: LaunchedGateway) -> None:
    agent.kill()
    assert isinstance(agent.store(NEWER), ProgramIs)
    agent.kill()
    expect_refusal(agent.ask(TryProgram(TOKEN, digest_of(NEWER), LONG)), "send it first")
    agent.try_out(NEWER)
    agent.kill()
    expect_former(agent, NEWER, "it ended before it was confirmed")
    agent.try_out(NEWER)
    agent.keep(NEWER)
    agent.kill()
    assert agent.read().runs == digest_of(NEWER)


def test_the_portal_can_take_it_back_at_once(agent: LaunchedGateway) -> None:
    agent.try_out(NEWER)
    agent.drop()
    agent.await_line("listening at")
    expect_former(agent, NEWER, "the portal took it back")


def test_a_kept_program_goes_back_to_the_package_through_the_portal_too(agent: LaunchedGateway) -> None:
    agent.try_out(NEWER)
    agent.keep(NEWER)
    agent.try_out(PACKAGED)
    agent.keep(PACKAGED)
    agent.kill()
    assert agent.read().runs == digest_of(PACKAGED)


def test_the_package_wins_as_soon_as_it_is_another_one(agent: LaunchedGateway) -> None:
    agent.try_out(NEWER)
    agent.keep(NEWER)
    agent.package.write_bytes(PACKAGED.replace(b"#!/usr/bin/env python3", b"#!/usr/bin/python3", 1))
    agent.kill()
    told = agent.read()
    assert told.runs == told.packaged not in (digest_of(NEWER), digest_of(PACKAGED))
    assert "installed meanwhile" in told.problem


def test_root_can_forbid_it_afterwards(agent: LaunchedGateway) -> None:
    agent.try_out(NEWER)
    agent.keep(NEWER)
    agent.allowed_by.unlink()
    agent.kill()
    told = agent.read()
    assert (told.runs, told.failed) == (digest_of(PACKAGED), digest_of(NEWER))
    assert "netzwart-join --allow-upgrades" in told.obstacle


def test_a_damaged_file_of_a_kept_program_leads_to_the_package(agent: LaunchedGateway) -> None:
    agent.try_out(NEWER)
    agent.keep(NEWER)
    (agent.state / "programs" / f"{digest_of(NEWER)}.pyz").write_bytes(NEWER[:-1])
    agent.kill()
    assert agent.read().runs == digest_of(PACKAGED)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"packaged": 3}', '{"trial": {"digest": 1}}', "\0" * 50], ids=repr)
def test_a_damaged_choice_leads_to_the_package(agent: LaunchedGateway, text: str) -> None:
    agent.try_out(NEWER)
    agent.keep(NEWER)
    (agent.state / "programs" / "choice").write_text(text)
    agent.kill()
    assert agent.read().runs == digest_of(PACKAGED)


def test_a_choice_of_another_release_may_have_more_fields(agent: LaunchedGateway) -> None:
    agent.try_out(NEWER)
    agent.keep(NEWER)
    path = agent.state / "programs" / "choice"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"later": [1]}))
    agent.kill()
    assert agent.read().runs == digest_of(NEWER)


STORE = StoreProgram(TOKEN, digest_of(NEWER), NEWER)
GARBAGE = b"import os\n" * 100


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        pytest.param(replace(STORE, digest=digest_of(PACKAGED)), "does not have the digest", id="wrong digest"),
        pytest.param(replace(STORE, digest="../../etc/passwd"), "not a SHA-256", id="a path as the digest"),
        pytest.param(StoreProgram(TOKEN, digest_of(GARBAGE), GARBAGE), "not a zip application", id="garbage"),
        pytest.param(replace(STORE, content=bytes(LARGEST_PROGRAM + 1)), "are more than", id="too big"),
        pytest.param(TryProgram(TOKEN, digest_of(NEWER), LONG), "send it first", id="not stored"),
        pytest.param(KeepProgram(TOKEN, digest_of(NEWER)), "not on trial here", id="not on trial"),
    ],
)
def test_what_cannot_be_is_refused(agent: LaunchedGateway, request_: wire.Request, words: str) -> None:
    expect_refusal(agent.ask(request_), words)
    assert agent.read().runs == digest_of(PACKAGED)


def test_a_trial_of_no_or_too_many_seconds_is_refused(agent: LaunchedGateway) -> None:
    agent.store(NEWER)
    for within in (0, 3601):
        expect_refusal(agent.ask(TryProgram(TOKEN, digest_of(NEWER), within)), "is not between 1 and 3600")


def test_a_worker_that_was_replaced_is_refused(agent: LaunchedGateway) -> None:
    agent.ask(wire.Hello(clock(), TOKEN + 1))
    expect_refusal(agent.store(NEWER), "another worker has taken over")


def test_where_it_is_not_allowed_nothing_is_stored(tmp_path: Path) -> None:
    with launch_gateway(tmp_path, allowed=False) as gateway:
        expect_refusal(gateway.store(NEWER), "netzwart-join --allow-upgrades")
        assert not list((tmp_path / "state" / "programs").glob("*.pyz"))


def test_a_ruleset_and_a_program_are_never_on_trial_together(agent: LaunchedGateway) -> None:
    agent.store(NEWER)
    assert isinstance(agent.ask(whole(RULESET, token=TOKEN, now=clock())), wire.Applied)
    expect_refusal(agent.ask(TryProgram(TOKEN, digest_of(NEWER), LONG)), "a ruleset waits to be confirmed")
    agent.ask(wire.Revert(TOKEN))
    agent.try_out(NEWER)
    expect_refusal(agent.ask(whole(RULESET, token=TOKEN, now=clock())), "a program of the agent is on trial")
    agent.keep(NEWER)
    deploy(agent, whole(RULESET, token=TOKEN, now=clock()))


def test_only_the_programs_that_are_needed_stay_on_the_disk(agent: LaunchedGateway) -> None:
    for program in (NEWER, CRASHES, MUTE):
        agent.store(program)
    agent.try_out(NEWER)
    agent.keep(NEWER)
    assert [each.name for each in (agent.state / "programs").glob("*.pyz")] == [f"{digest_of(NEWER)}.pyz"]


def test_at_boot_the_confirmed_program_restores_the_ruleset(agent: LaunchedGateway) -> None:
    agent.try_out(RESTORES)
    agent.keep(RESTORES)
    agent.close()
    done = agent.restore()
    assert (done.returncode, "restored by the kept program" in done.stderr) == (0, True)


def test_at_boot_a_program_on_trial_restores_nothing(agent: LaunchedGateway) -> None:
    agent.try_out(RESTORES)
    agent.close()
    assert "restored by the kept program" not in agent.restore().stderr


@pytest.mark.kernel
def test_at_boot_the_package_restores_if_the_confirmed_program_cannot(agent: LaunchedGateway) -> None:
    deploy(agent, whole(RULESET, token=TOKEN, now=clock()))
    agent.try_out(RESTORES_NOTHING)
    agent.keep(RESTORES_NOTHING)
    agent.close()
    done = agent.restore("unshare", "--net")
    assert (done.returncode, "the package's program tries" in done.stderr) == (0, True), done.stderr
    assert f"{RULESET.count_elements()} elements" in done.stderr


@pytest.mark.kernel
def test_an_account_with_one_right_on_the_systems_python_tries_and_keeps_a_program() -> None:
    def restrict(command: Sequence[str]) -> Sequence[str]:
        return ["setpriv", "--reuid", AGENT, *RIGHTS, *ONE_RIGHT, PYTHON, *command[1:]]

    with TemporaryDirectory(prefix="nw-") as directory:
        os.chown(directory, int(AGENT), int(GROUP))
        with launch_gateway(Path(directory), wrap=restrict) as gateway:
            gateway.try_out(NEWER)
            assert isinstance(gateway.keep(NEWER), ProgramIs)
            gateway.kill()
            assert gateway.read().runs == digest_of(NEWER)
