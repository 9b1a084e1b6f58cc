"""Drives a rollout that this worker holds: does each command on the gateway whose turn it is, and writes down what came of it.

The decisions are in `firewall.rollout`, the messages in `carry`, the rows in `rollouts`; here they meet.
"""

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, suppress
from datetime import timedelta
from typing import Any, Protocol

import structlog
from django.db import Error as DatabaseError
from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from apps.deployments.models import RolloutStep
from apps.deployments.observed_state import drift, gateway_states
from apps.deployments.rollouts import lease_heartbeat, rollout_store
from apps.deployments.rollouts.probing import Evidence, probe
from apps.deployments.rollouts.rollout_store import Lease, LeaseLost
from apps.deployments.transport import agent_channel, agent_client
from apps.deployments.transport.agent_channel import Channel, Unreachable
from apps.deployments.transport.agent_client import NotDone, Order
from apps.lib.trace_timing import moment
from apps.network.models import Gateway
from firewall import wire
from firewall.rollout import Command, Event

log = structlog.get_logger()

OWN_FAULTS = ("state", "token")  # reasons of `wire.Refused` that say nothing about the ruleset: the other gateways may have it
LONGEST_ERROR = 1000  # characters
SESSIONS = 3  # attempts to open a new one after a change that may have locked us out


class Links(Protocol):
    """The ways to a gateway: the channel that is kept open, a new session, and a mere knock at its door (milliseconds)."""

    def kept(self, gateway: Gateway) -> Channel: ...
    def fresh(self, gateway: Gateway) -> AbstractContextManager[Channel]: ...
    def knock(self, gateway: Gateway) -> float: ...


class WorkerLinks:
    """This process's."""

    def kept(self, gateway: Gateway) -> Channel:
        return agent_channel.channel(gateway)

    def fresh(self, gateway: Gateway) -> AbstractContextManager[Channel]:
        return agent_channel.fresh(gateway)

    def knock(self, gateway: Gateway) -> float:
        return agent_channel.knock(gateway)


def plain(error: Exception) -> str:
    """What went wrong, as a database takes it: what the other side said may be among it."""
    return f"{type(error).__name__}: {error}"[:LONGEST_ERROR].replace("\0", "").encode(errors="replace").decode()


def note_beat(lease: Lease, beat: wire.Beat) -> Event | None:
    """Keep it for the page; what a person has asked for meanwhile. A page that is not up to date is no reason to let a gateway down."""
    try:
        return rollout_store.heard(lease, beat.doing, beat.done, beat.of)
    except DatabaseError as error:
        log.warning("what the gateway does is not kept", rollout=lease.rollout.pk, error=str(error))
        connection.close()
        return None


class Driver:
    """One run of one worker, which keeps its lease meanwhile (`heartbeat`). `arrived` is told of each gateway that has confirmed."""

    def __init__(self, lease: Lease, orders: Mapping[int, Order], links: Links, arrived: Callable[[Gateway, Order], None]) -> None:
        self._lease, self._orders, self._links, self._arrived = lease, orders, links, arrived
        self._sessions = ExitStack()
        self._session: Channel | None = None  # opened after the commit
        self._rules = False  # the gateway itself says that more than elements waits to be confirmed
        self._in_memory = False
        self._passed_before: dict[int, bool | None] = {}

    def run(self) -> None:
        """Until the rollout is over or rests. Raises LeaseLost when another has taken over."""
        do = {
            Command.ASK: self._ask,
            Command.APPLY: self._apply,
            Command.PROBE: self._probe,
            Command.CONFIRM: self._confirm,
            Command.REVERT: self._revert,
        }
        with self._sessions:
            while work := do.get(self._lease.command):
                gateway, what = self._lease.step.gateway, self._lease.command
                try:
                    work(gateway, self._orders[gateway.pk])
                except (LeaseLost, OperationalError, InterfaceError):
                    raise
                except Exception as error:  # whatever one gateway says, the others get theirs
                    log.exception("a gateway led to a fault of the portal", gateway=gateway.name, rollout=self._lease.rollout.pk)
                    self._failed(Event.LOST, gateway, _("The worker failed: %(error)s") % {"error": plain(error)})
                moment(f"{what}: {gateway.name}")

    def fence(self, now: int) -> None:
        """Show the token to every gateway that answers: whatever a worker that was replaced still sends is refused."""
        for step in self._lease.steps:
            try:
                agent_client.hello(self._links.kept(step.gateway), now, self._lease.rollout.token, self._heard)
            except (Unreachable, NotDone) as fault:
                log.warning("not fenced", gateway=step.gateway.name, error=str(fault))

    def _heard(self, beat: wire.Beat) -> None:
        """A person who wants to stop need not wait until the gateway is done."""
        if note_beat(self._lease, beat) is Event.ABORT:
            raise Unreachable(_("The rollout was stopped while the gateway was at work. What it commits now, it takes back by itself."))

    def _ask(self, gateway: Gateway, order: Order) -> None:
        try:
            event = agent_client.became(self._links.kept(gateway), order, self._heard)
        except NotDone as refused:
            self._refused(Event.LOST, gateway, refused)
            return
        if event is Event.WENT_BACK and self._lease.step.reason in OWN_FAULTS:
            self._failed(Event.IMPAIRED, gateway, self._lease.step.error)
        elif event in (Event.LOST, Event.WENT_BACK):
            words = {Event.LOST: _("It stopped answering in the middle. Unless it has confirmed, it goes back by itself.")}
            text = words.get(event) or _("Nobody confirmed in time, so it went back by itself.")
            self._failed(event, gateway, text)
        else:
            self._happened(event, order, **({"confirmed": Now(), "error": ""} if event is Event.FOUND_CONFIRMED else {}))

    def _apply(self, gateway: Gateway, order: Order) -> None:
        channel = self._links.kept(gateway)
        try:
            welcome = agent_client.hello(channel, order.now, order.token, self._heard)
        except Unreachable as fault:
            self._failed(Event.AWAY, gateway, str(fault))
            return
        except NotDone as refused:
            self._refused(Event.REFUSED, gateway, refused)
            return
        self._in_memory = welcome.in_memory
        if agent_client.runs(welcome, order.target):
            self._happened(Event.UNCHANGED, order, committed=Now(), confirmed=Now())
            return
        self._note_loss(channel, gateway, order, welcome)
        if welcome.confirmed:  # where nothing has run yet, nothing can have passed
            self._passed_before = {found.family: found.ok for found in self._packets(gateway)}
        try:
            applied = agent_client.apply(channel, order, welcome, self._heard)
        except Unreachable as fault:
            self._failed(Event.LOST, gateway, str(fault))
        except NotDone as refused:
            self._refused(Event.REFUSED, gateway, refused)
        else:
            self._committed(channel, order, applied)

    @staticmethod
    def _note_loss(channel: Channel, gateway: Gateway, order: Order, welcome: wire.Welcome) -> None:
        """Why the gateway lost what it had confirmed, if it did. Whatever it says to that keeps no change from anybody."""
        try:
            drift.note_loss(gateway, channel, welcome, order.ruleset, order.now)
        except (OperationalError, InterfaceError):
            raise
        except Exception:
            log.exception("what a gateway says of its loss cannot be kept", gateway=gateway.name)

    def _committed(self, channel: Channel, order: Order, applied: wire.Applied) -> None:
        self._rules = applied.new_session
        self._happened(
            Event.COMMITTED,
            order,
            committed=Now(),
            goes_back=Now() + timedelta(seconds=order.confirm_within),
            sent_octets=channel.sent,
            commit_ms=applied.commit_ms,
            read_back_ms=applied.read_back_ms,
            flows_cut=self._cut(applied.flows_cut),
        )

    def _cut(self, flows: int) -> int:
        """The agent says -1 where it could not."""
        if flows < 0:
            rollout_store.note(
                self._lease, "flows", passed=False, ms=None, text=_("Open connections that the change concerns could not be ended.")
            )
        return max(flows, 0)

    def _probe(self, gateway: Gateway, _order: Order) -> None:
        """Can the gateway still be reached, and do packets pass it?

        What changes nothing but elements is proved by a knock, all else by a new session. Packets that did not pass before the change
        either are no reason to go back.
        """
        reached = self._knocked(gateway) if self._lease.rollout.harmless and not self._rules else self._opened(gateway)
        if not reached:
            self._failed(Event.FAILED, gateway, _("It could not be reached after the change."))
        elif lost := self._lost_to_packets(gateway):
            self._failed(Event.FAILED, gateway, lost)
        else:
            rollout_store.passed(self._lease)

    def _lost_to_packets(self, gateway: Gateway) -> str:
        """The families that were probed well before the change and are not now, in a sentence."""
        lost = []
        for found in self._packets(gateway):
            if found.ok is None:
                continue
            rollout_store.note(self._lease, f"IPv{found.family}", passed=found.ok, ms=found.ms, text=found.sentence)
            if not found.ok and self._passed_before.get(found.family):
                lost.append(found.sentence)
        return " ".join(lost)

    def _packets(self, gateway: Gateway) -> tuple[Evidence, ...]:
        try:
            return probe(self._session or self._links.kept(gateway), gateway)
        except Unreachable as fault:
            log.warning("not probed", gateway=gateway.name, error=str(fault))
            return ()

    def _knocked(self, gateway: Gateway) -> bool:
        start = time.perf_counter()
        try:
            ms = self._links.knock(gateway)
        except Unreachable as fault:
            self._note("knock", start, str(fault))
            return False
        rollout_store.note(self._lease, "knock", passed=True, ms=ms, text="")
        return True

    def _opened(self, gateway: Gateway) -> bool:
        for _attempt in range(SESSIONS):
            start = time.perf_counter()
            try:
                session = self._sessions.enter_context(self._links.fresh(gateway))
                agent_client.hello(session, 0, heard=self._heard)
            except Unreachable as fault:
                self._note("session", start, str(fault))
                if rollout_store.wished(self._lease) is Event.ABORT:
                    return False
                continue
            self._session = session
            rollout_store.note(self._lease, "session", passed=True, ms=(time.perf_counter() - start) * 1000, text="")
            return True
        return False

    def _note(self, what: str, start: float, text: str) -> None:
        rollout_store.note(self._lease, what, passed=False, ms=(time.perf_counter() - start) * 1000, text=text)

    def _confirm(self, gateway: Gateway, order: Order) -> None:
        channel, self._session = self._session or self._links.kept(gateway), None
        try:
            confirmed = agent_client.confirm(channel, order, self._heard)
        except Unreachable as fault:
            self._failed(Event.LOST, gateway, str(fault))
        except NotDone as refused:
            self._refused(Event.NOT_CONFIRMED, gateway, refused)
        else:
            cut = self._lease.step.flows_cut + self._cut(confirmed.flows_cut)
            self._happened(Event.CONFIRMED, order, confirmed=Now(), flows_cut=cut, error="")

    def _revert(self, gateway: Gateway, order: Order) -> None:
        try:
            text = agent_client.revert(self._links.kept(gateway), order, self._heard)
        except Unreachable as fault:
            self._failed(Event.LOST, gateway, _("It does not answer, and goes back by itself: %(error)s") % {"error": fault})
        except NotDone as refused:
            self._refused(Event.LOST, gateway, refused)
        else:
            why = self._lease.step.error or _("Somebody asked for it.")
            event = Event.IMPAIRED if self._lease.step.reason in OWN_FAULTS else Event.WENT_BACK
            self._failed(event, gateway, f"{why} {_('It went back')}: {text}.")

    def _happened(self, event: Event, order: Order, **evidence: Any) -> None:
        step = self._lease.step
        if step.evidence:
            evidence["evidence"] = step.evidence
        with transaction.atomic():
            rollout_store.happened(self._lease, event, **evidence)
            arrived = step.state == RolloutStep.State.CONFIRMED
            if arrived:
                gateway_states.runs(step, self._lease.rollout.revision, order.target, in_memory=self._in_memory)
        if arrived:
            self._arrived(step.gateway, order)

    def _refused(self, event: Event, gateway: Gateway, refused: NotDone) -> None:
        """An old token is that of a worker that was replaced; unless the lease is still ours, and so it is the database that is old."""
        if event is Event.REFUSED and refused.reason in OWN_FAULTS:
            event = Event.IMPAIRED
        if refused.reason != "token":
            self._failed(event, gateway, str(refused), reason=refused.reason)
        elif lease_heartbeat.beat(self._lease.rollout):
            self._failed(event, gateway, self._about_token(gateway, refused), reason=refused.reason)
        else:
            raise LeaseLost(str(refused))

    def _about_token(self, gateway: Gateway, refused: NotDone) -> str:
        """Whether “Try again” helps: not where the gateway claims more than there can be."""
        text = _("%(error)s. If the database was restored from a backup, “Try again” goes on from where the gateways are.")
        with suppress(Unreachable, NotDone):
            claimed = agent_client.hello(self._links.kept(gateway), 0).token
            if claimed > self._lease.rollout.token + wire.LEAP_ADOPTED:
                text = _("%(error)s. Nobody can have counted so far, so the portal does not follow: set this gateway up anew.")
        return text % {"error": refused}

    def _failed(self, event: Event, gateway: Gateway, text: str, reason: str = "") -> None:
        log.warning("gateway not brought to revision", gateway=gateway.name, rollout=self._lease.rollout.pk, what=event.value, error=text)
        step = self._lease.step
        with transaction.atomic():
            rollout_store.happened(self._lease, event, error=text, evidence=step.evidence, reason=reason or step.reason)
            if step.state in RolloutStep.BAD:
                gateway_states.troubled(gateway, text, away=step.state in (RolloutStep.State.AWAY, RolloutStep.State.LOST))
