"""Fetching a gateway's counters, which must not delay a deploy."""

import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread

import pytest
from django.db import connection

from apps.deployments.models import GatewayState
from apps.deployments.services import reconcile
from apps.deployments.transport import agent_channel
from apps.deployments.transport.relay_program import get_socket_path
from apps.gateways.services import collect_counters
from apps.network.models import Gateway
from apps.traffic.models import Collected
from firewall import wire
from tests import factories
from tests.frozen_process import frozen


def test_a_gateway_that_is_read_was_seen(served_network: factories.Network) -> None:
    nat_1, _ = served_network.gateways
    assert collect_counters(nat_1)
    assert GatewayState.objects.get(gateway=nat_1).seen is not None


@pytest.mark.parametrize("said", [b"nonsense\n", b"\xff\xfe\x00\n", b"{}\n", b"[" * 100_000 + b"\n", b"x" * (2 * wire.MAX_LINE), b""])
def test_a_gateway_that_talks_nonsense_too_much_or_nothing_is_named_and_the_other_is_read(
    served_network: factories.Network, said: bytes
) -> None:
    nat_1, nat_2 = served_network.gateways
    agent_channel.close_all_channels()
    get_socket_path(nat_1).unlink()
    with rogue(get_socket_path(nat_1), said):
        assert (collect_counters(nat_1), collect_counters(nat_2)) == (False, True)
        state = GatewayState.objects.get(gateway=nat_1)
        assert state.error and state.unreachable_since is not None
        agent_channel.close_all_channels()
    assert GatewayState.objects.get(gateway=nat_2).unreachable_since is None


def test_a_gateway_that_does_not_answer_has_no_rate(served_network: factories.Network) -> None:
    nat_1, _ = served_network.gateways
    assert collect_counters(nat_1)
    Collected.objects.filter(gateway=nat_1).update(up_bits=7, down_bits=9)
    agent_channel.close_all_channels()
    get_socket_path(nat_1).unlink()
    assert not collect_counters(nat_1)
    assert Collected.objects.filter(gateway=nat_1).values_list("up_bits", "down_bits").get() == (None, None)


def test_the_look_by_schedule_notes_which_gateway_does_not_answer_and_that_it_does_again(served_network: factories.Network) -> None:
    nat_1, nat_2 = served_network.gateways
    reconcile(served_network.group)
    agent_channel.close_all_channels()
    hidden = get_socket_path(nat_1).rename(get_socket_path(nat_1).with_suffix(".hidden"))
    assert reconcile(served_network.group, cause="schedule") is None
    state = GatewayState.objects.get(gateway=nat_1)
    assert state.error and state.unreachable_since is not None
    assert GatewayState.objects.get(gateway=nat_2).unreachable_since is None
    hidden.rename(get_socket_path(nat_1))
    assert reconcile(served_network.group, cause="schedule") is None
    assert GatewayState.objects.get(gateway=nat_1).unreachable_since is None


@contextmanager
def rogue(path: Path, said: bytes) -> Iterator[None]:
    """Listen in place of an agent, answer each connection with these octets and hang up."""

    def answer() -> None:
        while True:
            peer, _ = listener.accept()
            with peer, suppress(OSError):
                peer.recv(1)
                peer.sendall(said)

    def serve() -> None:
        with suppress(OSError):
            answer()

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        thread = Thread(target=serve)
        thread.start()
        try:
            yield
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def test_a_change_does_not_wait_for_a_reading_that_is_under_way(served_network: factories.Network) -> None:
    nat_1, _ = served_network.gateways
    assert collect_counters(nat_1)
    collecting = agent_channel.get_readings_channel(nat_1).relay_pid
    assert collecting
    with ThreadPoolExecutor(1) as thread, frozen(collecting):  # so that its answer does not come
        reading = thread.submit(_collect, nat_1)
        rollout = reconcile(served_network.group)
        assert rollout
        assert rollout.state == rollout.State.CONFIRMED
        assert isinstance(agent_channel.get_channel(nat_1).ask(wire.Hello(0)), wire.Welcome)
        assert not reading.done()
    assert reading.result()


def _collect(gateway: Gateway) -> bool:
    try:
        return collect_counters(gateway)
    finally:
        connection.close()
