"""What the agent does when it is asked: hello, plan, apply, confirm, digest, counters, probe.

In comes a request, out goes a reply; between them one table and one state directory. Knows no socket and no nft. One
operation at a time. The portal's `now` says which elements are alive, the gateway's own clock how long they last.
"""

from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from firewall import digest as digests
from firewall import wire
from firewall.codec import WireError
from firewall.diff import Delta, diff
from firewall.policy import PolicyError
from firewall.render import render_delta
from firewall.ruleset import without_expired
from gateway import VERSION, prober
from gateway.boot import Brought, bring_back, origin_of, take_back
from gateway.held import Held, ReadBackError, Spent
from gateway.inspection import inspect_delta, inspect_ruleset
from gateway.running import Running, alive
from gateway.state import State, StateError
from gateway.table import CommitRefusedError, Table, TableError

_MOST_TEXT = 256 << 10
_MOST_TOKEN = 1 << 63


class RefusalError(Exception):
    """The answer is Refused, for this reason."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Trial:
    """What was applied and is not confirmed yet. deltas: from the confirmed ruleset to what runs, None: there is no such way."""

    deltas: tuple[Delta, ...] | None
    target: str


class Agent:
    """One gateway's operations. `clock` gives Unix seconds; `boot` is the kernel's boot id, `probes` the prober's socket."""

    def __init__(self, table: Table, state: State, *, name: str, boot: str, clock: Callable[[], int], probes: Path | None = None) -> None:
        self._table, self._state, self._clock = table, state, clock
        self._name, self._boot, self._probes = name, boot, probes
        self._held = Held(table, clock)
        self._trial: Trial | None = None
        self._confirmed = ""
        self._sequence = 0
        self._origin = origin_of(table.read(clock()))

    @property
    def on_trial(self) -> bool:
        """Has something been applied that nobody confirmed?"""
        return self._trial is not None

    def start(self) -> Brought:
        """Bring the kernel back to what was confirmed last, and know it."""
        return self._know(bring_back(self._table, self._state, self._clock()))

    def take_back(self) -> Brought:
        """Undo what was applied and not confirmed."""
        return self._know(take_back(self._table, self._state, self._clock(), self._origin))

    def _know(self, brought: Brought) -> Brought:
        self._trial = None
        self._confirmed = digests.text(brought.confirmed.digest) if brought.confirmed else ""
        self._held.remember(brought.ruleset, self._clock())
        return brought

    def tidy(self) -> None:
        """Between requests: write a checkpoint when the journal has grown long."""
        if self._trial is None and self._confirmed and self._state.journal_is_long:
            running = self._held.current(0)
            if not self._held.strayed:
                self._state.checkpoint(running.ruleset, running.digest, running.now)

    def answer(self, request: wire.Request) -> wire.Reply:
        """Do what is asked, or say why not."""
        try:
            return self._do(request)
        except RefusalError as refusal:
            return wire.Refused(refusal.reason, str(refusal))
        except CommitRefusedError as error:
            return wire.Refused("nft", str(error))
        except (WireError, PolicyError) as error:
            return wire.Refused("malformed", str(error))
        except (TableError, StateError, OSError) as error:
            return wire.Refused("state", str(error))

    def _do(self, request: wire.Request) -> wire.Reply:
        match request:
            case wire.Hello():
                return self._hello(request)
            case wire.Plan():
                return self._plan(request)
            case wire.Apply():
                return self._apply(request)
            case wire.Confirm():
                return self._confirm(request)
            case wire.Digest():
                return self._digest(request)
            case wire.Counters():
                return self._counters()
            case wire.Probe():
                return self._probe(request)

    def _hello(self, request: wire.Hello) -> wire.Welcome:
        running = self._held.current(request.now)
        digest = digests.text(running.digest) if self._held.rules_known else ""
        confirmed = self._confirmed if self._trial or self._held.strayed or not self._confirmed else digest
        return wire.Welcome(self._name, VERSION, digest, confirmed, self._state.token, self._boot, self._table.in_memory)

    def _plan(self, request: wire.Plan) -> wire.Planned:
        inspect_ruleset(request.ruleset)
        wanted = without_expired(request.ruleset, request.now)
        delta = diff(self._held.current(request.now).ruleset, wanted)
        self._table.check(delta, self._clock())
        return wire.Planned(
            digests.text(digests.digest(wanted)),
            {name: len(change.added) for name, change in delta.elements.items() if change.added},
            {name: len(change.removed) for name, change in delta.elements.items() if change.removed},
            tuple(delta.chains),
            render_delta(delta, now=self._clock())[:_MOST_TEXT],
        )

    def _apply(self, request: wire.Apply) -> wire.Applied:
        if request.delta is not None:
            inspect_delta(request.delta)
        if request.ruleset is not None:
            inspect_ruleset(request.ruleset)
        self._claim(request.token)
        running = self._held.current(request.now)
        follows = not self._held.strayed and self._held.rules_known
        delta, after = self._change(request, running)
        if digests.text(after) != request.target:
            raise RefusalError("digest", f"this would lead to {digests.text(after)}, not to {request.target}; nothing was done")
        spent = self._commit(delta, after)
        self._held.settle()
        self._trial = Trial(self._way(delta) if follows else None, request.target)
        return self._applied(delta, request.target, spent)

    def _claim(self, token: int) -> None:
        """A token below the highest belongs to somebody who was replaced."""
        if not 0 <= token < _MOST_TOKEN:
            raise WireError(f"request.token: {token} is out of range")
        if token < self._state.token:
            raise RefusalError("token", f"token {token} is older than {self._state.token}: another worker has taken over")
        if token > self._state.token:
            self._state.raise_token(token)

    def _change(self, request: wire.Apply, running: Running) -> tuple[Delta, int]:
        """The delta to commit and the digest it leads to."""
        if request.ruleset is not None and request.delta is None:
            wanted = without_expired(request.ruleset, request.now)
            return diff(running.ruleset, wanted), digests.digest(wanted)
        if request.delta is None or request.ruleset is not None:
            raise WireError("request: expected either a delta or a ruleset")
        if not self._held.rules_known or request.base != digests.text(running.digest):
            known = digests.text(running.digest) if self._held.rules_known else "something else"
            raise RefusalError("base", f"{known} runs here, not {request.base}; send the whole ruleset")
        delta = alive(request.delta, request.now)
        if misfit := running.misfit(delta):
            raise RefusalError("base", f"{misfit}: not what runs here; send the whole ruleset")
        return delta, digests.update(running.digest, delta)

    def _commit(self, delta: Delta, after: int) -> Spent:
        try:
            return self._held.commit(delta, after)
        except ReadBackError as fault:
            brought = self.take_back()
            raise RefusalError("state", f"read back after the commit: {fault}; {brought.text}") from fault

    def _way(self, delta: Delta) -> tuple[Delta, ...] | None:
        if self._trial is None:
            return (delta,) if self._confirmed else None
        return None if self._trial.deltas is None else (*self._trial.deltas, delta)

    def _applied(self, delta: Delta, target: str, spent: Spent) -> wire.Applied:
        elements = sum(len(change.removed) + len(change.added) for change in delta.elements.values())
        return wire.Applied(target, elements, len(delta.chains), round(spent.commit), round(spent.read_back))

    def _confirm(self, request: wire.Confirm) -> wire.Confirmed:
        self._claim(request.token)
        if self._trial is None and request.target == self._confirmed:
            return wire.Confirmed(request.target)
        if self._trial is None or request.target != self._trial.target:
            waiting = self._trial.target if self._trial else "nothing"
            raise RefusalError("digest", f"{waiting} waits to be confirmed, not {request.target}")
        running = self._held.current(0)
        if self._held.strayed:
            raise RefusalError("state", "somebody else has changed the table since; apply again")
        self._keep(self._trial, running)
        self._confirmed, self._trial = request.target, None
        return wire.Confirmed(request.target)

    def _keep(self, trial: Trial, running: Running) -> None:
        if trial.deltas is not None and self._state.has_checkpoint:
            self._state.append([delta for delta in trial.deltas if delta], running.digest, running.now)
        else:
            self._state.checkpoint(running.ruleset, running.digest, running.now)

    def _digest(self, request: wire.Digest) -> wire.DigestIs:
        self._held.read(request.now)
        return wire.DigestIs(digests.text(self._held.digest_of_elements(request.now)), self._held.rules_known)

    def _counters(self) -> wire.Reading:
        tallies = self._table.counters()
        self._sequence += 1
        return wire.Reading(
            self._boot,
            tallies.table,
            self._sequence,
            self._clock(),
            {name: b64encode(b"".join(tally.keys)).decode() for name, tally in tallies.sets.items()},
            {name: tuple(tally.packets) for name, tally in tallies.sets.items()},
            {name: tuple(tally.octets) for name, tally in tallies.sets.items()},
            tallies.named,
        )

    def _probe(self, request: wire.Probe) -> wire.Probed:
        """Nothing else is done meanwhile, so what the counters of the probe count is this probe's."""
        prober.check(request)
        if self._probes is None:
            raise RefusalError("state", "this gateway has no prober: its agent was started without --prober")
        before = self._table.named_counters()
        answers = prober.ask(self._probes, request)
        after = self._table.named_counters()
        return wire.Probed(answers, {name: packets - before.get(name, (0, 0))[0] for name, (packets, _) in after.items()})
