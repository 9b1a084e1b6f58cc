"""Checks whether the gateways run the desired state: by the agents' own reading of their kernels, and by nft's lists."""

import json
import re
import time
from ipaddress import ip_network

from apps.deployments.desired_state.desired_rulesets import compute_desired_state
from apps.deployments.models import GatewayState
from apps.deployments.transport import agent_channel
from apps.network.models import Gateway
from benchmarks.whole.stack import Stack, get_group
from firewall import wire
from tests.whole.system import inside

MOST_WORDS = 2000
COMPLAINT = re.compile(r"error|warning|critical|Traceback", re.IGNORECASE)


def list_mismatches(stack: Stack) -> dict[str, str]:
    """Return, by gateway, the differences between the agent's reading of its kernel and the desired state, or why there is no reading."""
    wanted, found = compute_desired_state(get_group()), {}
    with inside(stack.lab, "portal"), agent_channel.open_own_channels() as channel:
        for gateway in Gateway.objects.order_by("name"):
            target = wanted.targets[gateway.pk]
            try:
                answer = channel(gateway).ask(wire.Digest(int(time.time())))
            except agent_channel.Unreachable as fault:
                found[gateway.name] = str(fault)
                continue
            if not (isinstance(answer, wire.DigestIs) and answer.digest == target and answer.rules_as_committed):
                drift = channel(gateway).ask(wire.Drift(int(time.time())))
                found[gateway.name] = f"{answer}, wanted {target}; {drift}"[:MOST_WORDS]
    return found


def render_complaints(stack: Stack) -> str:
    """Return the worker's complaints and the known state of each gateway, for debugging."""
    lines = [line for line in stack.worker.log.read_text(errors="replace").splitlines() if COMPLAINT.search(line)]
    known = [f"{state.gateway}: {state.digest} of {state.revision}" for state in GatewayState.objects.select_related("gateway", "revision")]
    return "\n".join([*lines[-60:], *known])


def list_banned(stack: Stack, gateway: str) -> set[str]:
    """Return the single IPv4 addresses that the kernel of the gateway bans, as nft lists them."""
    listed = stack.lab.run(gateway, ["nft", "-j", "list", "set", "inet", "netzwart", "bans4_32"], check=False)
    if listed.returncode:
        return set()
    sets = [each["set"] for each in json.loads(listed.stdout)["nftables"] if "set" in each]
    return {str(ip_network(_get_value(element))) for each in sets for element in each.get("elem", [])}


def _get_value(element: object) -> str:
    while isinstance(element, dict):
        element = element["elem"]["val"] if "elem" in element else element["val"]
    return str(element)
