"""agent: cost of the agent on a gateway: a plan, first load beside bare `nft -f`, one member's and one element's change, counters, start.

One element's change also after another program has changed a table of its own, as fail2ban does for each address; and how long it takes
to tell what somebody has changed by hand in ours.

Each round loads the same elements with bare nft and with the agent, in network namespaces of their own, one after the other; the
ratio is that of the two in one round. A client in a process of its own requests the counters, and goes on changing one member
while they are read. Needs root.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from ipaddress import IPv4Address
from pathlib import Path
from statistics import median

from benchmarks import counting
from benchmarks.baselines import NFT, measure_nft_ms
from benchmarks.figures import Figure
from benchmarks.networks import PRIVATE, build_one_member, build_policy
from firewall import digest, wire
from firewall.compile import compile_change, compile_policy
from firewall.diff import Delta, ElementChange
from firewall.policy import TouchedKeys
from firewall.render import render, render_delta
from firewall.ruleset import PLAIN, Ruleset
from gateway.interpreter import prepare_interpreter
from gateway.kernel import KernelTable
from gateway.operations import Agent
from gateway.persistent_state import StateDirectory

ROUNDS = 3
CHANGES = 50
BY_NFT = 6
OTHERS = 6
LARGE = 100_000  # the goals are set for this size
LIST, SAME = "nft -j list", "the same change by nft -f"


def run(members: int) -> Iterator[Figure]:
    """Yield medians over ROUNDS."""
    ruleset = compile_policy(build_policy(members))
    with tempfile.NamedTemporaryFile("w", suffix=".nft") as script:
        script.write(render(ruleset, now=int(time.time())))
        script.flush()
        rounds = [(_measure_bare(script.name), _run_in_namespace(members)) for _ in range(ROUNDS)]

    def middle(name: str) -> float:
        return median(answer[name] for _, answer in rounds)

    yield Figure("elements", ruleset.count_elements(), "")
    nft = measure_nft_ms()
    listed = middle("nft_json_seconds")
    yield Figure("load_seconds", middle("load_seconds"), "s")
    yield Figure("bare_nft_seconds", median(bare for bare, _ in rounds), "s")
    yield Figure(
        "load_to_bare_nft",
        median(answer["load_seconds"] / bare for bare, answer in rounds),
        "ratio",
        "<= 0.6" if members >= LARGE else None,
    )
    yield Figure("plan_seconds", middle("plan_seconds"), "s", "<= 1" if members >= LARGE else None)
    yield Figure("element_added_ms", middle("element_added_ms"), "ms", "<= 1")
    yield Figure("element_removed_ms", middle("element_removed_ms"), "ms", "<= 1")
    yield Figure("element_beside_others_ms", middle("element_beside_others_ms"), "ms", "<= 2")
    yield Figure("one_member_apply_ms", middle("apply_ms"), "ms", "<= 2", middle("same_by_nft_ms"), SAME, "<= 0.5")
    yield Figure("one_member_confirmed_ms", middle("confirmed_ms"), "ms", None, nft, NFT)
    large = members >= LARGE
    yield Figure(
        "counters_seconds", middle("counters_seconds"), "s", "<= 0.5" if large else None, listed, LIST, "<= 0.1" if large else None
    )
    for name in ("start_seconds", "start_after_kill_seconds", "change_by_hand_seconds"):
        yield Figure(name, middle(name), "s")
    yield Figure("apply_beside_counters_ms", middle("apply_beside_counters_ms"), "ms")
    yield Figure("apply_beside_counters_slowest_ms", max(answer["apply_beside_counters_slowest_ms"] for _, answer in rounds), "ms")
    yield Figure("counters_all_counted_seconds", middle("counters_all_counted_seconds"), "s")
    yield Figure("counters_all_counted_mib", middle("counters_all_counted_mib"), "MiB")


def _measure_bare(script: str) -> float:
    start = time.perf_counter()
    subprocess.run(["unshare", "--net", "nft", "-f", script], check=True)
    return time.perf_counter() - start


def _run_in_namespace(members: int) -> dict[str, float]:
    done = subprocess.run(
        ["unshare", "--net", sys.executable, "-m", "benchmarks.agent", str(members)], capture_output=True, text=True, check=True
    )
    answer: dict[str, float] = json.loads(done.stdout)
    return answer


class PortalStub:
    """The portal's side of the protocol, calling the agent directly instead of over a socket."""

    def __init__(self, directory: Path) -> None:
        self._directory, self._running = directory, 0
        self._start()

    def _start(self) -> None:
        self._table, self._state = KernelTable(), StateDirectory(self._directory)
        self.agent = Agent(self._table, self._state, name="nat-1", boot="", clock=_read_clock)
        self.agent.changes.restore()

    def restart(self, *, in_order: bool) -> None:
        """End the agent, in order or as if it was killed, and start the next one."""
        if in_order:
            self.agent.changes.hand_over()
        self._table.close()
        self._state.close()
        self._start()

    def find_change_by_hand(self) -> None:
        """Ask for the digest, and then for what differs."""
        self._expect(wire.Welcome, wire.Hello(_read_clock()))
        self._expect(wire.Drifted, wire.Drift(_read_clock()))

    def load(self, ruleset: Ruleset, target: int) -> None:
        """Apply a whole ruleset and confirm it."""
        self._expect(wire.Applied, wire.Apply(1, _read_clock(), "", digest.format_digest(target), None, ruleset, 30))
        self._running = target
        self.confirm()

    def plan(self, ruleset: Ruleset) -> None:
        """Plan a whole ruleset."""
        self._expect(wire.Planned, wire.Plan(_read_clock(), ruleset))

    def apply(self, delta: Delta) -> None:
        """Apply a change."""
        after = digest.update_digest(self._running, delta)
        self._expect(
            wire.Applied, wire.Apply(1, _read_clock(), digest.format_digest(self._running), digest.format_digest(after), delta, None, 30)
        )
        self._running = after

    def confirm(self) -> None:
        """Confirm the last apply."""
        self._expect(wire.Confirmed, wire.Confirm(1, digest.format_digest(self._running)))

    def _expect(self, kind: type[wire.Reply], request: wire.Request) -> None:
        answer = self.agent.answer(request)
        if not isinstance(answer, kind):
            raise SystemExit(f"the agent answered {answer}")


def measure(members: int) -> dict[str, float]:
    """Measure one round, in this process and this network namespace."""
    prepare_interpreter()
    ruleset = compile_policy(build_policy(members))
    target = digest.digest_ruleset(ruleset)
    delta = compile_change(ruleset, touched=TouchedKeys(), come=build_one_member(members))
    there_and_back = [delta, delta.invert()] * (CHANGES // 2)
    with tempfile.TemporaryDirectory() as directory:
        portal = PortalStub(Path(directory))
        plan = _measure_seconds(lambda: portal.plan(ruleset))
        load = _measure_seconds(lambda: portal.load(ruleset, target))
        one_element = measure_one_element(portal, ruleset)
        pairs = [(_measure_seconds(lambda each=each: portal.apply(each)), _measure_seconds(portal.confirm)) for each in there_and_back]  # type: ignore[misc]  # a lambda's default has no type
        counters = counting.measure(portal.agent, Path(directory), ruleset, delta)
        listed = _measure_seconds(lambda: counting.list_with_nft(ruleset))
        start_after_kill = _measure_seconds(lambda: portal.restart(in_order=False))
        start = _measure_seconds(lambda: portal.restart(in_order=True))
        subprocess.run(["nft", f"add element inet netzwart up4 {{ {IPv4Address(PRIVATE - 1)} }}"], check=True)
        by_hand = _measure_seconds(portal.find_change_by_hand)
        by_nft = median(_measure_seconds(lambda each=each: _apply_by_nft(each)) for each in there_and_back[:BY_NFT])  # type: ignore[misc]  # as above
    return (
        counters
        | one_element
        | {
            "plan_seconds": plan,
            "nft_json_seconds": listed,
            "same_by_nft_ms": by_nft * 1000,
            "load_seconds": load,
            "apply_ms": median(apply for apply, _ in pairs) * 1000,
            "confirmed_ms": median(map(sum, pairs)) * 1000,
            "start_seconds": start,
            "start_after_kill_seconds": start_after_kill,
            "change_by_hand_seconds": by_hand,
        }
    )


def measure_one_element(portal: PortalStub, ruleset: Ruleset) -> dict[str, float]:
    """Measure the commit of one element of a counted set that enters, and leaves again; its last count is read then."""
    of, key = ruleset.sets["up4"], (PRIVATE - 1).to_bytes(4)
    delta = Delta(elements={of.name: ElementChange(of, {}, {key: PLAIN})})
    found: dict[str, list[float]] = {"element_added_ms": [], "element_removed_ms": []}
    for name, each in list(zip(found, (delta, delta.invert()), strict=True)) * CHANGES:
        found[name].append(_measure_seconds(lambda each=each: portal.apply(each)) * 1000)  # type: ignore[misc]  # a lambda's default has no type
        portal.confirm()
    beside = [_measure_beside_others(portal, each) for each in (delta, delta.invert()) * (OTHERS // 2)]
    return {name: median(times) for name, times in found.items()} | {"element_beside_others_ms": median(beside)}


def _measure_beside_others(portal: PortalStub, delta: Delta) -> float:
    """Return the milliseconds of a commit after another program has changed a table of its own."""
    subprocess.run(["nft", "add table inet other; delete table inet other"], check=True)
    took = _measure_seconds(lambda: portal.apply(delta)) * 1000
    portal.confirm()
    return took


def _apply_by_nft(delta: Delta) -> None:
    """Make the change as an administrator without an agent does.

    The agent cannot be used afterwards: its table has changed without it.
    """
    subprocess.run(["nft", "-f", "-"], input=render_delta(delta, now=time.time()), text=True, check=True)


def _measure_seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _read_clock() -> int:
    return int(time.time())


if __name__ == "__main__":
    if os.geteuid():
        raise SystemExit("benchmarks.agent needs root for a network namespace and nftables")
    print(json.dumps(measure(int(sys.argv[1]))))
