"""What tests ask a gateway, in short."""

from firewall import wire
from tests.agent.gateways import Gateway, clock


def deploy(gateway: Gateway, request: wire.Apply) -> None:
    applied = gateway.ask(request)
    assert isinstance(applied, wire.Applied), applied
    confirmed = gateway.ask_anew(wire.Confirm(request.token, request.target))
    assert isinstance(confirmed, wire.Confirmed), confirmed
    assert confirmed.digest == request.target


def runs(gateway: Gateway) -> str:
    """The digest of what the kernel really holds."""
    answer = gateway.ask(wire.Digest(clock()))
    assert isinstance(answer, wire.DigestIs), answer
    assert answer.rules_as_committed
    return answer.digest


def refused(gateway: Gateway, request: wire.Request) -> wire.Refused:
    answer = gateway.ask(request)
    assert isinstance(answer, wire.Refused), answer
    return answer


def welcome(gateway: Gateway) -> wire.Welcome:
    answer = gateway.ask(wire.Hello(clock()))
    assert isinstance(answer, wire.Welcome), answer
    return answer
