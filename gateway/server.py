"""The agent's unix socket: JSON lines in, JSON lines out, one operation at a time (firewall/wire.py defines the format).

Operations run on one thread, so the event loop is free to send beats to the peers that wait, for their own operation or another's.
Only counters, gauges, health, standing probes, evidence and failover are answered beside them, on other threads: most of that time
passes in the kernel, or in waiting for packets. A peer that breaks the rules gets the reason and is disconnected; the others are not
affected. Peers may be silent for as long as they like, but their number is limited: the one that has been silent longest makes room.
"""

import asyncio
import logging
from asyncio import IncompleteReadError, LimitOverrunError, StreamReader, StreamWriter
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from time import monotonic, perf_counter
from typing import TypeVar

from firewall import wire
from firewall.codec import TooNewError, WireError
from firewall.conntrack_timeouts import ReadTimeouts, TimeoutsAre
from firewall.evidence import CollectEvidence, EvidenceCollected
from firewall.file_trial import FileTrial, InstallFiles, KeepFiles, RevertFiles
from firewall.health import ReadHealth
from firewall.probe_messages import ReadProbes
from firewall.roles import Drain, Roles
from gateway.log_texts import describe, describe_outcome, is_routine, to_plain_line
from gateway.operations import Agent
from gateway.persistent_state import StateError
from gateway.table import TableError

MOST_PEERS = 32
WATCH = 1.0  # seconds between two looks at whether this gateway has taken over
WATCH_BLOCKS = 1.0  # seconds between two looks at whether a block has ended
WATCH_QUEUES = 10.0  # seconds between two looks at whether the uplink is there
RETRY = 1.0  # seconds until taking back is tried again, if it failed
READERS = 2  # sets whose counters are read at the same time
BUSY = 3.0  # seconds that evidence waits for another operation before it leaves out which ruleset runs
BEAT = 1.0  # seconds between two signs of life while an answer takes long
MOST_UNREAD = 1 << 16  # octets that a peer may leave unread before beats stop
STALLED = 30.0  # seconds a peer may take for the next line of a message it has begun, or to take the next line of an answer

T = TypeVar("T")  # Python 3.11 has no syntax for type parameters

log = logging.getLogger("gateway")


class AgentServer:
    """Answers peers from one agent, and makes it take back what is not confirmed in time."""

    def __init__(self, agent: Agent, *, stalled: float = STALLED, limits: wire.MessageLimits = wire.REQUESTED, beat: float = BEAT) -> None:
        self._agent = agent
        self.restart = asyncio.Event()  # set when the agent must end, so that its launcher starts another program
        self._stalled, self._limits, self._every = stalled, limits, beat
        self._operations = ThreadPoolExecutor(1, "operations")
        self._begun: set[asyncio.Task[None]] = set()
        self._peers: dict[StreamWriter, float] = {}
        self._versions: dict[StreamWriter, int] = {}  # of the last message; a peer is answered in its own
        self._long_message = asyncio.Lock()  # one at a time: each may need hundreds of megabytes
        self._timer: asyncio.TimerHandle | None = None
        self._live_timer: asyncio.TimerHandle | None = None
        self._counting = asyncio.Lock()
        self._readers = ThreadPoolExecutor(READERS, "counters")
        self._tasks: list[asyncio.Task[None]] = []
        self._collecting = asyncio.Lock()
        self._timing = asyncio.Lock()
        self._stopping = Event()

    async def handle_peer(self, reader: StreamReader, writer: StreamWriter) -> None:
        """Talk with one peer until it leaves or breaks the rules."""
        self._make_room()
        self._peers[writer] = monotonic()
        try:
            await self._talk(reader, writer)
        except WireError as error:
            log.warning("disconnecting a peer: %s", to_plain_line(str(error)))
            await self._part_with(writer, error)
        except TimeoutError:
            log.warning("disconnecting a peer: it stopped in the middle of a message, or does not read the answer")
        except OSError as error:
            log.info("a peer has disconnected: %s", error)
        finally:
            self._peers.pop(writer, None)
            self._versions.pop(writer, None)
            writer.close()

    def _make_room(self) -> None:
        if len(self._peers) >= MOST_PEERS:
            longest = min(self._peers, key=self._peers.__getitem__)
            log.warning("%d peers: disconnecting the one that has been silent longest", len(self._peers))
            del self._peers[longest]
            longest.transport.abort()

    async def _talk(self, reader: StreamReader, writer: StreamWriter) -> None:
        opened = monotonic()
        while line := await _read_line(reader):
            self._peers[writer] = monotonic()
            await self._exchange(line, reader, writer, opened)
            if self._agent.programs.wants_restart:
                self.restart.set()
            await self._tidy()

    async def _exchange(self, line: bytes, reader: StreamReader, writer: StreamWriter, opened: float) -> None:
        """Read one message and write its reply, with beats before it if it takes long."""
        number, data, long = await self._read_message(line, reader, writer)
        beating = asyncio.create_task(self._send_beats(writer, number))
        try:
            answer = await self._answer(data, self._versions[writer], opened, long=long)
        finally:
            beating.cancel()
        await self._say(writer, number, answer)

    async def _send_beats(self, writer: StreamWriter, number: int) -> None:
        """Send beats until cancelled. Beats are whole lines, so the reply may begin after any of them."""
        while True:
            await asyncio.sleep(self._every)
            self._peers[writer] = monotonic()
            if writer.transport.get_write_buffer_size() < MOST_UNREAD:
                writer.writelines(wire.iter_lines(number, self._agent.beat, self._versions[writer]))

    async def _run_in_turn(self, work: Callable[[], T]) -> T:
        """Run the work on the one thread of operations, after earlier ones."""
        return await asyncio.get_running_loop().run_in_executor(self._operations, work)

    def start_takeover_watch(self) -> None:
        """Begin to cut connections again that were cut before and come back when this gateway takes over, until `end`."""
        self._tasks.append(asyncio.get_running_loop().create_task(self._watch_takeovers()))

    async def _watch_takeovers(self) -> None:
        while True:
            await asyncio.sleep(WATCH)
            try:
                if await asyncio.to_thread(self._agent.returned_flows.is_due):
                    forbidden = await self._run_in_turn(self._agent.returned_flows.build_forbidden_flows)
                    await asyncio.to_thread(self._agent.returned_flows.cut, forbidden)
            except Exception as error:  # on any error, the next look tries again
                log.error("connections that came back could not be cut: %s", to_plain_line(str(error)))

    def start_block_watch(self) -> None:
        """Begin to cut connections to the notice page when blocks end by their time, until `end`."""
        self._tasks.append(asyncio.get_running_loop().create_task(self._watch_blocks()))

    async def _watch_blocks(self) -> None:
        while True:
            await asyncio.sleep(WATCH_BLOCKS)
            if not self._agent.block_ends.is_due():
                continue
            try:
                ended = await self._run_in_turn(self._agent.block_ends.take_ended)
                await asyncio.to_thread(self._agent.block_ends.cut, ended)
            except Exception as error:  # the next block is cut off from the page all the same
                log.error("connections to the notice page could not be cut: %s", to_plain_line(str(error)))

    def start_queue_watch(self) -> None:
        """Begin to try again queues of the uplink that could not be set or went with it, until `end`: it may come up, or get a module."""
        self._tasks.append(asyncio.get_running_loop().create_task(self._watch_queues()))

    async def _watch_queues(self) -> None:
        while True:
            await asyncio.sleep(WATCH_QUEUES)
            try:
                if self._agent.queues.are_missing:
                    await self._run_in_turn(self._agent.queues.restore)
            except Exception as error:  # on any error, the next look tries again
                log.error("the queues of the uplink could not be set: %s", to_plain_line(str(error)))

    async def end(self) -> None:
        """Wait for the running operation; those queued behind it are cancelled."""
        for task in self._tasks:
            task.cancel()
        self._stopping.set()
        await asyncio.to_thread(self._operations.shutdown, cancel_futures=True)

    async def _read_message(self, line: bytes, reader: StreamReader, writer: StreamWriter) -> tuple[int, object, bool]:
        """Return the message's number, its data, and True if it had more than one line: then parsing it takes a while too."""
        assembler = wire.Assembler(self._limits)
        try:
            whole = assembler.feed(line)
        finally:
            if assembler.version:
                self._versions[writer] = assembler.version
        if whole is not None:
            return *whole, False
        async with self._long_message:
            while whole is None:
                line = await asyncio.wait_for(_read_line(reader), self._stalled)
                if not line:
                    raise WireError("the connection ended in the middle of a message")
                whole = assembler.feed(line)
        return *whole, True

    async def _answer(self, data: object, version: int, opened: float, *, long: bool) -> wire.Reply:
        """Return the reply to a message, and log it. An error in the agent itself is answered like any other refusal."""
        start = perf_counter()
        said = "a message"
        request: wire.Request | None = None
        reply: wire.Reply
        try:
            request = await asyncio.to_thread(wire.parse_request, data, version) if long else wire.parse_request(data, version)
            said = describe(request)
            beside = await self._answer_beside(request)
            reply = await self._run_in_turn(lambda: self._agent.answer(request, opened)) if beside is None else beside
        except WireError as error:
            reply = wire.Refused("malformed", str(error))
        except (TableError, OSError) as error:
            reply = wire.Refused("state", str(error))
        except Exception as error:
            log.exception("an error in the agent itself")
            reply = wire.Refused("state", f"the agent failed: {type(error).__name__}: {error}")
        level = logging.DEBUG if is_routine(request, reply) else logging.INFO
        log.log(level, "%s: %s, %.1f ms", said, describe_outcome(reply), (perf_counter() - start) * 1000)
        self._schedule_take_back()
        self._schedule_live_end()
        return reply

    async def _answer_beside(self, request: wire.Request) -> wire.Reply | None:
        """Return the reply to a request that runs beside other operations; None for other requests."""
        match request:
            case wire.Counters():
                return await self._read_counters(request)
            case wire.Gauges():
                return await self._read_gauges()
            case ReadHealth():
                return await asyncio.to_thread(self._agent.read_health)
            case ReadProbes():
                return await asyncio.to_thread(self._agent.probes.read_rounds, request)
            case ReadTimeouts():
                return await self._read_timeouts()
            case CollectEvidence():
                return await self._collect_evidence(request)
            case Roles() | Drain():
                return await asyncio.to_thread(self._agent.roles.answer, request)
            case InstallFiles() | KeepFiles() | RevertFiles() | FileTrial():
                return await asyncio.to_thread(self._agent.installer.answer, request)
        return None

    async def _collect_evidence(self, request: CollectEvidence) -> EvidenceCollected:
        """Collect on another thread for some seconds, one collection at a time. Raises TableError or WireError."""
        if self._collecting.locked():
            raise TableError("evidence is being collected here already; ask again in some seconds")
        async with self._collecting:
            try:
                ruleset = await asyncio.wait_for(self._run_in_turn(self._agent.describe_ruleset), BUSY)
            except TimeoutError:
                ruleset = None
            return await asyncio.to_thread(self._agent.evidence.collect, request, ruleset, self._stopping)

    async def _read_timeouts(self) -> TimeoutsAre:
        """Read on another thread for some seconds at most, one reading at a time. Raises TableError."""
        if self._timing.locked():
            raise TableError("the remaining times of connections are being read here already; ask again in some seconds")
        async with self._timing:
            return await asyncio.to_thread(self._agent.read_timeouts, self._stopping)

    async def _read_gauges(self) -> wire.GaugesAre:
        sizes = await self._run_in_turn(self._agent.list_dynamic_sets)
        async with self._counting:
            loop = asyncio.get_running_loop()
            held = await asyncio.gather(*(loop.run_in_executor(self._readers, self._agent.count_set_elements, name) for name in sizes))
        return self._agent.build_gauges({name: (number, size) for (name, size), number in zip(sizes.items(), held, strict=True)})

    async def _read_counters(self, request: wire.Counters) -> wire.Reading:
        """Make one reading at a time; a request that comes meanwhile waits for the next one. Raises TableError."""
        async with self._counting:
            counting = await self._run_in_turn(lambda: self._agent.counters.start_reading(request))
            loop = asyncio.get_running_loop()
            try:
                await asyncio.gather(*(loop.run_in_executor(self._readers, counting.read, name) for name in counting.sets))
            finally:
                counting.stop()
            return await self._run_in_turn(lambda: self._agent.counters.finish_reading(counting))

    def _schedule_take_back(self, at_least: float = 0.0) -> None:
        """Schedule taking back at the end of the time to confirm. The loop's clock is CLOCK_MONOTONIC too."""
        if self._timer:
            self._timer.cancel()
            self._timer = None
        if self._agent.changes.is_on_trial:
            seconds = max(self._agent.changes.seconds_left, at_least)
            self._timer = asyncio.get_running_loop().call_later(seconds, self._begin, self._take_back)

    def _begin(self, work: Callable[[], Coroutine[None, None, None]]) -> None:
        """Start a task, and keep a reference to it until it is done, so that it is not garbage-collected."""
        task = asyncio.get_running_loop().create_task(work())
        self._begun.add(task)
        task.add_done_callback(self._begun.discard)

    async def _take_back(self) -> None:
        try:
            await self._run_in_turn(self._agent.changes.take_back_overdue)
        except Exception as error:  # on any error, taking back is tried again
            log.critical("the unconfirmed change cannot be taken back; next try in %g s: %s", RETRY, to_plain_line(str(error)))
        self._schedule_take_back(at_least=RETRY)

    def _schedule_live_end(self) -> None:
        """Schedule the end of a live trace, even if no peer looks at it any more."""
        if self._live_timer:
            self._live_timer.cancel()
        live = self._agent.live
        self._live_timer = asyncio.get_running_loop().call_later(live.seconds_left, self._begin, self._end_live) if live.is_active else None

    async def _end_live(self) -> None:
        await self._run_in_turn(self._agent.live.end_overdue)
        self._schedule_live_end()

    async def _tidy(self) -> None:
        if not self._agent.changes.is_checkpoint_due:
            return
        try:
            await self._run_in_turn(self._agent.changes.write_due_checkpoint)
        except (TableError, StateError, OSError) as error:
            log.error("the checkpoint could not be written, so the journal keeps growing: %s", to_plain_line(str(error)))

    async def _say(self, writer: StreamWriter, number: int, reply: wire.Reply) -> None:
        for line in _iter_reply(number, reply, self._versions.get(writer, wire.VERSION)):
            writer.write(line)
            await asyncio.wait_for(writer.drain(), self._stalled)

    async def _part_with(self, writer: StreamWriter, error: WireError) -> None:
        """Send the peer the reason for its disconnection; it may have left already."""
        try:
            await self._say(writer, 0, wire.Refused("version" if isinstance(error, wire.VersionError) else "malformed", str(error)))
        except OSError:
            return


def _iter_reply(number: int, reply: wire.Reply, version: int) -> Iterator[bytes]:
    """Yield the reply's lines; those of a refusal if the reply cannot be said in this version."""
    try:
        yield from wire.iter_lines(number, reply, version)
    except TooNewError as error:
        text = f"{error}: the answer cannot be given in version {version}; upgrade the portal"
        yield from wire.iter_lines(number, wire.Refused("version", text), version)


async def _read_line(reader: StreamReader) -> bytes:
    """Return the next line, b"" at the end. Raises WireError if it is too long or incomplete."""
    try:
        return await reader.readuntil(b"\n")
    except LimitOverrunError as error:
        raise WireError(f"a line is longer than {wire.MAX_LINE} octets") from error
    except IncompleteReadError as error:
        if error.partial:
            raise WireError("the connection ended in the middle of a line") from error
        return b""
