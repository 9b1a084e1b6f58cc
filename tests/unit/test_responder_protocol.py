"""What prober and responder say to each other: what one renders the other parses, and everything else is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firewall.probe_messages import Connected
from gateway.probes.responder_protocol import LONGEST_LINE, ConnectBack, parse_outcome, parse_request, render_outcome, render_request

TOKENS = st.text("0123456789abcdef", min_size=32, max_size=32)


@given(TOKENS, st.integers(1, 1000))
def test_a_request_is_parsed_as_it_was_rendered(token: str, limit_ms: int) -> None:
    request = ConnectBack(token, limit_ms / 1000)
    line = render_request(request)
    assert parse_request(line) == request and len(line) <= LONGEST_LINE


@given(st.one_of(st.builds(Connected, st.integers(0, 999_999_999)), st.builds(Connected, st.none(), st.text(min_size=1))))
def test_an_outcome_keeps_whether_it_connected_whatever_the_reason_is(outcome: Connected) -> None:
    line = render_outcome(outcome)
    found = parse_outcome(line)
    assert found is not None and found.microseconds == outcome.microseconds and len(line) <= LONGEST_LINE
    assert found.error.isascii() and found.error.isprintable()


@given(st.binary(max_size=200))
def test_other_octets_are_neither(line: bytes) -> None:
    assert parse_request(line) is None and parse_outcome(line) is None


@pytest.mark.parametrize(
    "line",
    [
        b"netzwart-connect-back 1 " + b"a" * 32 + b" 0\n",
        b"netzwart-connect-back 1 " + b"a" * 32 + b" 1001\n",
        b"netzwart-connect-back 1 " + b"A" * 32 + b" 500\n",
        b"netzwart-connect-back 1 " + b"a" * 31 + b" 500\n",
        b"netzwart-connect-back 2 " + b"a" * 32 + b" 500\n",
        b"netzwart-connect-back 1 " + b"a" * 32 + b" 500",
    ],
)
def test_a_request_that_is_out_of_range_or_not_whole_is_none(line: bytes) -> None:
    assert parse_request(line) is None
