"""The demo's gateways behind sshd: when it runs, and the line in authorized_keys."""

from pathlib import Path

import pytest

from lab.sshd import ensure_host_key
from portal.stack import commands, sshd
from portal.stack.errors import StackError
from portal.stack.state_paths import StatePaths

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + "A" * 43


def test_the_portals_key_may_relay_to_its_gateway_and_do_nothing_else() -> None:
    line = sshd.render_relay_line("nat-1", KEY)
    assert line.startswith('restrict,command="')
    assert line.endswith(f'/nat-1.sock" {KEY}\n')
    assert line.count("\n") == 1


def test_a_demo_network_that_was_made_without_ssh_stays_without(tmp_path: Path) -> None:
    places = StatePaths.from_directory(tmp_path)
    places.demo.write_text("{}")
    assert sshd.find_obstacle(places, "") == "the demo network was made without it"


def test_one_that_was_made_for_ssh_does_not_start_without(tmp_path: Path) -> None:
    places = StatePaths.from_directory(tmp_path)
    places.demo.write_text("{}")
    places.sshd.mkdir()
    with pytest.raises(StackError, match=r"reached by ssh, which is not possible now: no namespaces\. Use another --var\."):
        sshd.find_obstacle(places, "no namespaces")


def test_without_a_lab_there_is_no_sshd(tmp_path: Path) -> None:
    assert sshd.find_obstacle(StatePaths.from_directory(tmp_path), "no namespaces") == "no namespaces"
    assert not StatePaths.from_directory(tmp_path).sshd.exists()


def test_the_worker_that_reaches_gateways_by_ssh_is_the_same_in_the_portals_node(tmp_path: Path) -> None:
    inside = commands.wrap_program_in_lab(StatePaths.from_directory(tmp_path), commands.build_changes_worker())
    assert inside.command[inside.command.index("--") + 1 :] == commands.build_changes_worker().command
    assert inside.command[inside.command.index("--") - 1] == "portal"
    assert inside.environment == {"NETZWART_LAB_NAME": ""}


def test_keys_are_made_once(tmp_path: Path) -> None:
    assert sshd.ensure_portal_key(tmp_path / "id_ed25519") == sshd.ensure_portal_key(tmp_path / "id_ed25519")
    assert ensure_host_key(tmp_path / "nat-1") == ensure_host_key(tmp_path / "nat-1")
    assert ensure_host_key(tmp_path / "nat-1") != ensure_host_key(tmp_path / "nat-2")
