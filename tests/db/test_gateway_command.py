"""manage.py gateway without a gateway to reach: what it refuses, and with which words."""

import io
import socket
import stat
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction

from apps.network.models import Gateway, GatewayGroup
from tests import factories

pytestmark = pytest.mark.django_db

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + "A" * 43
INTERFACES = ("--lan", "lan0", "--wan", "wan0", "--management", "mgmt0")


@pytest.fixture(autouse=True)
def _keys(settings: LazySettings, tmp_path: Path) -> None:
    settings.SSH_KEY, settings.SSH_KNOWN_HOSTS = tmp_path / "ssh" / "id_ed25519", tmp_path / "ssh" / "known_hosts.d"


@pytest.fixture
def closed_port() -> str:
    """A port of 127.0.0.1 on which no process listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def gateway(*arguments: str) -> str:
    """Return what the command prints."""
    output = io.StringIO()
    call_command("gateway", *arguments, stdout=output, stderr=io.StringIO())
    return output.getvalue()


def test_a_name_that_is_taken_is_refused_with_its_holder(network: factories.Network) -> None:
    with pytest.raises(CommandError, match="The name nat-1 is taken by a gateway of Lindenhof"):
        gateway("add", "nat-1", "--address", "127.0.0.1", "--group", "Lindenhof", *INTERFACES)


@pytest.mark.parametrize("name", ["Nat-1", "nat 1", "-nat", "nat/1", "nat;reboot", ""])
def test_a_name_that_is_none_is_refused(network: factories.Network, name: str) -> None:
    with pytest.raises(CommandError, match=r"is not a valid gateway name|expected one argument|required"):
        gateway("add", "--address", "127.0.0.1", "--group", "Lindenhof", *INTERFACES, "--", name)


def test_a_group_that_is_not_there_is_refused_with_those_that_are(network: factories.Network) -> None:
    with pytest.raises(CommandError, match=r"There is no group Elsewhere\. Groups: Lindenhof\."):
        gateway("add", "nat-3", "--address", "127.0.0.1", "--group", "Elsewhere", *INTERFACES)


def test_where_nobody_answers_nothing_is_added(network: factories.Network, closed_port: str) -> None:
    with pytest.raises(CommandError, match=rf"no ssh-ed25519 host key came from 127\.0\.0\.1, port {closed_port}"):
        gateway("add", "nat-3", "--address", "127.0.0.1", "--port", closed_port, "--group", "Lindenhof", *INTERFACES)
    assert not Gateway.objects.filter(name="nat-3").exists()


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--address", "nat-3.example", "is not an IP address"),
        ("--port", "0", "is not a port"),
        ("--management-network", "172.31.0.1/24", "is not a network"),
    ],
)
def test_what_is_no_address_port_or_network_is_refused_by_name(network: factories.Network, option: str, value: str, words: str) -> None:
    with pytest.raises(CommandError, match=words):
        gateway("add", "nat-3", "--address", "127.0.0.1", "--group", "Lindenhof", *INTERFACES, option, value)


def test_a_gateway_that_is_not_there_cannot_be_checked_or_trusted(network: factories.Network) -> None:
    for what in ("check", "trust"):
        with pytest.raises(CommandError, match="Unknown gateway 'nat-9'"):
            gateway(what, "nat-9")


def test_a_gateway_that_does_not_answer_fails_the_check_with_the_reason(network: factories.Network, closed_port: str) -> None:
    Gateway.objects.filter(name="nat-1").update(link="ssh", address="127.0.0.1", host_key=KEY, management_port=closed_port)
    with pytest.raises(CommandError, match="nat-1: a new connection failed: Connection refused"):
        gateway("check", "nat-1")


def test_a_gateway_without_ssh_has_no_host_key_to_trust(network: factories.Network) -> None:
    with pytest.raises(CommandError, match="nat-1 is not reached by ssh"):
        gateway("trust", "nat-1")


def test_the_portals_key_is_made_once_and_opens_only_the_relay(settings: LazySettings) -> None:
    first = gateway("key")
    assert first == gateway("key")
    assert first.startswith('restrict,command="/usr/bin/python3 /usr/lib/netzwart/netzwart-agent.pyz relay --socket /run/netzwart/agent" ')
    assert "ssh-ed25519 AAAA" in first
    assert stat.S_IMODE(settings.SSH_KEY.stat().st_mode) == 0o600
    assert [file.name for file in settings.SSH_KEY.parent.iterdir()] == ["id_ed25519"]


def test_the_list_shows_how_each_gateway_is_reached(network: factories.Network) -> None:
    Gateway.objects.filter(name="nat-1").update(link="ssh", address="172.31.0.11", host_key=KEY)
    one, other = gateway("list").splitlines()
    assert one.startswith("Lindenhof  nat-1  ssh  netzwart@172.31.0.11 port 22 SHA256:")
    assert other == "Lindenhof  nat-2  in memory on this machine"


def test_the_list_says_when_there_is_none() -> None:
    assert "gateway add" in gateway("list")


@pytest.mark.parametrize(
    ("changes", "constraint"),
    [
        ({"link": "ssh"}, "gateway_reached_by_ssh"),
        ({"link": "ssh", "address": "172.31.0.11"}, "gateway_reached_by_ssh"),
        ({"link": "ssh", "host_key": KEY}, "gateway_reached_by_ssh"),
        ({"host_key": f"{KEY}\n* {KEY}"}, "gateway_host_key"),
        ({"host_key": "ssh-rsa AAAAB3NzaC1yc2E="}, "gateway_host_key"),
        ({"ssh_user": "-oProxyCommand=reboot"}, "gateway_ssh_user"),
        ({"ssh_user": ""}, "gateway_ssh_user"),
    ],
)
def test_the_database_refuses_a_gateway_that_ssh_could_not_reach(changes: dict[str, str], constraint: str) -> None:
    group = GatewayGroup.objects.create(name="Lindenhof")
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        factories.gateway(group, "nat-1", **changes)


def test_change_sets_what_is_given_and_none_empties_it(network: factories.Network) -> None:
    probe = ("--probe-interface", "probe0", "--probe-source6", "2001:db8:b1::2")
    assert "nat-1 is changed." in gateway("change", "nat-1", *probe, "--management-network", "172.31.0.0/16")
    changed = Gateway.objects.get(name="nat-1")
    assert (changed.probe_interface, str(changed.probe_source6), changed.lan) == ("probe0", "2001:db8:b1::2", "lan0")
    assert list(map(str, changed.management_networks)) == ["172.31.0.0/16"]
    gateway("change", "nat-1", "--probe-interface", "none", "--probe-source6", "none")
    changed.refresh_from_db()
    assert (changed.probe_interface, changed.probe_source6) == ("", None)


def test_change_refuses_what_the_page_refuses(network: factories.Network) -> None:
    with pytest.raises(CommandError, match="Enter the interface that leads to the probe"):
        gateway("change", "nat-1", "--probe-source6", "2001:db8:b1::2")
    with pytest.raises(CommandError, match="Unknown gateway 'nat-7'"):
        gateway("change", "nat-7", "--lan", "eth0")
