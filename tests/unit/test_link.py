"""A channel with its relay program, here a small scripted agent."""

import socket
import sys
from datetime import timedelta
from pathlib import Path
from threading import Thread

import pytest

from apps.deployments.rollouts.backoff import Backoff
from apps.deployments.transport.agent_channel import AgentChannel, Unreachable
from apps.deployments.transport.relay_program import RelayProgram
from apps.deployments.transport.spoken_versions import REMEMBERED, SPOKEN_VERSIONS, SpokenVersions
from firewall import wire, wire_versions
from firewall.health import ReadHealth
from firewall.ruleset import PLAIN, Ruleset
from firewall.wire_versions import Additions, WhenSet

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


def test_a_gateway_with_several_ports_is_reached_where_an_sshd_answers() -> None:
    with socket.create_server(("127.0.0.1", 0)) as sshd, socket.create_server(("127.0.0.1", 0)) as other:
        closed = other.getsockname()
        other.close()
        ways = [
            RelayProgram((sys.executable, "-S", "-c", f"import sys\n{answering(9)}"), sshd=place) for place in (closed, sshd.getsockname())
        ]
        Thread(target=lambda: sshd.accept()[0].sendall(b"SSH-2.0-OpenSSH_10.0\r\n"), daemon=True).start()
        relay = AgentChannel("nat-1", ways[0], otherwise=ways[1:])
        assert relay.ask(HELLO) == wire.Refused("busy", "here I am") and relay.way == ways[1]
    assert relay.change_ways((ways[1],)), "the session that is open leads there"
    assert not relay.change_ways((ways[0],))
    relay.close()
    assert relay.change_ways((ways[1],)) and not relay.change_ways(tuple(ways)), "a closed one is opened anew, without a pause"


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


# --- An agent of the release before

OLDER = wire.SPOKEN[0]


def older_agent(log: Path, *, answers: int = 1_000) -> str:
    """Return a program that talks as an agent of the release before does, and logs the version of each line that it gets."""
    refusal = b"".join(wire.iter_lines(0, wire.Refused("version", "this side speaks another"), OLDER))
    return (
        "import json\n"
        f"for _ in range({answers}):\n"
        "    line = sys.stdin.readline()\n"
        "    if not line: sys.exit()\n"
        "    frame = json.loads(line)\n"
        f"    open({str(log)!r}, 'a').write(f'{{frame[\"v\"]}} ')\n"
        f"    if frame['v'] != {OLDER}:\n"
        f"        sys.stdout.buffer.write({refusal!r}); sys.exit()\n"
        f"    answer = json.loads({ANSWER!r}) | {{'id': frame['id'], 'v': {OLDER}}}\n"
        "    print(json.dumps(answer), flush=True)\n"
    )


def test_an_older_agent_is_asked_again_in_its_version_and_from_then_on_at_once(tmp_path: Path) -> None:
    log = tmp_path / "versions"
    relay = channel(older_agent(log))
    for _ in range(3):
        assert relay.ask(HELLO) == wire.Refused("busy", "here I am")
    assert log.read_text().split() == [str(each) for each in (wire.VERSION, OLDER, OLDER, OLDER)]
    assert relay.version == OLDER
    relay.close()


def test_a_new_session_with_an_older_agent_begins_with_its_version(tmp_path: Path) -> None:
    log = tmp_path / "versions"
    for _ in range(2):
        session = channel(older_agent(log))
        session.ask(HELLO)
        session.close()
    assert log.read_text().split() == [str(each) for each in (wire.VERSION, OLDER, OLDER)]


def test_a_channel_that_was_cut_tries_the_newest_version_again(tmp_path: Path) -> None:
    """The agent may have been upgraded: that restarts it, and cuts the channel."""
    log = tmp_path / "versions"
    relay = channel(older_agent(log, answers=1))
    SPOKEN_VERSIONS.remember(relay.way, OLDER)
    relay.ask(HELLO)
    assert log.read_text().split() == [str(OLDER)]
    relay.ask(HELLO)
    assert log.read_text().split() == [str(each) for each in (OLDER, wire.VERSION, OLDER)]
    relay.close()


def test_the_version_is_learned_before_a_long_message_is_sent(tmp_path: Path) -> None:
    """In the middle of one, ssh might close before the reason arrives."""
    log = tmp_path / "versions"
    ruleset = Ruleset(elements={"up4": {number.to_bytes(4): PLAIN for number in range(200_000)}})
    relay = channel(older_agent(log).replace("    answer =", "    if not frame['last']: continue\n    answer ="))
    assert relay.ask(wire.Plan(1, ruleset)) == wire.Refused("busy", "here I am")
    versions = log.read_text().split()
    assert versions[:2] == [str(wire.VERSION), str(OLDER)] and set(versions[1:]) == {str(OLDER)}
    lines = len(versions)
    relay.ask(wire.Plan(1, ruleset))
    assert len(log.read_text().split()) == lines + lines - 2, "once for each connection"
    relay.close()


def test_a_refusal_in_the_version_that_was_asked_in_is_an_answer(tmp_path: Path) -> None:
    """An agent of the release after next cannot be told from one that is wrong: its reason is shown, and nothing is asked again."""
    program = older_agent(tmp_path / "versions").replace(f"if frame['v'] != {OLDER}:", "if True:")
    assert channel(program).ask(HELLO) == wire.Refused("version", "this side speaks another")


def test_a_request_that_an_older_agent_does_not_know_is_refused_in_words_and_the_channel_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lacking = Additions(classes=frozenset({"ReadHealth"}), fields={"Hello": {"token": WhenSet.REFUSE}})
    monkeypatch.setitem(wire_versions.LACKING, OLDER, lacking)
    relay = channel(older_agent(tmp_path / "versions"))
    for request in (ReadHealth(), wire.Hello(1, token=7)):
        answer = relay.ask(request)
        assert isinstance(answer, wire.Refused) and answer.reason == "version"
        assert answer.text.startswith(f"nat-1's agent cannot do this yet: it speaks version {OLDER} of the protocol (")
        assert "docs/upgrade.md" in answer.text
    pid = relay.relay_pid
    assert relay.ask(HELLO) == wire.Refused("busy", "here I am") and relay.relay_pid == pid
    relay.close()


def test_an_answer_in_a_newer_version_than_asked_ends_the_conversation() -> None:
    relay = channel(answering(1))
    SPOKEN_VERSIONS.remember(relay.way, OLDER)
    with pytest.raises(Unreachable, match=f"asked in version {OLDER}, it answered in version {wire.VERSION}"):
        relay.ask(HELLO)


def test_an_answer_in_an_older_version_that_refuses_nothing_ends_the_conversation() -> None:
    with pytest.raises(Unreachable, match=f"asked in version {wire.VERSION}, it answered in version {OLDER}"):
        channel(answering(1).replace("{'id': number}", f"{{'id': number, 'v': {OLDER}}}")).ask(HELLO)


def test_an_older_version_is_remembered_for_a_while() -> None:
    now = [0.0]
    versions, way = SpokenVersions(lambda: now[0]), RelayProgram(("relay",))
    versions.remember(way, OLDER)
    assert versions.recall(way) == OLDER
    now[0] = REMEMBERED
    assert versions.recall(way) is None
