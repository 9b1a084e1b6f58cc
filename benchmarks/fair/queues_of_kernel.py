"""Sets, reads and takes away the queues of an uplink in the emulated machine: `python3 -m benchmarks.fair.queues_of_kernel`.

Prints a line of JSON for each step (emulated_machine.MARK): what the agent reads, and what tc(8) says beside it.
"""

import json
import shlex
import subprocess
from contextlib import closing

from benchmarks.packets.emulated_machine import MARK
from firewall.policy import Framing, Shaping
from firewall.ruleset import UplinkShaper
from gateway.kernel import KernelTable

SHAPERS = (
    UplinkShaper("wan0", Shaping(20_000, 50_000), 64),
    UplinkShaper("wan0", Shaping(20_000, 0, Framing.PPPOE_ATM), 56),
    UplinkShaper("wan0", Shaping(0, 10_000_000, Framing.ETHERNET), 128),
)
BY_HAND = "tc qdisc replace dev netzwart-down root fq_codel"
OTHERS = "tc filter add dev wan0 ingress prio 7 protocol all bpf bytecode '1,6 0 0 0'"


def main() -> None:
    """Set one shaper after the other, alter the last by hand, repair it, and take it away beside a filter that is not ours."""
    _run("ip link add wan0 type veth peer name far0")
    with closing(KernelTable()) as kernel:
        for number, shaper in enumerate(SHAPERS):
            kernel.check_shaper(shaper)
            kernel.shape(shaper)
            _report(str(number), kernel)
        _run(BY_HAND)
        _report("by hand", kernel)
        kernel.shape(SHAPERS[-1])
        _report("repaired", kernel)
        _run(OTHERS)
        kernel.shape(None)
        _report("beside others", kernel)
        _run("tc qdisc delete dev wan0 clsact")
        kernel.shape(SHAPERS[0])
        kernel.shape(None)
        _report("taken away", kernel)


def _report(step: str, kernel: KernelTable) -> None:
    shown = "".join(map(_run, ("tc qdisc show", "tc filter show dev wan0 ingress", "ip -brief link")))
    print(MARK + json.dumps({"step": step, "read": kernel.read_shaper("wan0"), "shown": shown}), flush=True)


def _run(command: str) -> str:
    return subprocess.run(shlex.split(command), check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main()
