"""A purge of the package takes the queues of the uplink away, by the agent's mark, and leaves those of others."""

import subprocess
from collections.abc import Iterator
from uuid import uuid4

import pytest

from tests.agent.gateways import ROOT

pytestmark = pytest.mark.kernel
PASS_ALL = ("bpf", "bytecode", "1,6 0 0 4294967295", "classid", "1:1")


@pytest.fixture
def space(kernel_is_there: str) -> Iterator[str]:
    """Yield a network namespace with the interfaces wan0 and lan0."""
    if kernel_is_there:
        pytest.skip(kernel_is_there)
    name = f"nw-test-{uuid4().hex[:12]}"
    subprocess.run(["ip", "netns", "add", name], check=True)
    run(name, "ip", "link", "add", "wan0", "type", "veth", "peer", "name", "lan0")
    yield name
    subprocess.run(["ip", "netns", "delete", name], check=True)


def run(space: str, *command: str) -> str:
    return subprocess.run(["ip", "netns", "exec", space, *command], check=True, capture_output=True, text=True).stdout


def unshape(space: str) -> None:
    """Run what the purge runs: its other steps would concern this machine."""
    script = (ROOT / "gateway/debian/postrm").read_text()
    function = script[script.index("unshape() {") : script.index("\n}\n") + 3]
    run(space, "sh", "-e", "-c", f"{function}unshape")


def shape(space: str, device: str, handle: str, priority: str) -> None:
    """Set a queue and a filter of arriving packets. CAKE is not in every kernel; a purge goes by the handle alone."""
    run(space, "tc", "qdisc", "add", "dev", device, "root", "handle", handle, "pfifo")
    run(space, "tc", "qdisc", "replace", "dev", device, "clsact")
    run(space, "tc", "filter", "add", "dev", device, "ingress", "protocol", "all", "prio", priority, *PASS_ALL)


def test_a_purge_takes_queues_redirection_and_device_away(space: str) -> None:
    before = run(space, "tc", "qdisc", "show")
    shape(space, "wan0", "4e57:", "20055")
    run(space, "ip", "link", "add", "netzwart-down", "type", "ifb")
    unshape(space)
    assert run(space, "tc", "qdisc", "show") == before
    assert "netzwart-down" not in run(space, "ip", "link", "show")


def test_a_purge_leaves_the_queues_and_filters_of_others(space: str) -> None:
    shape(space, "lan0", "1:", "20054")
    shape(space, "wan0", "2:", "20055")
    run(space, "tc", "filter", "add", "dev", "wan0", "ingress", "protocol", "all", "prio", "7", *PASS_ALL)
    unshape(space)
    queues, filters = run(space, "tc", "qdisc", "show"), run(space, "tc", "filter", "show", "dev", "wan0", "ingress")
    assert "pfifo 1: dev lan0 root" in queues and "pfifo 2: dev wan0 root" in queues
    assert queues.count("clsact") == 2
    assert "pref 7 " in filters and "pref 20055 " not in filters
    assert "pref 20054 " in run(space, "tc", "filter", "show", "dev", "lan0", "ingress")
