"""Reads everything that a gateway runs, element by element, in as many requests as that needs. Changes nothing there."""

from dataclasses import dataclass

from apps.deployments.transport.agent_channel import AgentChannel
from apps.deployments.transport.agent_client import AgentRefused, expect_answer
from firewall.ruleset import Element, Set
from firewall.running_elements import ElementsAre, ReadElements


@dataclass(frozen=True, slots=True)
class RunningElements:
    """Declarations and elements of the sets that a gateway runs, by name; without sets that are empty or that packets fill."""

    sets: dict[str, Set]
    elements: dict[str, dict[bytes, Element]]


def fetch_running_elements(channel: AgentChannel, now: int) -> RunningElements:
    """Read all elements. now: Unix seconds. Raises Unreachable, or AgentRefused, also if the agent is too old to tell."""
    found, request = RunningElements({}, {}), ReadElements(now)
    while True:
        page = expect_answer(ElementsAre, channel.ask(request))
        found.sets.update(page.sets)
        for name, elements in page.elements.items():
            found.elements.setdefault(name, {}).update(elements)
        if not page.more:
            return found
        request = _build_next_request(request, page)


def _build_next_request(request: ReadElements, page: ElementsAre) -> ReadElements:
    """Return the request for what follows. Raises AgentRefused if the page leads nowhere, so that a faulty agent is not asked for ever."""
    name, elements = max(page.elements.items(), default=("", {}))
    after = name, max(elements, default=b"")
    if after <= (request.after_set, request.after_key):
        raise AgentRefused("malformed", "the agent says that more elements follow, but sends none behind the last one")
    return ReadElements(request.now, *after)
