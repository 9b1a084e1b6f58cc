"""What the agent costs on this machine, in a network namespace of its own: python -m benchmarks.agent [MEMBERS]

First load against bare `nft -f` of the same elements, one element changed (whole and in parts), counters, reading all.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Network, IPv6Network
from pathlib import Path
from statistics import median

from firewall import digest, wire
from firewall.compile import compile_policy
from firewall.diff import Delta, ElementChange
from firewall.policy import Ban, Forward, Gateway, Interfaces, Management, NatMapping, Policy, Protocol
from firewall.render import render
from firewall.ruleset import PLAIN, Element, Ruleset
from gateway.apply import Agent
from gateway.kernel import Kernel
from gateway.state import State
from gateway.table import Table

NEW = IPv4Address("10.250.0.1").packed


def network(members: int) -> Ruleset:
    """Members with an address, a prefix and a mapping each; 45 % have a forward, and there are 20 % as many bans."""
    gateway = Gateway("gw1", Interfaces("lan", "wan", "mgmt", "sync"), Management((IPv4Network("192.0.2.0/24"),)))
    private = [IPv4Address((10 << 24) + at) for at in range(members)]
    public = [IPv4Address((203 << 24) + at % 250) for at in range(members)]
    policy = Policy(
        gateway,
        tuple(private),
        tuple(IPv6Network(((0x20010DB8 << 96) + (at << 64), 64)) for at in range(members)),
        tuple(map(NatMapping, private, public)),
        tuple(Forward(at, Protocol.TCP, public[at], 1024 + at // 250, private[at], 80) for at in range(members * 45 // 100)),
        tuple(Ban(at, IPv4Network(((198 << 24) + at, 32)), f"seen {at} times" if at % 2 else "") for at in range(members // 5)),
    )
    return compile_policy(policy)


def timed[T](what: str, function: Callable[[], T]) -> T:
    """Call it and print how long it took."""
    start = time.perf_counter()
    result = function()
    print(f"{what:44} {(time.perf_counter() - start) * 1000:10.2f} ms", flush=True)
    return result


def now() -> int:
    """Unix seconds."""
    return int(time.time())


def repeated(what: str, functions: list[Callable[[], object]], rounds: int = 50) -> None:
    """Call them in turn, often, and print the median and the worst of one call."""
    spent = []
    for _ in range(rounds):
        for function in functions:
            start = time.perf_counter()
            function()
            spent.append((time.perf_counter() - start) * 1000)
    print(f"{what:44} {median(spent):10.2f} ms (worst {max(spent):.2f})", flush=True)


def bare(ruleset: Ruleset) -> None:
    """`nft -f` of the same ruleset, in a namespace of its own."""
    with tempfile.NamedTemporaryFile("w", suffix=".nft") as file:
        file.write(render(ruleset, now=now()))
        file.flush()
        timed("bare nft -f", lambda: subprocess.run(["unshare", "-n", "nft", "-f", file.name], check=True))


def delta_of_one(ruleset: Ruleset) -> Delta:
    """One more member."""
    new = {"up4": PLAIN, "down4": PLAIN, "snat4": Element(IPv4Address("203.0.0.9").packed)}
    return Delta(elements={name: ElementChange(ruleset.sets[name], {}, {NEW: element}) for name, element in new.items()})


class Once:
    """Applies and confirms changes on an agent, one after another."""

    def __init__(self, agent: Agent, running: int) -> None:
        self.agent, self.running = agent, running

    def apply(self, delta: Delta) -> None:
        """Apply it."""
        after = digest.update(self.running, delta)
        reply = self.agent.answer(wire.Apply(1, now(), digest.text(self.running), digest.text(after), delta, None))
        assert isinstance(reply, wire.Applied), reply  # noqa: S101  # a benchmark of a refusal would be worthless
        self.running = after

    def apply_and_confirm(self, delta: Delta) -> None:
        """Both."""
        self.apply(delta)
        self.confirm()

    def confirm(self) -> None:
        """Confirm what was applied."""
        reply = self.agent.answer(wire.Confirm(1, digest.text(self.running)))
        assert isinstance(reply, wire.Confirmed), reply  # noqa: S101


def main(members: int) -> None:
    """Measure."""
    ruleset = timed(f"compile {members} members", lambda: network(members))
    print(f"{ruleset.count_elements()} elements")
    bare(ruleset)
    os.unshare(os.CLONE_NEWNET)
    with tempfile.TemporaryDirectory() as directory:
        table: Table = Kernel()
        state = State(Path(directory))
        agent = Agent(table, state, name="gw1", boot="", clock=now)
        agent.start()
        target = digest.digest(ruleset)
        whole = wire.Apply(1, now(), "", digest.text(target), None, ruleset)
        print(timed("first load: apply, with digest and reading back", lambda: agent.answer(whole)))
        once = Once(agent, target)
        timed("first load: confirm, with a checkpoint", once.confirm)
        delta = delta_of_one(ruleset)
        back = delta.inverted()
        repeated("one member: apply", [lambda: once.apply(delta), lambda: once.apply(back)])
        once.confirm()
        repeated("one member: apply and confirm", [lambda: once.apply_and_confirm(delta), lambda: once.apply_and_confirm(back)])
        repeated("  of it: the kernel's transaction", [lambda: table.commit(delta, now()), lambda: table.commit(back, now())])
        repeated("  of it: reading back", [lambda: [table.elements(each.of, [NEW], now()) for each in delta.elements.values()]])
        repeated("  of it: confirming, fsync included", [lambda: state.append([delta], target, now())])
        repeated("  of it: the digest", [lambda: digest.update(target, delta)])
        timed("counters", table.counters)
        timed("counters as a reply", lambda: b"".join(wire.lines(1, agent.answer(wire.Counters()))))
        timed("read everything", lambda: table.read(now()))
        timed("digest of what the kernel holds", lambda: agent.answer(wire.Digest(now())))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
