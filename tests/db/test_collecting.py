"""Fetching a gateway's counters, and what may not wait for it."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor

from django.db import connection

from apps.deployments import link
from apps.deployments.models import GatewayState
from apps.deployments.services import reconcile
from apps.gateways.services import collect
from apps.network.models import Gateway
from firewall import wire
from tests import rows


def test_a_gateway_that_is_read_was_seen(served: rows.Network) -> None:
    nat_1, _ = served.gateways
    assert collect(nat_1)
    assert GatewayState.objects.get(gateway=nat_1).seen is not None


def test_a_change_does_not_wait_for_a_reading_that_is_under_way(served: rows.Network) -> None:
    nat_1, _ = served.gateways
    assert collect(nat_1)
    collecting = link.readings_channel(nat_1).relay_pid
    assert collecting
    os.kill(collecting, signal.SIGSTOP)  # its answer does not come
    with ThreadPoolExecutor(1) as thread:
        reading = thread.submit(_collect, nat_1)
        try:
            rollout = reconcile(served.group)
            assert rollout
            assert rollout.state == rollout.State.CONFIRMED
            assert isinstance(link.channel(nat_1).ask(wire.Hello(0)), wire.Welcome)
            assert not reading.done()
        finally:
            os.kill(collecting, signal.SIGCONT)
    assert reading.result()


def _collect(gateway: Gateway) -> bool:
    try:
        return collect(gateway)
    finally:
        connection.close()
