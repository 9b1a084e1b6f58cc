"""An agent that is started again believes what the one before it has left, if nobody has committed anything meanwhile; else it reads all.

`runs` reads all elements, so it shows whether what was believed is true.
"""

import json
import subprocess
from typing import Any

import pytest

from firewall import wire
from gateway.kernel import KernelTable
from tests.agent.conftest import restrict_to_gateways
from tests.agent.gateways import Served, clock
from tests.agent.namespace import Namespace
from tests.agent.requests import deploy, runs, welcome
from tests.agent.rulesets import ban, network, step, text_of, whole

pytestmark = restrict_to_gateways("served on the kernel")


def has_believed(gateway: Served) -> bool:
    """True if the agent that runs has not read the elements when it started."""
    [line] = [each for each in gateway.log if "the last confirmed ruleset runs" in each]
    return "as they were left" in line


def test_after_an_orderly_end_nothing_is_read_and_all_is_known(gateway: Served) -> None:
    deploy(gateway, whole(network(3), token=1, now=clock()))
    gateway.stop()
    gateway.start()
    assert has_believed(gateway)
    assert welcome(gateway).digest == text_of(network(3)) == runs(gateway)
    deploy(gateway, step(network(3), network(4), token=2, now=clock()))
    gateway.stop()
    gateway.start()
    assert has_believed(gateway) and runs(gateway) == text_of(network(4))


def test_after_a_kill_everything_is_read(gateway: Served) -> None:
    deploy(gateway, whole(network(3), token=1, now=clock()))
    gateway.stop()
    gateway.start()
    deploy(gateway, step(network(3), network(4), token=2, now=clock()))
    gateway.restart()
    assert not has_believed(gateway) and runs(gateway) == text_of(network(4))


@pytest.mark.parametrize("line", ["delete element inet netzwart up4 { 10.1.0.2 }", "flush ruleset", "add table inet other"])
def test_whatever_others_have_committed_meanwhile_is_found(gateway: Served, line: str) -> None:
    deploy(gateway, whole(network(3), token=1, now=clock()))
    gateway.stop()
    gateway.nft(line)
    gateway.start()
    assert not has_believed(gateway) and runs(gateway) == text_of(network(3))


def test_an_agent_whose_table_was_changed_by_hand_leaves_no_word_of_it(gateway: Served) -> None:
    deploy(gateway, whole(network(3), token=1, now=clock()))
    gateway.nft("delete element inet netzwart up4 { 10.1.0.2 }")
    gateway.stop()
    gateway.start()
    assert not has_believed(gateway) and runs(gateway) == text_of(network(3))


def test_a_change_that_was_on_trial_at_the_end_is_taken_back_first(gateway: Served) -> None:
    deploy(gateway, whole(network(3), token=1, now=clock()))
    assert isinstance(gateway.ask(step(network(3), network(4), token=2, now=clock())), wire.Applied)
    gateway.stop()
    gateway.start()
    assert has_believed(gateway) and runs(gateway) == text_of(network(3))


def test_what_ended_meanwhile_is_gone_on_both_sides(gateway: Served) -> None:
    end = clock() + 2
    deploy(gateway, whole(network(1, ban("203.0.113.9/32", "", end), ban("203.0.113.8/32")), token=1, now=clock()))
    gateway.stop()
    while clock() <= end:
        pass
    gateway.start()
    assert has_believed(gateway) and runs(gateway) == text_of(network(1, ban("203.0.113.8/32")))


def test_what_was_restored_at_boot_need_not_be_read_again(gateway: Served) -> None:
    deploy(gateway, whole(network(3), token=1, now=clock()))
    gateway.kill()
    gateway.nft("flush ruleset")
    subprocess.run(gateway.command("restore", "--state", str(gateway.state)), capture_output=True, check=True)
    gateway.start()
    assert has_believed(gateway) and runs(gateway) == text_of(network(3))


def test_another_network_namespace_of_the_same_generation_is_not_taken_for_the_old_one(gateway: Served) -> None:
    deploy(gateway, whole(network(3), token=1, now=clock()))
    gateway.stop()
    [mark, _digest, _ahead] = json.loads((gateway.state / "handover").read_text())
    for verb in ("delete", "add"):
        subprocess.run(["ip", "netns", verb, gateway.space], check=True)
    count_up_to(gateway.space, mark.split()[2])
    gateway.start()
    assert not has_believed(gateway) and runs(gateway) == text_of(network(3))


def count_up_to(space: str, generation: str) -> None:
    """Commit transactions of another table in the new namespace until its ruleset has this generation."""
    inside = Namespace(space)
    table = inside.do(KernelTable)
    while inside.do(table.read_mark).split()[2] != generation:
        subprocess.run(["ip", "netns", "exec", space, "nft", "add table inet other; delete table inet other"], check=True)
    inside.do(table.close)
    inside.close()


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (0, "another boot 4026531840 5"),
        (1, "0" * 32),
        (2, 0.0),
        (2, None),
    ],
)
def test_a_note_of_another_boot_ruleset_or_clock_is_not_believed(gateway: Served, place: int, value: Any) -> None:
    deploy(gateway, whole(network(3), token=1, now=clock()))
    gateway.stop()
    path = gateway.state / "handover"
    note = json.loads(path.read_text())
    note[place] = value
    path.write_text(json.dumps(note))
    gateway.start()
    assert not has_believed(gateway) and runs(gateway) == text_of(network(3))


@pytest.mark.parametrize("octets", [b"", b"\xff{", b"[]", b"{}", b'["mark"]', b"[[[[", b"null"])
def test_a_damaged_note_is_as_none(gateway: Served, octets: bytes) -> None:
    deploy(gateway, whole(network(3), token=1, now=clock()))
    gateway.stop()
    (gateway.state / "handover").write_bytes(octets)
    gateway.start()
    assert not has_believed(gateway) and runs(gateway) == text_of(network(3))
