"""Checks of a gateway before and after it has another program: it runs what it confirmed, its health can be read, and packets pass."""

from collections.abc import Sequence

from apps.deployments.desired_state import database_clock
from apps.deployments.rollouts.probing import probe_gateway
from apps.deployments.transport.agent_channel import AgentChannel
from apps.deployments.transport.agent_client import expect_answer, is_running, send_hello
from apps.network.models import Gateway
from firewall.agent_programs import ProgramIs, ReadProgram
from firewall.health import HealthCounters, ReadHealth
from firewall.wire import Welcome


def read_program(channel: AgentChannel) -> ProgramIs:
    """Ask which program runs. Raises Unreachable or AgentRefused."""
    return expect_answer(ProgramIs, channel.ask(ReadProgram()))


def say_hello(channel: AgentChannel) -> Welcome:
    """Ask what the gateway runs now. Raises Unreachable or AgentRefused."""
    return send_hello(channel, database_clock.get_earliest_database_time() // 1000)


def is_settled(welcome: Welcome) -> bool:
    """True if the gateway runs the ruleset that it confirmed last, or has never confirmed any."""
    return not welcome.damage and not welcome.trial and (not welcome.confirmed or is_running(welcome, welcome.confirmed))


def list_failing_families(channel: AgentChannel, gateway: Gateway) -> list[int]:
    """Return the families whose probe does not come back through this gateway. Raises Unreachable."""
    return [each.family for each in probe_gateway(channel, gateway) if each.ok is False]


def find_deterioration(channel: AgentChannel, gateway: Gateway, failing: Sequence[int], welcome: Welcome) -> str:
    """Return what is worse than before the trial, as a sentence; "" if nothing is. failing: families that failed before.

    Raises Unreachable or AgentRefused.
    """
    if not is_settled(welcome):
        return welcome.damage or "it does not run the ruleset that it confirmed last"
    expect_answer(HealthCounters, channel.ask(ReadHealth()))
    worse = [each.sentence for each in probe_gateway(channel, gateway) if each.ok is False and each.family not in failing]
    return worse[0] if worse else ""
