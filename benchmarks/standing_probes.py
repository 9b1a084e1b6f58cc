"""Standing probes: what a round costs the gateway, in the prober and in the kernel of a network namespace of its own.

Two targets on loopback, one for each address family, accept connections and answer echoes. Prints JSON.
"""

import asyncio
import json
import os
import socket
import subprocess
import sys
from ipaddress import ip_address

from benchmarks.figures import Figure

ROUNDS = 200
EVERY_MS = 100
NAMESPACE = 'ip link set lo up && echo 0 0 >/proc/sys/net/ipv4/ping_group_range && exec "$@"'


def run() -> Figure:
    """Return the CPU time of a round."""
    command = ["unshare", "--net", "--map-root-user", "sh", "-ec", NAMESPACE, "sh", sys.executable, "-m", "benchmarks.standing_probes"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit("the benchmark of standing probes failed")
    return Figure("probe_cpu_ms", json.loads(done.stdout)["probe_cpu_ms"], "ms", None)


async def _measure() -> dict[str, float]:
    from firewall.probe_messages import ECHOES, ReadProbes, Target
    from gateway.probes.standing import StandingProbes

    with socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True, backlog=1024) as server:
        port = server.getsockname()[1]
        targets = tuple(Target(ip_address(each), port) for each in ("127.0.0.1", "::1"))
        probes, asked = StandingProbes(), ReadProbes(targets, EVERY_MS, 1000, "", 0)
        probes.read(asked)
        begin, made = os.times(), 0
        while made < ROUNDS:
            await asyncio.sleep(1)
            rounds = [each for each in probes.read(asked).rounds if each.number > made]
            made = max([made, *(each.number for each in rounds)])
            if any(seen.echoes != ECHOES or not seen.full_size for each in rounds for seen in each.seen):
                raise SystemExit("a probe on loopback was lost")
        end = os.times()
        await probes.stop()
    return {"probe_cpu_ms": round((end.user + end.system - begin.user - begin.system) * 1000 / made, 2)}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_measure())))
