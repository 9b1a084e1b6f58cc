"""Text for the evidence of a step: how the gateway was reached after the change, and whether packets passed it.

What packets did before the change is evidence too, for the decision whether to go back; it is no text of the page.

Attempts to reach a gateway are repeated until one succeeds, so a failed one counts as an attempt in vain. Packets are probed once
per family, and lost ones are described by the prober's own sentence. Works on the given steps; reads nothing itself.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.deployments.models import RolloutStep
from apps.deployments.rollouts.packets_before import list_trial_evidence
from apps.deployments.rollouts.rollout_driver import SESSIONS
from apps.lib.ui import formats
from apps.network.gateway_sentences import translate_about_gateway

type Evidence = Mapping[str, Any]  # {"what": …, "passed": bool, "ms": n or None, "text": …}

REACHED = ("knock", "session")
PACKETS = ("IPv4", "IPv6")


def list_reach_attempts(step: RolloutStep) -> list[Evidence]:
    """Return the attempts to reach the gateway, in order."""
    return [each for each in step.evidence if each["what"] in REACHED]


def list_last_packet_probes(step: RolloutStep) -> list[Evidence]:
    """Return the last probe of each family."""
    return list({each["what"]: each for each in step.evidence if each["what"] in PACKETS}.values())


def did_last_reach_succeed(step: RolloutStep) -> bool:
    """True if the last attempt to reach the gateway succeeded."""
    tried = list_reach_attempts(step)
    return bool(tried) and bool(tried[-1]["passed"])


def describe_lost_packets(step: RolloutStep) -> list[str]:
    """Return the prober's sentences about families of which no packet passed."""
    return [translate_about_gateway(each["text"]) for each in list_last_packet_probes(step) if not each["passed"]]


def describe_all_lost_packets(steps: Iterable[RolloutStep]) -> list[str]:
    """Return the sentences about lost packets of all gateways that have confirmed."""
    return [sentence for step in steps if step.state == RolloutStep.State.CONFIRMED for sentence in describe_lost_packets(step)]


def render_evidence(step: RolloutStep) -> str:
    """Return text such as “sshd answered a new connection in 4 ms, IPv4 in 2 ms”, and a sentence for each failure."""
    others = [
        translate_about_gateway(each["text"])
        for each in list_trial_evidence(step)
        if each["what"] not in (*REACHED, *PACKETS) and not each["passed"]
    ]
    passed = [_render_passed(each) for each in list_last_packet_probes(step) if each["passed"]]
    return ". ".join(
        filter(
            None, [", ".join(filter(None, [_render_attempts(list_reach_attempts(step)), *passed])), *describe_lost_packets(step), *others]
        )
    )


def _render_attempts(tried: list[Evidence]) -> str:
    failed = [each for each in tried if not each["passed"]]
    passed = [_render_passed(each) for each in tried if each["passed"]]
    if not passed:
        return _render_failed(failed) if failed else ""
    before = ngettext("after %(n)d failed attempt", "after %(n)d failed attempts", len(failed)) % {"n": len(failed)}
    return ", ".join([*passed, before] if failed else passed)


def _render_passed(evidence: Evidence) -> str:
    """Return text such as “sshd answered a new connection in 4 ms”."""
    time = formats.format_duration(evidence["ms"] / 1000) if evidence["ms"] is not None else ""
    if evidence["what"] == "knock":
        return _("sshd answered a new connection in %(time)s") % {"time": time}
    if evidence["what"] == "session":
        return _("new session in %(time)s") % {"time": time}
    return _("%(family)s passed in %(time)s") % {"family": evidence["what"], "time": time}


def _render_failed(failed: list[Evidence]) -> str:
    """Return text such as “2 of 3 attempts failed: no answer in 5 s”."""
    of = SESSIONS if failed[-1]["what"] == "session" else len(failed)
    words = ngettext("%(n)d of %(of)d attempts failed", "%(n)d of %(of)d attempts failed", len(failed)) if of > 1 else _("failed")
    return f"{words % {'n': len(failed), 'of': max(of, len(failed))}}: {translate_about_gateway(failed[-1]['text'])}"
