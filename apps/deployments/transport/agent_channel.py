"""Channel to an agent over a relay program's standard input and output; kept open, with a limit on every wait.

Takes requests of `firewall.wire` and returns replies, or raises `Unreachable` with a sentence. `relay_program.py` chooses the
program; none of them is a shell, and text from the database is never more than one argument. An agent of the release before is
spoken to in its own version: it says which when it refuses the first message, and hangs up.
"""

import itertools
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from threading import Lock

from django.conf import settings
from django.utils import timezone

from apps.deployments.rollouts.backoff import Backoff
from apps.deployments.transport.management_ports import list_ports
from apps.deployments.transport.relay_program import RelayProgram, build_relay_program, build_relay_programs, get_socket_path
from apps.deployments.transport.spoken_versions import SPOKEN_VERSIONS
from apps.deployments.transport.ssh import SshFault
from apps.deployments.transport.subprocess_pipe import EndedError, RelayProcess, SilentError
from apps.network.gateway_sentences import ReachSentence
from apps.network.models import Gateway
from firewall import wire
from firewall.codec import TooNewError, WireError
from firewall.machine import Describe

PATIENCE = 10.0  # seconds without a single octet; a busy agent sends a beat every second
PACE = 1_000_000  # octets of a request for which the agent gets one more second before its first octet
READING = 30.0  # seconds for a complete answer to what takes milliseconds: an agent that hangs must not hold up the others' readings
LONGEST = 3600.0  # seconds for a complete answer, whatever beats come: no honest work takes so long, and other requests wait
TURN = 3.0  # seconds that a round of readings waits for a gateway that another thread asks; the next round asks it again
OPENING = 20.0  # more seconds for the first answer over a new relay: key exchange and start of programs
KNOCK = 5.0  # seconds for sshd's first line
LONGEST_GREETING = 4096  # octets up to and including that line


class Unreachable(Exception):  # noqa: N818 - a state of the world, not an error of the program
    """The gateway did not answer. The message says how. fault: what ended the session of ssh; None if it was something else."""

    def __init__(self, text: str, fault: SshFault | None = None) -> None:
        super().__init__(text)
        self.fault = fault


class BusyChannel(Exception):  # noqa: N818 - a state of the world, not an error of the program
    """Another thread asks the gateway, and may wait for it in vain: nothing was asked, and nothing is known."""


class OlderAgent(Exception):  # noqa: N818 - a state of the world, not an error of the program
    """The agent speaks only an older version. It did nothing, and has closed the connection."""

    def __init__(self, version: int) -> None:
        super().__init__(f"the agent speaks version {version}")
        self.version = version


type BeatHandler = Callable[[wire.Beat], None]


def ignore_beat(_beat: wire.Beat) -> None:
    """Ignore the beat."""


class AgentChannel:
    """A kept-open connection to one agent. One request at a time; a fault closes it, and the next request opens it anew.

    backoff: pauses before a gateway that did not answer is asked again; until then requests fail at once.
    otherwise: programs that are tried when no sshd answers where the first one connects. way: the program that was started last.
    version: the version of the protocol that the agent last answered in; None before its first answer.
    """

    def __init__(
        self,
        name: str,
        by: RelayProgram,
        backoff: Backoff | None = None,
        *,
        longest: float = LONGEST,
        otherwise: Sequence[RelayProgram] = (),
    ) -> None:
        self.name = name
        self._longest = longest
        self.way = by
        self._ways = (by, *otherwise)
        self.sent = 0  # octets of the last request
        self.version: int | None = None
        self._speaks = wire.VERSION  # over the open relay
        self._relay: RelayProcess | None = None
        self._numbers = itertools.count(1)
        self._lock = Lock()
        self._backoff = backoff or Backoff(first=timedelta(0))

    @property
    def relay_pid(self) -> int | None:
        """Process id of the open relay, None if none is open."""
        return self._relay.pid if self._relay and self._relay.is_alive else None

    def ask(
        self,
        request: wire.Request,
        *,
        patience: float | None = None,
        longest: float | None = None,
        turn: float | None = None,
        heard: BeatHandler = ignore_beat,
    ) -> wire.Reply:
        """Send a request and return the agent's answer. Raises Unreachable, and BusyChannel if `turn` is given.

        A request that an older agent does not know is not sent: the answer is a refusal with the reason “version”.
        patience: seconds without an octet; by default 10, plus one for each megabyte sent, plus 20 if the relay has to be started
        first. longest: seconds for the complete answer, whatever beats come; by default the channel's. turn: seconds to wait while another
        thread asks; by default as long as it takes. heard: called for each beat before the answer; if it raises Unreachable, the wait ends.
        An idle channel that turns out to be closed is opened anew once.
        """
        with self._take_turn(turn):
            if objection := self._backoff.explain_pause(timezone.now()):
                raise Unreachable(objection)
            try:
                answer = self._ask(request, patience, longest or self._longest, heard)
            except Unreachable as fault:
                self._backoff.record_failure(str(fault), timezone.now())
                raise
            self._backoff.reset()
            return answer

    @contextmanager
    def _take_turn(self, turn: float | None) -> Iterator[None]:
        if not self._lock.acquire(timeout=-1 if turn is None else turn):
            raise BusyChannel
        try:
            yield
        finally:
            self._lock.release()

    def reset_backoff(self) -> None:
        """Reset the back-off, so that the next request is sent at once."""
        with self._lock:
            self._backoff.reset()

    def change_ways(self, ways: tuple[RelayProgram, ...]) -> bool:
        """Relay by these programs from now on. Return False if another channel has to be opened for that: unless they are the same, one of
        them must be running.
        """
        if ways != self._ways and (self.relay_pid is None or self.way not in ways):
            return False
        self._ways = ways
        return True

    def close(self) -> None:
        """End the relay; the agent keeps running."""
        relay, self._relay = self._relay, None
        if relay:
            relay.close()

    def _ask(self, request: wire.Request, patience: float | None, longest: float, heard: BeatHandler) -> wire.Reply:
        was_open = self.relay_pid is not None
        try:
            return self._converse_in_its_version(request, patience, longest, heard)
        except EndedError as ended:
            if not was_open:
                raise self._explain_end(ended) from ended
        try:
            return self._converse_in_its_version(request, patience, longest, heard)
        except EndedError as ended:
            raise self._explain_end(ended) from ended

    def _converse_in_its_version(self, request: wire.Request, patience: float | None, longest: float, heard: BeatHandler) -> wire.Reply:
        """Converse; if the agent turns out to be of an older release, do so once more in its version."""
        version = None
        while True:
            try:
                return self._converse(request, patience, longest, heard, version)
            except OlderAgent as older:
                version = older.version  # lower than the one before, so this ends
                SPOKEN_VERSIONS.remember(self.way, version)

    def _converse(
        self, request: wire.Request, patience: float | None, longest: float, heard: BeatHandler, version: int | None
    ) -> wire.Reply:
        """Send the request and wait for the answer. version: in which to begin if the relay has to be started; None: as remembered."""
        number, silent = next(self._numbers), PATIENCE if self.relay_pid is not None else PATIENCE + OPENING
        try:
            relay = self._open(version)
            self._send(relay, number, request, patience or PATIENCE)
            within = wire.ANSWERED[type(request)]
            return self._receive(relay, number, (patience or silent + self.sent / PACE, longest), within, heard)
        except TooNewError as fault:
            return wire.Refused("version", self._explain_too_new(fault))
        except (OSError, ValueError, WireError, SilentError) as fault:
            self._close_after_fault()
            raise Unreachable(str(fault)) from fault
        except (EndedError, Unreachable, OlderAgent):
            self._close_after_fault()
            raise

    def _close_after_fault(self) -> None:
        """End the relay. The agent may be replaced meanwhile, so the next relay begins with the newest version."""
        SPOKEN_VERSIONS.forget(self.way)
        self.close()

    def _open(self, version: int | None) -> RelayProcess:
        if self._relay and not self._relay.is_alive:
            self._close_after_fault()
        if self._relay is None:
            self.way = self._choose_way()
            self.way.prepare()
            self._relay = RelayProcess(self.way.arguments, settings.ROOT)
            self._speaks, self.version = version or SPOKEN_VERSIONS.recall(self.way) or wire.VERSION, None
        return self._relay

    def _choose_way(self) -> RelayProgram:
        """Return the first way at whose end an sshd answers; a single one is taken as it is. Raises Unreachable."""
        if len(self._ways) == 1:
            return self.way
        found, _ms = _find_sshd([way.sshd for way in self._ways], KNOCK)
        return next(way for way in self._ways if way.sshd == found)

    def _send(self, relay: RelayProcess, number: int, request: wire.Request, patience: float) -> None:
        """Send the request; if it is long, learn first which version the agent speaks."""
        self.sent = 0
        lines = wire.iter_lines(number, request, self._speaks)
        begin = list(itertools.islice(lines, 2))
        if len(begin) > 1 and self.version is None:
            self._learn_version(relay, patience)
        for line in itertools.chain(begin, lines):
            relay.send(line, patience)
            self.sent += len(line)

    def _learn_version(self, relay: RelayProcess, patience: float) -> None:
        """Ask something short. An older agent that hangs up in the middle of a long message may do so before its reason arrives."""
        number = next(self._numbers)
        for line in wire.iter_lines(number, Describe(), self._speaks):
            relay.send(line, patience)
        self._receive(relay, number, (patience + OPENING, self._longest), wire.ANSWERED[Describe], ignore_beat)

    def _receive(
        self, relay: RelayProcess, number: int, waits: tuple[float, float], within: wire.MessageLimits, heard: BeatHandler
    ) -> wire.Reply:
        """Return the answer to this request, or message 0, which says why the agent hangs up. waits: patience and longest, as in `ask`."""
        patience, longest = waits
        assembler, give_up = wire.Assembler(within), time.monotonic() + longest
        for line in relay.iter_lines(patience, wire.MAX_LINE):
            if time.monotonic() > give_up:
                raise SilentError(f"it sends heartbeats, but no answer within {longest:g} s")
            answer = assembler.feed(line)
            if answer and answer[0] in (number, 0):
                reply = self._parse_reply(answer[1], assembler.version)
                if not isinstance(reply, wire.Beat):
                    return reply
                heard(reply)
        raise WireError("no answer")

    def _parse_reply(self, data: object, version: int | None) -> wire.Reply:
        """Parse an answer of this version. Raises OlderAgent if it says that the agent speaks no newer one."""
        if version is None or version > self._speaks:
            raise WireError(f"asked in version {self._speaks}, it answered in version {version}")
        reply = wire.parse_reply(data, version)
        if version < self._speaks:
            if isinstance(reply, wire.Refused) and reply.reason == "version":
                raise OlderAgent(version)
            raise WireError(f"asked in version {self._speaks}, it answered in version {version}")
        self.version = version
        return reply

    def _explain_too_new(self, fault: TooNewError) -> str:
        return (
            f"{self.name}'s agent cannot do this yet: it speaks version {self._speaks} of the protocol ({fault}). "
            "Install the agent of the portal's release (docs/upgrade.md)"
        )

    def _explain_end(self, ended: EndedError) -> Unreachable:
        words = str(ended)
        return Unreachable(self.way.explain(words) or ReachSentence.CLOSED.write(), self.way.classify(words))


type ChannelOf = Callable[[Gateway], AgentChannel]

_channels: dict[tuple[int, bool], AgentChannel] = {}  # by gateway, and whether it is for readings
_channels_lock = Lock()


def get_channel(gateway: Gateway) -> AgentChannel:
    """Return this process's channel to the gateway; the first request opens it."""
    return _get_kept_channel(gateway, readings=False)


def get_readings_channel(gateway: Gateway) -> AgentChannel:
    """Return a separate channel for slow answers (readings), so that neither a change nor a reading waits for the other."""
    return _get_kept_channel(gateway, readings=True)


def _get_kept_channel(gateway: Gateway, *, readings: bool) -> AgentChannel:
    which = gateway.pk, readings
    known = _channels.get(which)
    if known and known.relay_pid is not None and known.way == build_relay_program(gateway):
        return known  # it is open and leads where the row says, so nothing is to be looked up
    ways = build_relay_programs(gateway)
    with _channels_lock:
        known = _channels.get(which)
        if known is None or not known.change_ways(ways):
            if known:
                known.close()
            backoff = Backoff() if ways[0].is_far else None
            known = _channels[which] = AgentChannel(gateway.name, ways[0], backoff, otherwise=ways[1:])
        return known


def build_channel(gateway: Gateway, *, longest: float = LONGEST) -> AgentChannel:
    """Build a separate channel to the gateway, which the caller closes; the first request opens it."""
    by, *otherwise = build_relay_programs(gateway)
    return AgentChannel(gateway.name, by, longest=longest, otherwise=otherwise)


def close_all_channels() -> None:
    """Close all channels of this process."""
    with _channels_lock:
        for known in _channels.values():
            known.close()
        _channels.clear()


@contextmanager
def open_session(gateway: Gateway, port: int | None = None) -> Iterator[AgentChannel]:
    """Open a channel over a new session, closed at the end. An existing session would survive a ruleset that accepts no new one.

    port: the only one at which sshd is tried; None: where it may let the portal in.
    """
    own = AgentChannel(gateway.name, build_relay_program(gateway, port)) if port else build_channel(gateway)
    try:
        yield own
    finally:
        own.close()


@contextmanager
def open_own_channels() -> Iterator[ChannelOf]:
    """Open channels that are separate from the process's own and closed at the end, for commands and tests."""
    own: dict[int, AgentChannel] = {}
    try:
        yield lambda gateway: own.setdefault(gateway.pk, build_channel(gateway))
    finally:
        for each in own.values():
            each.close()


def measure_connect(gateway: Gateway, *, limit: float = KNOCK) -> float:
    """Connect to the gateway's sshd and read its first line (RFC 4253, section 4.2). Return the milliseconds that took.

    For an agent on this machine, connect to its socket instead. limit: seconds for each port of sshd. Raises Unreachable.
    """
    if gateway.link == Gateway.Link.SSH:
        return _find_sshd([(str(gateway.address), port) for port in list_ports(gateway)], limit)[1]
    return _measure(partial(_connect, str(get_socket_path(gateway)), limit), limit)


def _find_sshd(places: Sequence[tuple[str, int]], limit: float) -> tuple[tuple[str, int], float]:
    """Return the first address and port where sshd answers, and the milliseconds that took. Raises Unreachable with why the first does
    not.
    """
    faults = []
    for place in places:
        try:
            return place, _measure(partial(_read_greeting, *place, time.monotonic() + limit), limit)
        except Unreachable as fault:
            faults.append(fault)
    if len(faults) == 1:
        raise faults[0]
    ports = [str(port) for _host, port in places]
    raise Unreachable(ReachSentence.NO_PORT.write(ports=", ".join(ports), port=ports[0], why=faults[0]))


def _measure(work: Callable[[], None], limit: float) -> float:
    """Return the milliseconds of this attempt to connect. limit: the seconds that it has, for the message. Raises Unreachable."""
    start = time.monotonic()
    try:
        work()
    except TimeoutError as error:
        raise Unreachable(ReachSentence.NO_ANSWER.write(seconds=f"{limit:g}")) from error
    except OSError as error:
        raise Unreachable(ReachSentence.FAILED.write(why=error.strerror or error)) from error
    return (time.monotonic() - start) * 1000


def _connect(path: str, limit: float) -> None:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(limit)
        connection.connect(path)


def _read_greeting(host: str, port: int, until: float) -> None:
    with socket.create_connection((host, port), timeout=until - time.monotonic()) as connection:
        heard = b""
        while len(heard) < LONGEST_GREETING:
            connection.settimeout(max(until - time.monotonic(), 0.001))
            octets = connection.recv(LONGEST_GREETING)
            heard += octets
            if any(line.startswith(b"SSH-2.0-") for line in heard.split(b"\n")[:-1]):
                return
            if not octets:
                break
    raise Unreachable(ReachSentence.NO_SSHD.write(port=port))
