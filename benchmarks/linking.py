"""link: reaching a gateway by a real sshd in the lab: a new session, a message over the open one, a knock."""

import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from ipaddress import ip_address
from pathlib import Path
from statistics import median, quantiles

from benchmarks.baselines import PYTHON
from benchmarks.disturbance import measure_python_seconds
from benchmarks.figures import Figure

SESSIONS, MESSAGES, KNOCKS = 20, 1000, 100


def run(members: int) -> Iterator[Figure]:
    """Yield medians, and the 99th percentile of frequent operations. The network's size has no influence."""
    del members
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    os.environ.setdefault("NETZWART_SECRET_KEY", "benchmark only")
    import django

    django.setup()
    from django.conf import settings

    with tempfile.TemporaryDirectory(prefix="nw-") as directory:
        settings.SSH_KEY, settings.SSH_KNOWN_HOSTS = Path(directory, "id_ed25519"), Path(directory, "known_hosts.d")
        yield from _measure_link(Path(directory))


def _measure_link(directory: Path) -> Iterator[Figure]:
    from apps.deployments.transport import agent_channel, ssh
    from apps.network.models import Gateway
    from firewall import wire
    from lab.lab import Lab
    from lab.sshd import ensure_host_key
    from lab.topology import load_topology
    from tests.whole.system import agent, inside, sshd

    hello = wire.Hello(int(time.time()))
    with (
        Lab.start(load_topology()) as lab,
        agent(lab, "nat-1", directory, shared=True),
        sshd(lab, "nat-1", directory),
        inside(lab, "portal"),
    ):
        address, key = (
            ip_address(lab.topology.get_node("nat-1").list_ip_addresses(4, "management")[0]),
            ensure_host_key(directory / "nat-1.sshd"),
        )
        # without a row of its own, no database is asked for the port
        gateway = Gateway(name="nat-1", link=Gateway.Link.SSH, address=address, host_key=key)

        def session() -> None:
            with agent_channel.open_session(gateway) as channel:
                channel.ask(hello)

        def bare() -> None:
            subprocess.run(
                ssh.build_arguments(gateway, gateway.management_port), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True
            )

        sessions, alone = _measure_times(session, SESSIONS), _measure_times(bare, SESSIONS)
        yield Figure("new_session_ms", median(sessions), "ms", "<= 500", median(alone), "ssh alone", "<= 1.5")
        kept = agent_channel.get_channel(gateway)
        kept.ask(hello)
        messages = _measure_times(lambda: kept.ask(hello), MESSAGES)
        agent_channel.close_all_channels()
        python = median(measure_python_seconds() * 1000 for _ in range(SESSIONS))
        yield Figure("message_ms", median(messages), "ms", None, python, PYTHON)
        yield Figure("message_p99_ms", quantiles(messages, n=100)[98], "ms")
        knocks = [agent_channel.measure_connect(gateway) for _ in range(KNOCKS)]
        yield Figure("knock_ms", median(knocks), "ms", None, median(alone), "ssh alone")
        yield Figure("knock_p99_ms", quantiles(knocks, n=100)[98], "ms")


def _measure_times(work: Callable[[], object], count: int) -> list[float]:
    """Return the milliseconds of each of `count` calls."""
    found = []
    for _ in range(count):
        start = time.perf_counter()
        work()
        found.append((time.perf_counter() - start) * 1000)
    return found
