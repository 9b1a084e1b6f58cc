"""Probes that packets really pass a gateway: asks its prober to connect through it, once per family, and explains the result.

Takes a channel and a gateway, and returns evidence for people and for the rollout driver. Knows the wire; changes nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from apps.deployments.transport.agent_channel import AgentChannel
from apps.network.models import Gateway
from firewall import wire
from firewall.policy import Address
from firewall.probing import get_probe_counter_name

LIMIT_MS = 1_000
FAMILIES = (4, 6)


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """Result of a probe for one family, 4 or 6.

    ok: None when no probe is configured. ms: milliseconds until the target answered. is_conclusive: False if a failure does not show that
    packets are lost: the probe itself does not work, or they came back, but not as they should.
    """

    family: int
    ok: bool | None
    ms: float | None
    sentence: str
    is_conclusive: bool = True


def probe_gateway(channel: AgentChannel, gateway: Gateway) -> tuple[ProbeResult, ...]:
    """Probe each family, IPv4 first. Takes at most LIMIT_MS plus the prober's own overhead, and the agent does nothing else meanwhile.

    Raises Unreachable when the gateway's agent does not answer.
    """
    targets = {family: target for family in FAMILIES if (target := _find_target(gateway, family))}
    answer = channel.ask(wire.Probe(tuple(targets.values()), LIMIT_MS)) if targets else wire.Probed((), {})
    return tuple(_build_family_result(gateway, family, targets, answer) for family in FAMILIES)


def _build_family_result(gateway: Gateway, family: int, targets: Mapping[int, wire.Target], answer: wire.Reply) -> ProbeResult:
    if family not in targets:
        return _build_not_probed(gateway, family)
    if not isinstance(answer, wire.Probed) or len(answer.answers) != len(targets):
        said = f"IPv{family}: {gateway.name} cannot probe: {_render_answer(answer)}"
        return ProbeResult(family, False, None, said, is_conclusive=False)
    found = dict(zip(targets, answer.answers, strict=True))
    return _build_result(gateway, family, targets[family], found[family], answer.counted)


def _find_target(gateway: Gateway, family: int) -> wire.Target | None:
    source, address, port = _get_endpoints(gateway, family)
    return wire.Target(address, port) if source and address and port else None


def _get_endpoints(gateway: Gateway, family: int) -> tuple[Address | None, Address | None, int | None]:
    """Return the probe's source, its target's address and its target's port."""
    group = gateway.group
    if family == 4:
        return gateway.probe_source4, group.probe_target4, group.probe_port
    return gateway.probe_source6, group.probe_target6, group.probe_port


def _build_not_probed(gateway: Gateway, family: int) -> ProbeResult:
    source, _, _ = _get_endpoints(gateway, family)
    missing = f"{gateway.group} has no target" if source else f"{gateway.name} has no probe"
    return ProbeResult(family, None, None, f"IPv{family}: not probed, {missing} for it.")


def _render_answer(answer: wire.Reply) -> str:
    return answer.text if isinstance(answer, wire.Refused) else f"it answered {type(answer).__name__}"


def _build_result(gateway: Gateway, family: int, target: wire.Target, found: wire.Connected, counted: Mapping[str, int]) -> ProbeResult:
    """Judge one connection. Reaching the target is not enough: this gateway's counters must have seen packets both ways."""
    where = f"{target.address} port {target.port}"
    up, down = (counted.get(get_probe_counter_name(way, family)) for way in ("up", "down"))
    if found.microseconds is not None and up and down:
        ms = found.microseconds / 1000
        return ProbeResult(family, True, ms, f"IPv{family}: {where} answered through {gateway.name} in {ms:.1f} ms.")
    is_lost = found.microseconds is None and up is not None and down is not None and "refused" not in found.error.lower()
    if up is None or down is None:
        why = "its ruleset has no probe counters for this family yet; deploy."
    elif found.microseconds is not None:
        why = "the target answered, but on another path: not all packets were counted here. Where does the probe's default route lead?"
    else:
        why = f"{found.error}. {_explain_failure(gateway, family, up, down, counted)}"
    said = f"IPv{family}: {where} cannot be reached through {gateway.name}: {why}"
    return ProbeResult(family, False, None, said, is_conclusive=is_lost)


def _explain_failure(gateway: Gateway, family: int, up: int, down: int, counted: Mapping[str, int]) -> str:
    """Explain by the counters why a connection failed."""
    if family == 4 and up and counted.get("leaked"):
        return f"Source NAT is missing (packets with a private source that were held back: {counted['leaked']})."
    if up and down:
        return f"Packets out: {up}, back: {down}, so the target refuses: choose one that listens on this port."
    if up:
        back = gateway.probe_public4 if family == 4 else gateway.probe_source6
        return f"Packets out: {up}, back: none. Is {back} routed to {gateway.name}, and does the target answer others?"
    stopped = ", ".join(f"{counted[name]} {name}" for name in ("spoofed", "refused", "unmatched") if counted.get(name))
    meanwhile = f" (counted meanwhile: {stopped})" if stopped else ""
    return f"No packet of the probe was forwarded{meanwhile}: check the forward chain and the probe's route."
