"""A machine becomes a gateway through a real sshd and the real agent: what an examination finds at each stage."""

import io
import socket
from ipaddress import ip_address
from pathlib import Path
from subprocess import Popen

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command
from django.test import Client

from apps.accounts import tokens
from apps.deployments.models import GatewayState
from apps.deployments.services import reconcile
from apps.gateways.joining import services
from apps.gateways.joining.examination import examine_machine
from apps.gateways.joining.models import JoiningMachine
from apps.gateways.joining.presentation import suggest_for_machine
from apps.network.models import Gateway
from firewall import wire
from lab import sshd as lab_sshd
from tests import factories
from tests.whole.system import wait_for

pytestmark = [pytest.mark.kernel, pytest.mark.xdist_group("whole")]

ADDRESS = ip_address("172.31.0.11")
OTHER_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + "C" * 43


@pytest.fixture
def group(by_ssh: dict[str, Popen[str]], network: factories.Network) -> factories.Network:
    """The network of the lab, whose portal does not know nat-1 yet."""
    Gateway.objects.filter(name="nat-1").delete()
    return network


def begin(network: factories.Network, name: str = "nat-1", port: int = 22) -> JoiningMachine:
    return services.begin_joining(name=name, group=network.group, address=ADDRESS, port=port)


def examine(machine: JoiningMachine) -> JoiningMachine:
    found = examine_machine(machine.pk)
    assert found
    return found


def accept(machine: JoiningMachine) -> JoiningMachine:
    """Accept the key that the machine shows."""
    machine = examine(machine)
    services.accept_host_key(machine=machine, fingerprint_key=machine.seen_key)
    return machine


def test_a_machine_joins_and_gets_its_first_rules(group: factories.Network, sockets: Path) -> None:
    machine = examine(begin(group))
    assert (machine.progress, machine.seen_key) == ("reached", lab_sshd.ensure_host_key(sockets / "nat-1.sshd"))
    assert machine.portal_address == ip_address("172.31.0.1") and machine.portal_key.startswith("ssh-ed25519 AAAA")
    services.accept_host_key(machine=machine, fingerprint_key=machine.seen_key)
    machine = examine(machine)
    assert machine.is_ready, machine.problem
    facts = machine.parse_facts()
    assert facts and {"lan0", "wan0", "mgmt0", "sync0"} <= {each.name for each in facts.interfaces}
    assert facts.nft and abs(machine.clock_offset or 0) <= 1000 + (machine.clock_doubt or 0)
    found = suggest_for_machine(machine, facts)
    assert (found.lan, found.wan, found.management) == ("lan0", "wan0", "mgmt0")
    assert [str(each) for each in found.networks] == ["172.31.0.0/24"]
    made = services.finish_joining(
        machine=machine, lan=found.lan, wan=found.wan, management=found.management, sync="sync0", management_networks=found.networks
    )
    assert GatewayState.objects.get(gateway=made).seen == machine.examined, "its agent has answered already"
    Gateway.objects.filter(name="nat-2").delete()
    reconcile(group=group.group, cause="change")
    assert GatewayState.objects.get(gateway=made).revision is not None


def test_a_machine_joins_by_the_api_alone(group: factories.Network, working: None, sockets: Path) -> None:
    """What the API asks for is looked at by a real worker. The machine itself runs what netzwart-join leaves there."""
    key = tokens.create_token(user=group.admin, name="script", scopes=["joining:write", "gateway:read"])[1]
    api, kind = Client(headers={"authorization": f"Bearer {key}"}), "application/json"
    begun = api.post("/api/gateways/joining/", {"name": "nat-1", "group": group.group.pk, "address": str(ADDRESS)}, kind).json()
    path = f"/api/gateways/joining/{begun['id']}/"
    wait_for(lambda: api.get(path).json()["progress"] == "reached")
    shown = api.get(path).json()
    assert shown["seen_key"] == lab_sshd.ensure_host_key(sockets / "nat-1.sshd")
    assert "netzwart-join nat-1 --from 172.31.0.1 --key" in shown["install_command"]
    assert api.post(f"{path}trust/", {"host_key": shown["seen_key"]}, kind).status_code == 200
    wait_for(lambda: api.get(path).json()["progress"] == "ready")
    ready = api.get(path).json()
    assert {"lan0", "wan0", "mgmt0", "sync0"} <= {each["name"] for each in ready["facts"]["interfaces"]}
    made = api.post(f"{path}finish/", ready["suggestions"] | {"sync": "sync0"}, kind)
    assert made.status_code == 201, made.content
    assert [api.get(made["Location"]).json()[name] for name in ("name", "lan", "wan", "management")] == ["nat-1", "lan0", "wan0", "mgmt0"]
    assert api.get(path).status_code == 404 and not JoiningMachine.objects.exists()


def test_a_machine_that_is_not_there_is_not_reached(group: factories.Network) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    machine = examine(begin(group, port=port))
    assert machine.progress == "unreached" and "Connection refused" in machine.problem
    assert machine.portal_key, "the command can be pasted before the machine is reached"


def test_another_host_key_than_the_compared_one_ends_it_until_a_person_compares(group: factories.Network) -> None:
    machine = accept(begin(group))
    seen = machine.seen_key
    JoiningMachine.objects.update(host_key=OTHER_KEY)
    machine = examine(machine)
    assert (machine.progress, machine.seen_key, machine.facts) == ("changed", seen, None)
    assert "the host key has changed" in machine.problem
    services.accept_host_key(machine=machine, fingerprint_key=seen)
    assert examine(machine).is_ready


def test_a_machine_without_the_portals_line_does_not_accept_its_key(
    group: factories.Network, settings: LazySettings, sockets: Path
) -> None:
    machine = accept(begin(group))
    settings.SSH_KEY = sockets / "renewed"
    found = examine(machine)
    assert (found.progress, found.host_key) == ("refused", machine.seen_key)
    assert found.portal_key != machine.portal_key, "the command carries the key that workers use"


def test_a_machine_whose_agent_does_not_run_is_silent(group: factories.Network, sockets: Path) -> None:
    machine = accept(begin(group))
    (sockets / "nat-1.sock").rename(sockets / "away")
    found = examine(machine)
    assert found.progress == "silent" and "is the agent running?" in found.problem
    (sockets / "away").rename(sockets / "nat-1.sock")
    assert examine(machine).is_ready


def test_an_agent_of_another_name_does_not_fit(group: factories.Network) -> None:
    found = examine(accept(begin(group, "nat-7")))
    assert found.progress == "foreign" and "The agent calls itself nat-1, not nat-7." in found.problem


def test_an_agent_of_another_version_does_not_fit(group: factories.Network, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = accept(begin(group))
    monkeypatch.setattr(wire, "SPOKEN", (wire.VERSION + 1, wire.VERSION + 2))
    found = examine(machine)
    assert found.progress == "foreign" and "bring both to the same release" in found.problem


def test_a_machine_that_was_given_up_is_not_examined(group: factories.Network) -> None:
    machine = accept(begin(group))
    services.give_up(machine=machine)
    assert examine_machine(machine.pk) is None
    assert begin(group).progress == "new", "the name is free again"


def join(*more: str, port: str = "22") -> str:
    """Run the command; return what it prints."""
    output = io.StringIO()
    call_command(
        "gateway", "join", "nat-1", "--address", str(ADDRESS), "--port", port, "--group", "Lindenhof", *more, stdout=output, stderr=output
    )
    return output.getvalue()


def test_the_command_joins_a_machine_and_goes_on_where_it_stopped(group: factories.Network, sockets: Path) -> None:
    with pytest.raises(CommandError, match=r"nat-1 is not reached: .*Connection refused"):
        join(port="9")
    (sockets / "nat-1.sock").rename(sockets / "away")
    with pytest.raises(CommandError, match="is the agent running"):
        join("--yes")
    (sockets / "away").rename(sockets / "nat-1.sock")
    said = join("--sync", "sync0", "--carries", "4")
    assert "nat-1 is a gateway of Lindenhof: lan lan0, wan wan0, management mgmt0, sync sync0." in said
    assert "default route IPv4" in said and "Its ssh will be open only to 172.31.0.0/24." in said
    assert Gateway.objects.get(name="nat-1").carries4 and not JoiningMachine.objects.exists()


def test_the_command_adds_nothing_when_the_fingerprint_is_another(group: factories.Network) -> None:
    with pytest.raises(CommandError, match="The host key differs"):
        join("--fingerprint", "SHA256:" + "A" * 43)
    assert JoiningMachine.objects.get().host_key == "" and not Gateway.objects.filter(name="nat-1").exists()
