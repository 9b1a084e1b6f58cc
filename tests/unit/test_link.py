"""A channel with its relay program, here a small scripted agent."""

import sys
from datetime import timedelta

import pytest

from apps.deployments.rollouts.backoff import Backoff
from apps.deployments.transport.agent_channel import AgentChannel, Unreachable
from apps.deployments.transport.relay_program import RelayProgram
from firewall import wire

HELLO = wire.Hello(0)
ANSWER = b"".join(wire.iter_lines(1, wire.Refused("busy", "here I am")))
OTHER_VERSION = b"".join(wire.iter_lines(0, wire.Refused("version", "bring both to the same release")))


def channel(program: str, backoff: Backoff | None = None) -> AgentChannel:
    """Return a channel to a Python program."""
    return AgentChannel("nat-1", RelayProgram((sys.executable, "-S", "-c", f"import sys\n{program}")), backoff)


def answering(times: int) -> str:
    """Return a program that answers this many requests, whatever they are, and exits. It repeats each request's number."""
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
        AgentChannel("nat-1", RelayProgram(("/nonexistent/ssh",))).ask(HELLO)


def test_while_it_is_left_alone_no_program_is_started() -> None:
    relay = channel("sys.exit('refused')", Backoff(first=timedelta(hours=1), most=timedelta(hours=1)))
    with pytest.raises(Unreachable, match=r"^refused$"):
        relay.ask(HELLO)
    relay.way = RelayProgram(("/nonexistent/ssh",))
    with pytest.raises(Unreachable, match=r"^refused \(so since .*, the next try is at .*\)$"):
        relay.ask(HELLO)
    relay.reset_backoff()
    with pytest.raises(Unreachable, match="No such file"):
        relay.ask(HELLO)


def beating(seconds: float, every: float = 0.02) -> str:
    """Return a program that sends signs of life for this many seconds, and then answers."""
    beat = b"".join(wire.iter_lines(1, wire.Beat("loading", 1, 2)))
    return (
        "import json, time\n"
        "number = json.loads(sys.stdin.readline())['id']\n"
        "def say(line): print(json.dumps(json.loads(line) | {'id': number}), flush=True)\n"
        f"end = time.monotonic() + {seconds}\n"
        f"while time.monotonic() < end: say({beat!r}); time.sleep({every})\n"
        f"say({ANSWER!r})\n"
    )


def test_an_agent_that_says_that_it_works_is_waited_for_far_beyond_the_limit_of_silence() -> None:
    heard: list[wire.Beat] = []
    relay = channel(beating(seconds=3))
    assert relay.ask(HELLO, patience=1, heard=heard.append) == wire.Refused("busy", "here I am")
    assert set(heard) == {wire.Beat("loading", 1, 2)}
    relay.close()


def test_an_agent_that_falls_silent_after_signs_of_life_is_not_waited_for() -> None:
    relay = channel(beating(seconds=60, every=30))
    with pytest.raises(Unreachable, match="no answer within"):
        relay.ask(HELLO, patience=0.5)
    assert relay.relay_pid is None


def test_an_agent_that_shows_signs_of_life_for_ever_does_not_hold_up_the_others_for_ever() -> None:
    """As an agent under an attacker's control might do."""
    relay = AgentChannel("nat-1", RelayProgram((sys.executable, "-S", "-c", f"import sys\n{beating(600)}")), longest=0.5)
    with pytest.raises(Unreachable, match=r"sends heartbeats, but no answer within 0\.5 s"):
        relay.ask(HELLO)
    assert relay.relay_pid is None


def test_a_request_that_takes_milliseconds_waits_less_long_for_an_agent_that_hangs() -> None:
    relay = AgentChannel("nat-1", RelayProgram((sys.executable, "-S", "-c", f"import sys\n{beating(600)}")))
    with pytest.raises(Unreachable, match=r"sends heartbeats, but no answer within 0\.5 s"):
        relay.ask(HELLO, longest=0.5)


def test_a_caller_that_gives_up_during_beats_closes_the_channel() -> None:
    def leave(_beat: wire.Beat) -> None:
        raise Unreachable("enough")

    relay = channel(beating(seconds=60))
    with pytest.raises(Unreachable, match=r"^enough$"):
        relay.ask(HELLO, heard=leave)
    assert relay.relay_pid is None
