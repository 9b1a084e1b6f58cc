"""Trace answers as plain data, for scripts."""

from dataclasses import asdict
from typing import Any

from apps.deployments.rule_kinds.kind import ElementOrigin
from apps.desk.packet_trace import packet_trace_texts
from apps.desk.packet_trace.answer import TraceAnswer
from apps.desk.packet_trace.path import PathSection, RuleLine, list_path_stops
from firewall.render import get_key_renderer


def answer_to_dict(answer: TraceAnswer) -> dict[str, Any]:
    """Return the verdict, the packet before and after, the path, and the counters that count it; keys of elements as nft writes them."""
    trace, said = answer.trace, packet_trace_texts.describe_verdict(answer)
    return {
        "gateway": answer.traceable.gateway.name,
        "at": answer.at.isoformat(),
        "outcome": trace.outcome.value,
        "refusal": trace.refusal.value if trace.refusal else None,
        "state": trace.state.value,
        "in_words": f"{said.lead} {said.sentence}",
        "because_of": [_to_dict(each) for each in said.things],
        "packet": packet_trace_texts.render_packet(trace.packet),
        "comes_in": trace.packet.interface,
        "guessed": packet_trace_texts.describe_guess(answer) or None,
        "leaves_as": packet_trace_texts.render_leaving(trace.leaves) if trace.leaves else None,
        "leaves_by": trace.interface or None,
        "path": [_stop_to_dict(stop) for stop in list_path_stops(answer) if stop.reached],
        "elements_counted": [
            {"set": name, "key": get_key_renderer(answer.ruleset.sets[name].key)(key), "packets": number}
            for (name, key), number in sorted(trace.elements.items())
        ],
        "counters": dict(sorted(trace.counters.items())),
        "elsewhere": {name: each.outcome.value for name, each in answer.elsewhere.items()},
    }


def _stop_to_dict(stop: PathSection) -> dict[str, Any]:
    return {"chain": stop.name, "packet_then": stop.packet or None, "rules": [_to_dict(line) for line in stop.lines]}


def _to_dict(value: ElementOrigin | RuleLine) -> dict[str, Any]:
    """Return the fields without `anonymous`, the name without a hint at a member, because scripts get the name itself."""
    return asdict(value, dict_factory=lambda pairs: {name: each for name, each in pairs if name != "anonymous"})
