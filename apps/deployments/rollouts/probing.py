"""Probes that packets really pass a gateway: asks its prober to connect through it, once per family, and explains the result.

Takes a channel and a gateway, and returns evidence for people and for the rollout driver. Knows the wire; changes nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from apps.deployments.transport.agent_channel import AgentChannel
from apps.network.gateway_sentences import LossSentence, ProbeSentence
from apps.network.models import Gateway
from firewall import wire
from firewall.policy import Address
from firewall.probe_messages import Connected, Probe, Probed, Target
from firewall.probing import get_probe_counter_name

LIMIT_MS = 1_000
FAMILIES = (4, 6)


@dataclass(frozen=True, slots=True)
class InwardResult:
    """Result of a connection from outside to a gateway's probe. came: None if the responder could not be asked."""

    came: bool | None
    sentence: str


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """Result of a probe for one family, 4 or 6.

    ok: None when no probe is configured. ms: milliseconds until the target accepted a connection. is_conclusive: False if a failure
    does not show that packets are lost: the probe itself does not work, or they came back, but not as they should. echoes, full_size,
    mtu: of standing probes, as in firewall.probe_messages.TargetSeen. refused: packets came back, but the target accepts no connection.
    inward: the newest connection from outside; None if none was tried since the last result.
    """

    family: int
    ok: bool | None
    ms: float | None
    sentence: str
    is_conclusive: bool = True
    echoes: int | None = None
    full_size: bool | None = None
    mtu: int = 0
    refused: bool = False
    inward: InwardResult | None = None


def probe_gateway(channel: AgentChannel, gateway: Gateway) -> tuple[ProbeResult, ...]:
    """Probe each family, IPv4 first. Takes at most LIMIT_MS plus the prober's own overhead, and the agent does nothing else meanwhile.

    Raises Unreachable when the gateway's agent does not answer.
    """
    targets = find_targets(gateway)
    answer = channel.ask(Probe(tuple(targets.values()), LIMIT_MS)) if targets else Probed((), {})
    return tuple(_build_family_result(gateway, family, targets, answer) for family in FAMILIES)


def _build_family_result(gateway: Gateway, family: int, targets: Mapping[int, Target], answer: wire.Reply) -> ProbeResult:
    if family not in targets:
        return build_not_probed(gateway, family)
    if not isinstance(answer, Probed) or len(answer.answers) != len(targets):
        return build_no_answer(gateway, family, answer)
    found = dict(zip(targets, answer.answers, strict=True))
    return _build_result(gateway, family, targets[family], found[family], answer.counted)


def find_targets(gateway: Gateway) -> dict[int, Target]:
    """Return the target of each address family that is probed, IPv4 first."""
    return {family: target for family in FAMILIES if (target := _find_target(gateway, family))}


def _find_target(gateway: Gateway, family: int) -> Target | None:
    source, address, port = _get_endpoints(gateway, family)
    return Target(address, port) if source and address and port else None


def _get_endpoints(gateway: Gateway, family: int) -> tuple[Address | None, Address | None, int | None]:
    """Return the probe's source, its target's address and its target's port."""
    group = gateway.group
    if family == 4:
        return gateway.probe_source4, group.probe_target4, group.probe_port
    return gateway.probe_source6, group.probe_target6, group.probe_port


def build_not_probed(gateway: Gateway, family: int) -> ProbeResult:
    """Return the result of a family without a probe."""
    source, _, _ = _get_endpoints(gateway, family)
    template = ProbeSentence.NO_TARGET if source else ProbeSentence.NO_PROBE
    return ProbeResult(family, None, None, template.write(family=family, group=gateway.group, gateway=gateway.name))


def build_no_answer(gateway: Gateway, family: int, answer: wire.Reply) -> ProbeResult:
    """Return the result of a probe that the agent or its prober could not make."""
    said = ProbeSentence.CANNOT_PROBE.write(family=family, gateway=gateway.name, why=_render_answer(answer))
    return ProbeResult(family, False, None, said, is_conclusive=False)


def _render_answer(answer: wire.Reply) -> str:
    return answer.text if isinstance(answer, wire.Refused) else f"it answered {type(answer).__name__}"


def _build_result(gateway: Gateway, family: int, target: Target, found: Connected, counted: Mapping[str, int]) -> ProbeResult:
    """Judge one connection. Reaching the target is not enough: this gateway's counters must have seen packets both ways."""
    if fault := find_path_fault(family, counted, came_back=found.microseconds is not None):
        return build_failure(gateway, family, target, fault, is_conclusive=False)
    if found.microseconds is None:
        refused = "refused" in found.error.lower()
        why = f"{found.error}. {explain_failure(gateway, family, counted, refused=refused)}"
        return build_failure(gateway, family, target, why, is_conclusive=not refused)
    return build_success(gateway, family, target, found.microseconds / 1000)


def find_path_fault(family: int, counted: Mapping[str, int], *, came_back: bool) -> str:
    """Return why the counters do not show which way the packets took; "" if they do."""
    up, down = get_path_counts(family, counted)
    if up is None or down is None:
        return LossSentence.NO_COUNTERS.write()
    if came_back and not (up and down):
        return LossSentence.OTHER_PATH.write()
    return ""


def get_path_counts(family: int, counted: Mapping[str, int]) -> tuple[int | None, int | None]:
    """Return how many of the probe's packets the ruleset counted on their way out and back; None if it does not count them."""
    return counted.get(get_probe_counter_name("up", family)), counted.get(get_probe_counter_name("down", family))


def build_success(gateway: Gateway, family: int, target: Target, ms: float) -> ProbeResult:
    """Return the result of a connection that the target accepted after so many milliseconds."""
    said = ProbeSentence.ANSWERED.write(family=family, address=target.address, port=target.port, gateway=gateway.name, ms=f"{ms:.1f}")
    return ProbeResult(family, True, ms, said)


def build_failure(gateway: Gateway, family: int, target: Target, why: str, *, is_conclusive: bool) -> ProbeResult:
    """Return the result of a probe that did not pass, with the reason."""
    said = ProbeSentence.NOT_REACHED.write(family=family, address=target.address, port=target.port, gateway=gateway.name, why=why)
    return ProbeResult(family, False, None, said, is_conclusive)


def explain_failure(gateway: Gateway, family: int, counted: Mapping[str, int], *, refused: bool) -> str:
    """Explain by the counters why the connection failed. refused: the target, or a router on the way, said so itself."""
    up, down = get_path_counts(family, counted)
    if family == 4 and up and counted.get("leaked", 0) >= up:
        return LossSentence.NO_NAT.write(leaked=counted["leaked"])
    if up and down:
        return (LossSentence.REFUSED if refused else LossSentence.BY_ROUTER).write(up=up, down=down)
    if up:
        back = gateway.probe_public4 if family == 4 else gateway.probe_source6
        return LossSentence.NONE_BACK.write(up=up, back=back, gateway=gateway.name)
    stopped = ", ".join(f"{counted[name]} {name}" for name in ("spoofed", "refused", "unmatched") if counted.get(name))
    return LossSentence.STOPPED.write(counters=stopped) if stopped else LossSentence.NOT_FORWARDED.write()
