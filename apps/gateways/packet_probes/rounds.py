"""Rounds of standing probes: asks a gateway for those that are not stored yet, and explains what each has shown.

Takes a channel, a gateway, and how far its rounds are known; returns results by address family, oldest first. Changes nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from apps.deployments.rollouts import probing
from apps.deployments.rollouts.probing import FAMILIES, InwardResult, ProbeResult
from apps.deployments.transport import agent_client
from apps.deployments.transport.agent_channel import READING, TURN, AgentChannel
from apps.network.gateway_sentences import ProbeSentence
from apps.network.models import Gateway
from firewall import wire
from firewall.probe_messages import InwardSeen, ProbesRead, ReadProbes, Target, TargetSeen

EVERY_MS: Final = 2_000
LIMIT_MS: Final = 1_000


@dataclass(frozen=True, slots=True)
class RoundPosition:
    """A place in a series of rounds: the last one that is known. Without any, "" and 0."""

    series: str = ""
    number: int = 0


@dataclass(frozen=True, slots=True)
class SeenRound:
    """What a round has shown, IPv4 first, and when it began. position: None if the results are not of a standing probe."""

    at: datetime
    results: tuple[ProbeResult, ...]
    position: RoundPosition | None = None


def read_rounds(channel: AgentChannel, gateway: Gateway, known: RoundPosition, now: datetime) -> list[SeenRound]:
    """Return the rounds after `known`, oldest first. now: the time at which the answer comes, as far as the portal can tell.

    An agent of an older release does not ask the responder. Raises Unreachable when the gateway's agent does not answer, and BusyChannel
    while another thread asks it.
    """
    targets = probing.find_targets(gateway)
    if not targets:
        return [SeenRound(now, tuple(probing.build_not_probed(gateway, family) for family in FAMILIES))]
    asked = ReadProbes(tuple(targets.values()), EVERY_MS, LIMIT_MS, known.series, known.number, gateway.group.responder_port or 0)
    answer = channel.ask(asked, longest=READING, turn=TURN)
    if agent_client.is_request_unknown(answer):
        answer = channel.ask(replace(asked, responder_port=0), longest=READING, turn=TURN)
    if not isinstance(answer, ProbesRead):
        return [SeenRound(now, tuple(_build_unanswered(gateway, family, targets, answer) for family in FAMILIES))]
    return _explain_rounds(gateway, targets, answer, now) if answer.counted is not None else []


def _build_unanswered(gateway: Gateway, family: int, targets: Mapping[int, Target], answer: wire.Reply) -> ProbeResult:
    if family in targets:
        return probing.build_no_answer(gateway, family, answer)
    return probing.build_not_probed(gateway, family)


def _explain_rounds(gateway: Gateway, targets: Mapping[int, Target], answer: ProbesRead, now: datetime) -> list[SeenRound]:
    at = {family: place for place, family in enumerate(targets)}
    results = {family: _explain_family(gateway, family, targets[family], answer, at[family]) for family in targets}
    return [
        SeenRound(
            now - timedelta(milliseconds=each.ago_ms),
            tuple(results[family][number] if family in targets else probing.build_not_probed(gateway, family) for family in FAMILIES),
            RoundPosition(answer.series, each.number),
        )
        for number, each in enumerate(answer.rounds)
    ]


def _explain_family(gateway: Gateway, family: int, target: Target, answer: ProbesRead, place: int) -> list[ProbeResult]:
    """Return a result for each round of one family. The counters are of all rounds together."""
    seen = [each.seen[place] for each in answer.rounds if len(each.seen) > place]
    counted = answer.counted or {}
    return [_explain(gateway, family, target, each, counted) for each in seen]


def _did_come_back(seen: TargetSeen) -> bool:
    return seen.handshake.microseconds is not None or bool(seen.echoes)


def _explain(gateway: Gateway, family: int, target: Target, seen: TargetSeen, counted: Mapping[str, int]) -> ProbeResult:
    came_back, refused = _did_come_back(seen), "refused" in seen.handshake.error.lower()
    if fault := probing.find_path_fault(family, counted, came_back=came_back):
        return probing.build_failure(gateway, family, target, fault, is_conclusive=False)
    if seen.handshake.microseconds is not None:
        result = probing.build_success(gateway, family, target, seen.handshake.microseconds / 1000)
    elif came_back:
        given = {"address": target.address, "port": target.port, "gateway": gateway.name}
        text = ProbeSentence.ECHOES_ONLY.write(family=family, **given, why=f"{seen.handshake.error}.")
        result = ProbeResult(family, True, None, text, refused=refused)
    else:
        why = f"{seen.handshake.error}."
        if not probing.get_path_counts(family, counted)[1]:  # else the counters are of times in which packets came back
            why = f"{why} {probing.explain_failure(gateway, family, counted, refused=refused)}"
        result = probing.build_failure(gateway, family, target, why, is_conclusive=not refused)
    inward = _explain_inward(gateway, family, target, seen.inward) if seen.inward else None
    return replace(result, echoes=seen.echoes, full_size=seen.full_size, mtu=seen.mtu, inward=inward)


def _explain_inward(gateway: Gateway, family: int, target: Target, seen: InwardSeen) -> InwardResult:
    public = gateway.probe_public4 if family == 4 else gateway.probe_source6
    given = {"family": family, "address": target.address, "public": public, "port": gateway.group.responder_port, "gateway": gateway.name}
    if not seen.asked:
        return InwardResult(None, ProbeSentence.RESPONDER.write(**given, why=f"{seen.connected.error}."))
    if seen.connected.microseconds is None:
        return InwardResult(False, ProbeSentence.NOT_INWARD.write(**given, why=f"{seen.connected.error}."))
    return InwardResult(True, ProbeSentence.INWARD.write(**given, ms=f"{seen.connected.microseconds / 1000:.1f}"))
