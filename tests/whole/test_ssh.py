"""The link by ssh, with a real sshd in each gateway's node."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from subprocess import Popen

import pytest
from django.conf import LazySettings

from apps.deployments.models import GatewayState, HeldBack, Revision, Rollout, RolloutStep
from apps.deployments.rollouts.decisions import approve_part
from apps.deployments.services import reconcile
from apps.deployments.transport import agent_channel, ssh
from apps.gateways import replacement
from apps.nat.services import add_forward
from apps.network.models import Gateway
from firewall import wire
from lab.lab import Lab
from portal.stack.sshd import ensure_portal_key
from tests import factories
from tests.whole.system import agent, must_reach, sshd, wait_for

pytestmark = [pytest.mark.kernel, pytest.mark.xdist_group("whole")]

HELLO = wire.Hello(0)
DEAF = "add table inet deaf; add chain inet deaf input { type filter hook input priority -500; policy drop; }"
MAIL = """
import socket
listener = socket.create_server(("", 7022))
print("ready", flush=True)
connection, _ = listener.accept()
connection.sendall(b"220 mail.example ESMTP\\r\\n")
"""


def answers(channel: agent_channel.AgentChannel) -> bool:
    try:
        return isinstance(channel.ask(HELLO), wire.Welcome)
    except agent_channel.Unreachable:
        return False


def logins(sockets: Path) -> int:
    """Return how many sessions the portal's key has opened with nat-1."""
    return (sockets / "nat-1.sshd.log").read_text().count("Accepted publickey")


def peers(lab: Lab, sockets: Path) -> set[str]:
    """Return the connections of nat-1's agent, by the kernel's numbers."""
    command = ["ss", "-xH", "state", "connected", "src", str(sockets / "nat-1.sock")]
    return {line.split()[5] for line in lab.run("nat-1", command).stdout.splitlines()}


def test_a_rollout_over_ssh_lets_packets_through(bare_lab: Lab, ssh_network: factories.Network) -> None:
    holding = ssh_network.residents["m1"].holding
    add_forward(holding=holding, public=factories.PUBLIC, protocol="tcp", public_port=8443, private_port=443, by=ssh_network.admin)
    rollout = reconcile(ssh_network.group)
    assert rollout is not None
    assert rollout.state == Rollout.State.CONFIRMED, rollout.error
    must_reach(bare_lab, "internet", str(factories.PUBLIC), 8443)
    with agent_channel.open_session(ssh_network.gateways[0]) as channel:
        assert answers(channel), "a new session gets in after the ruleset was loaded"


def test_a_channel_stays_open_from_question_to_question(ssh_network: factories.Network) -> None:
    channel = agent_channel.get_channel(ssh_network.gateways[0])
    assert answers(channel)
    relay = channel.relay_pid
    assert relay is not None
    assert all(answers(channel) for _ in range(20))
    assert channel.relay_pid == relay


def test_a_fresh_channel_is_a_new_session_that_ends_with_it(bare_lab: Lab, ssh_network: factories.Network, sockets: Path) -> None:
    kept = agent_channel.get_channel(ssh_network.gateways[0])
    assert answers(kept)
    before = peers(bare_lab, sockets)
    with agent_channel.open_session(ssh_network.gateways[0]) as channel:
        assert answers(channel)
        assert channel.relay_pid != kept.relay_pid
        assert len(peers(bare_lab, sockets) - before) == 1, "the agent has one more peer"
        assert logins(sockets) == 2
    wait_for(lambda: peers(bare_lab, sockets) == before)
    assert answers(kept)
    assert logins(sockets) == 2


def test_the_account_has_no_rights_and_gets_the_relay_whatever_it_asks_for(ssh_network: factories.Network, sockets: Path) -> None:
    gateway = ssh_network.gateways[0]
    ssh.write_known_hosts(gateway.host_key)
    request = b"".join(wire.iter_lines(1, HELLO))
    done = subprocess.run(
        [*ssh.build_arguments(gateway, 22), "id; nft flush ruleset"], input=request, capture_output=True, check=True, timeout=20
    )
    answer = wire.Assembler().feed(done.stdout.strip())
    assert answer is not None
    assert isinstance(wire.parse_reply(answer[1]), wire.Welcome)
    assert b"uid=" not in done.stdout + done.stderr
    assert (sockets / "nat-1.sock").stat().st_mode & 0o007 == 0, "it is in the group of the agent's socket, not root"
    assert "Accepted publickey for netzwart" in (sockets / "nat-1.sshd.log").read_text()


def test_another_host_key_is_refused_with_both_fingerprints(ssh_network: factories.Network) -> None:
    nat_1, nat_2 = ssh_network.gateways
    found, expected = ssh.compute_fingerprint(nat_1.host_key), ssh.compute_fingerprint(nat_2.host_key)
    nat_1.host_key = nat_2.host_key
    with (
        agent_channel.open_session(nat_1) as channel,
        pytest.raises(agent_channel.Unreachable, match="the host key has changed") as refused,
    ):
        channel.ask(HELLO)
    assert f"expected {expected}, found {found}" in str(refused.value)


def test_a_key_that_the_gateway_does_not_know_is_refused_with_what_to_do(
    ssh_network: factories.Network, sockets: Path, settings: LazySettings
) -> None:
    settings.SSH_KEY = sockets / "other" / "id_ed25519"
    settings.SSH_KEY.parent.mkdir()
    ensure_portal_key(settings.SSH_KEY)
    with (
        agent_channel.open_session(ssh_network.gateways[0]) as channel,
        pytest.raises(agent_channel.Unreachable, match="does not accept the portal's key"),
    ):
        channel.ask(HELLO)


def test_when_ssh_is_killed_the_next_question_opens_a_new_session(ssh_network: factories.Network) -> None:
    channel = agent_channel.get_channel(ssh_network.gateways[0])
    assert answers(channel)
    killed = channel.relay_pid
    assert killed is not None
    os.kill(killed, signal.SIGKILL)
    assert answers(channel)
    assert channel.relay_pid not in (None, killed)


def test_while_sshd_is_gone_questions_fail_at_once_and_when_it_is_back_they_are_answered(
    bare_lab: Lab, ssh_network: factories.Network, by_ssh: dict[str, Popen[str]], sockets: Path
) -> None:
    by_ssh["nat-1"].terminate()
    by_ssh["nat-1"].wait(10)
    channel = agent_channel.get_channel(ssh_network.gateways[0])
    with pytest.raises(agent_channel.Unreachable, match=r"Connection refused$"):
        channel.ask(HELLO)
    with pytest.raises(
        agent_channel.Unreachable, match=r"Connection refused \(so since \d\d:\d\d:\d\d, the next try is at \d\d:\d\d:\d\d\)"
    ):
        channel.ask(HELLO)
    assert answers(agent_channel.get_channel(ssh_network.gateways[1])), "the other gateway is none the wiser"
    with sshd(bare_lab, "nat-1", sockets):
        wait_for(lambda: answers(channel))


def test_a_persons_word_asks_at_once(bare_lab: Lab, ssh_network: factories.Network, by_ssh: dict[str, Popen[str]], sockets: Path) -> None:
    by_ssh["nat-1"].terminate()
    by_ssh["nat-1"].wait(10)
    channel = agent_channel.get_channel(ssh_network.gateways[0])
    for _ in range(5):
        channel.reset_backoff()
        assert not answers(channel)
    with sshd(bare_lab, "nat-1", sockets):
        channel.reset_backoff()
        assert answers(channel)


def test_a_gateway_that_falls_silent_is_waited_for_no_longer_than_asked(bare_lab: Lab, ssh_network: factories.Network) -> None:
    channel = agent_channel.get_channel(ssh_network.gateways[0])
    assert answers(channel)
    bare_lab.run("nat-1", ["nft", DEAF])
    with pytest.raises(agent_channel.Unreachable, match="no answer within"):
        channel.ask(HELLO, patience=0.2)
    with pytest.raises(agent_channel.Unreachable, match="no answer to a new connection within"):
        agent_channel.measure_connect(ssh_network.gateways[0], limit=0.1)
    bare_lab.run("nat-1", ["nft", "delete table inet deaf"])
    wait_for(lambda: answers(channel))


def test_a_knock_hears_sshd_over_a_new_connection_or_says_why_not(ssh_network: factories.Network, by_ssh: dict[str, Popen[str]]) -> None:
    gateway = ssh_network.gateways[0]
    assert 0 < agent_channel.measure_connect(gateway) < agent_channel.KNOCK * 1000
    by_ssh["nat-1"].terminate()
    by_ssh["nat-1"].wait(10)
    with pytest.raises(agent_channel.Unreachable, match="a new connection failed: Connection refused"):
        agent_channel.measure_connect(gateway)


def test_a_knock_is_not_answered_by_something_else(bare_lab: Lab, ssh_network: factories.Network) -> None:
    gateway = ssh_network.gateways[0]
    with bare_lab.popen("nat-1", [sys.executable, "-S", "-c", MAIL]) as other:
        assert other.stdout and other.stdout.readline() == "ready\n"
        gateway.management_port = 7022
        with pytest.raises(agent_channel.Unreachable, match="the program that answers at port 7022 is not sshd"):
            agent_channel.measure_connect(gateway)


def test_agents_of_this_machine_are_knocked_at_by_their_socket(network: factories.Network, bare_lab: Lab, sockets: Path) -> None:
    gateway = network.gateways[0]
    with agent(bare_lab, "nat-1", sockets):
        assert agent_channel.measure_connect(gateway) > 0
        with agent_channel.open_session(gateway) as one, agent_channel.open_session(gateway) as other:
            assert answers(one) and answers(other)
            assert one.relay_pid != other.relay_pid
    with pytest.raises(agent_channel.Unreachable, match="a new connection failed"):
        agent_channel.measure_connect(gateway)


# --- A changed port


def change_port(network: factories.Network, port: int) -> Gateway:
    """Let nat-1's sshd be expected at this port, as its page does, and return its row."""
    with factories.written_by(network.admin):
        Gateway.objects.filter(name="nat-1").update(management_port=port)
    return Gateway.objects.get(name="nat-1")


def approve(network: factories.Network) -> Rollout:
    """Approve what waits, and return the rollout that brings it."""
    held = HeldBack.objects.get(state=HeldBack.State.WAITING)
    approve_part(held, digest=held.digest, by=factories.user("jonas"), signed_in_again=False)
    rollout = reconcile(network.group)
    assert rollout is not None
    return rollout


def list_states(rollout: Rollout) -> dict[str, str]:
    return {step.gateway.name: step.state for step in rollout.steps.all()}


def used_port(gateway: Gateway) -> int:
    """Return the port of the kept channel, after it was used."""
    channel = agent_channel.get_channel(gateway)
    assert answers(channel)
    return channel.way.sshd[1]


def test_a_saved_port_is_used_once_the_gateway_has_confirmed_it(bare_lab: Lab, ssh_network: factories.Network, sockets: Path) -> None:
    network = ssh_network
    reconcile(network.group)
    kept = agent_channel.get_channel(network.gateways[0]).relay_pid
    gateway = change_port(network, 2222)
    reconcile(network.group)
    assert HeldBack.objects.get().text == "nat-1: port: 22 -> 2222"
    assert (used_port(gateway), agent_channel.get_channel(gateway).relay_pid) == (22, kept), "the session that is open stays"
    assert agent_channel.measure_connect(gateway) > 0
    with agent_channel.open_session(gateway) as channel:
        assert answers(channel), "a new session gets in at the confirmed port"
    holding = network.residents["m1"].holding
    add_forward(holding=holding, public=factories.PUBLIC, protocol="tcp", public_port=8443, private_port=443, by=network.admin)
    other = reconcile(network.group)
    assert other and list_states(other) == {"nat-1": "confirmed", "nat-2": "confirmed"}, "other changes go on"
    with sshd(bare_lab, "nat-1", sockets, port=2222):
        assert list_states(approve(network)) == {"nat-1": "confirmed", "nat-2": "confirmed"}
        assert used_port(gateway) == 2222
        assert agent_channel.measure_connect(gateway) > 0
        with pytest.raises(agent_channel.Unreachable), agent_channel.open_session(gateway, 22) as channel:
            channel.ask(HELLO, patience=0.5)


def test_a_port_at_which_no_sshd_answers_is_taken_back_and_the_gateway_stays_reachable(
    bare_lab: Lab, ssh_network: factories.Network, sockets: Path
) -> None:
    network = ssh_network
    reconcile(network.group)
    gateway = change_port(network, 2222)
    reconcile(network.group)
    tried = list_states(approve(network))
    assert tried["nat-1"] in ("went_back", "lost")
    wait_for(lambda: answers(agent_channel.get_channel(gateway)))
    agent_channel.close_all_channels()
    assert used_port(gateway) == 22
    with sshd(bare_lab, "nat-1", sockets, port=2222):
        again = reconcile(network.group, force=True)
        assert again is not None
        assert again.state == Rollout.State.CONFIRMED, again.error
        assert used_port(gateway) == 2222


def test_a_port_whose_confirmation_got_lost_is_found_whatever_was_entered_since(
    bare_lab: Lab, ssh_network: factories.Network, sockets: Path
) -> None:
    network = ssh_network
    reconcile(network.group)
    before = Revision.objects.get()
    gateway = change_port(network, 2222)
    reconcile(network.group)
    with sshd(bare_lab, "nat-1", sockets, port=2222):
        rollout = approve(network)
        assert rollout.state == Rollout.State.CONFIRMED, rollout.error
        GatewayState.objects.filter(gateway=gateway).update(revision=before)
        RolloutStep.objects.filter(rollout=rollout, gateway=gateway).update(state=RolloutStep.State.LOST)
        gateway = change_port(network, 22)
        agent_channel.close_all_channels()
        assert used_port(gateway) == 2222


def test_a_gateway_that_answers_at_none_of_its_ports_is_named_with_them(
    ssh_network: factories.Network, by_ssh: dict[str, Popen[str]]
) -> None:
    reconcile(ssh_network.group)
    agent_channel.close_all_channels()
    gateway = change_port(ssh_network, 2222)
    by_ssh["nat-1"].terminate()
    by_ssh["nat-1"].wait(10)
    words = "sshd answers at none of the ports 22, 2222; at port 22: a new connection failed: Connection refused"
    with pytest.raises(agent_channel.Unreachable, match=words):
        agent_channel.get_channel(gateway).ask(HELLO)


def test_another_machine_with_another_port_gets_the_whole_ruleset_without_an_approval(
    bare_lab: Lab, ssh_network: factories.Network, by_ssh: dict[str, Popen[str]], sockets: Path
) -> None:
    network = ssh_network
    reconcile(network.group)
    by_ssh["nat-1"].terminate()
    by_ssh["nat-1"].wait(10)
    agent_channel.close_all_channels()
    bare_lab.run("nat-1", ["nft", "delete", "table", "inet", "netzwart"])
    gateway = Gateway.objects.get(name="nat-1")
    with sshd(bare_lab, "nat-1", sockets, port=2222):
        replacement.replace_machine(gateway=gateway, version=gateway.version, host_key=gateway.host_key, port=2222)
        rollout = reconcile(network.group)
        assert rollout and rollout.state == Rollout.State.CONFIRMED, rollout
        assert not HeldBack.objects.exists() and used_port(gateway) == 2222
