"""A channel and its relay program, here a small agent that obeys a script."""

import sys
from datetime import timedelta

import pytest

from apps.deployments.backoff import Backoff
from apps.deployments.link import Channel, Unreachable
from apps.deployments.ways import Way
from firewall import wire

HELLO = wire.Hello(0)
ANSWER = b"".join(wire.lines(1, wire.Refused("busy", "here I am")))
OTHER_VERSION = b"".join(wire.lines(0, wire.Refused("version", "bring both to the same release")))


def channel(program: str, backoff: Backoff | None = None) -> Channel:
    """To a Python program."""
    return Channel("nat-1", Way((sys.executable, "-S", "-c", f"import sys\n{program}")), backoff)


def answering(times: int) -> str:
    """A program that answers so many questions, whatever they are, and ends. It repeats the number that it was asked by."""
    return (
        "import json\n"
        f"for _ in range({times}):\n"
        "    number = json.loads(sys.stdin.readline())['id']\n"
        f"    frame = json.loads({ANSWER!r}) | {{'id': number}}\n"
        "    print(json.dumps(frame), flush=True)\n"
    )


def test_an_open_channel_whose_other_end_left_is_opened_anew() -> None:
    relay = channel(answering(1))
    for _ in range(3):
        assert relay.ask(HELLO) == wire.Refused("busy", "here I am")
    relay.close()


def test_a_channel_that_cannot_be_opened_says_what_the_relay_said() -> None:
    relay = channel("sys.exit('no such socket; is the agent running?')")
    with pytest.raises(Unreachable, match=r"^no such socket; is the agent running\?$"):
        relay.ask(HELLO)
    assert relay.relay_pid is None


def test_why_the_agent_hangs_up_is_an_answer() -> None:
    relay = channel(f"sys.stdin.readline(); sys.stdout.buffer.write({OTHER_VERSION!r})")
    assert relay.ask(HELLO) == wire.Refused("version", "bring both to the same release")
    relay.close()


def test_what_is_no_message_ends_the_conversation() -> None:
    relay = channel("sys.stdin.readline(); print('220 mail.example', flush=True); sys.stdin.read()")
    with pytest.raises(Unreachable, match="not JSON"):
        relay.ask(HELLO)
    assert relay.relay_pid is None


def test_a_relay_that_is_no_program_is_a_gateway_that_is_not_reached() -> None:
    with pytest.raises(Unreachable, match="No such file"):
        Channel("nat-1", Way(("/nonexistent/ssh",))).ask(HELLO)


def test_while_it_is_left_alone_no_program_is_started() -> None:
    relay = channel("sys.exit('refused')", Backoff(first=timedelta(hours=1), most=timedelta(hours=1)))
    with pytest.raises(Unreachable, match=r"^refused$"):
        relay.ask(HELLO)
    relay.way = Way(("/nonexistent/ssh",))
    with pytest.raises(Unreachable, match=r"^refused \(so since .*, the next try is at .*\)$"):
        relay.ask(HELLO)
    relay.try_now()
    with pytest.raises(Unreachable, match="No such file"):
        relay.ask(HELLO)
