"""Asks a gateway's agent for the remaining times of its connections."""

from django.utils.translation import gettext as _

from apps.deployments.transport.agent_channel import AgentChannel, Unreachable
from apps.lib.errors import Problem
from firewall import wire
from firewall.conntrack_timeouts import ReadTimeouts, TimeoutsAre

_UNKNOWN_REQUEST = "request.is"  # how an agent's refusal of a request that it does not know begins


def read_timeouts(channel: AgentChannel) -> TimeoutsAre:
    """Return the answer, after some seconds if the table is large. Raises Problem if there is none, with the reason."""
    try:
        answer = channel.ask(ReadTimeouts())
    except Unreachable as fault:
        raise Problem(_("%(gateway)s does not answer: %(reason)s") % {"gateway": channel.name, "reason": fault}) from fault
    if isinstance(answer, TimeoutsAre) and all(len(each.starts) == len(each.counts) for each in answer.histograms):
        return answer
    if isinstance(answer, wire.Refused) and answer.reason == "malformed" and answer.text.startswith(_UNKNOWN_REQUEST):
        raise Problem(_("The agent of %(gateway)s is of an older release that does not tell it. Upgrade it.") % {"gateway": channel.name})
    words = answer.text if isinstance(answer, wire.Refused) else _("its answer does not fit the question")
    raise Problem(_("%(gateway)s refused: %(reason)s") % {"gateway": channel.name, "reason": words})
