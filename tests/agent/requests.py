"""Short forms of requests to a gateway."""

from firewall import wire
from tests.agent.gateways import AnyGateway, clock


def deploy(gateway: AnyGateway, request: wire.Apply) -> None:
    applied = gateway.ask(request)
    assert isinstance(applied, wire.Applied), applied
    confirmed = gateway.ask_anew(wire.Confirm(request.token, request.target))
    assert isinstance(confirmed, wire.Confirmed), confirmed
    assert confirmed.digest == request.target


def runs(gateway: AnyGateway) -> str:
    """Return the digest of the ruleset in the kernel."""
    answer = gateway.ask(wire.Digest(clock()))
    assert isinstance(answer, wire.DigestIs), answer
    assert answer.rules_as_committed
    return answer.digest


def send_refused(gateway: AnyGateway, request: wire.Request) -> wire.Refused:
    answer = gateway.ask(request)
    assert isinstance(answer, wire.Refused), answer
    return answer


def welcome(gateway: AnyGateway) -> wire.Welcome:
    answer = gateway.ask(wire.Hello(clock()))
    assert isinstance(answer, wire.Welcome), answer
    return answer
