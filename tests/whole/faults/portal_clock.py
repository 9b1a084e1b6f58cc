"""The portal's periodic work, run on a clock of its own: each step is ten seconds of the schedule in `workers/app.py`.

Time passes as seen from the rows: those that wait for a time are moved into the past. Only readings of counters need real seconds, and
get one between two steps.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from time import monotonic

from django.conf import settings
from django.db.models import F, Model
from django.utils import timezone
from redis import Redis

from apps.alarms.channels.models import AlarmChannel, ChannelMessage
from apps.alarms.channels.sender import send_due_messages
from apps.alarms.models import Alarm
from apps.alarms.watch import watch_alarms
from apps.bans import feed_refresh
from apps.bans.models import BanFeed
from apps.deployments.models import GatewayState
from apps.deployments.transport import agent_channel
from apps.gateways.health.interval import SHORTEST
from apps.gateways.health.models import HealthFinding, HealthStatus
from apps.gateways.packet_probes.models import ProbeStatus
from apps.gateways.services import collect_counters
from apps.mail.models import Message, ServerAway
from apps.network.models import Gateway
from apps.operations import heartbeats, jobs
from apps.operations.models import HostHeartbeat, JobRecord, ProcessRole, RoleHeartbeat
from tests.whole.faults.injected_fault import Traffic, pass_nothing
from tests.whole.faults.scene import FaultScene
from tests.whole.system import read_probes, wait_for
from workers import deploy, failover, health, mail
from workers.queues import CHANGES

STEP = 10  # seconds
ROUNDS = 5  # of standing probes in a step; here they take a second
PROBES_WITHIN = 3.0  # seconds for them: a gateway that does not answer makes none
RECONCILE_STEPS, COLLECT_STEPS = 3, 6
READING_SECONDS = 1.1 * SHORTEST
TIMES: dict[type[Model], tuple[str, ...]] = {
    Alarm: ("began", "gone", "reported", "announced", "waits_since", "worsened", "ended", "seen"),
    AlarmChannel: ("failing_since",),
    ChannelMessage: ("written", "due", "claimed_until", "ended"),
    Message: ("written", "due", "claimed_until", "ended"),
    ServerAway: ("since", "next_try"),
    BanFeed: ("due", "error_since"),
    RoleHeartbeat: ("seen", "served", "broker_failing"),
    HostHeartbeat: ("seen", "broker_failing"),
    JobRecord: ("ran", "succeeded", "failing"),
}
OBSERVED: dict[type[Model], tuple[str, ...]] = {
    GatewayState: ("seen", "unreachable_since", "drift_since"),
    HealthFinding: ("since", "at"),
    HealthStatus: ("at",),
    ProbeStatus: ("since", "at", "answered"),
}


class PortalClock:
    """Runs what is due, step by step."""

    def __init__(self, scene: FaultScene) -> None:
        self._scene, self._read, self._broker_error = scene, monotonic(), ""
        self._steps = RECONCILE_STEPS - 1  # the first step looks at the gateways: what happens after it waits longest for the next look
        self._started = timezone.now() - timedelta(hours=1)

    def let_pass(self, passed: timedelta) -> None:
        """Let this time pass, as seen from the rows; what is observed all the time is as fresh afterwards as before."""
        _move_back(TIMES, passed)

    def wait(self, passed: timedelta) -> None:
        """Let this time pass, in which nothing new happens: what is observed all the time stays as fresh, unless a role is silent."""
        self._run_mailer()
        _move_back(TIMES | OBSERVED if self._scene.silent_roles else TIMES, passed)

    def step(self, traffic: Traffic = pass_nothing) -> None:
        """Let ten seconds pass, and do what is due after them."""
        self._steps += 1
        _move_back(TIMES | OBSERVED, timedelta(seconds=STEP))
        traffic(self._scene)
        self._report_roles()
        self._run_worker()
        self._run_collector()
        self._run_requests()
        self._run_mailer()

    def tell(self, passed: timedelta) -> None:
        """Let this time pass while everything stays as it is, and tell people what has lasted so long."""
        self._run_mailer()
        self.let_pass(passed)
        self._report_roles()
        self._run_mailer()

    def _report_roles(self) -> None:
        self._broker_error = error = heartbeats.probe_broker()
        for role in heartbeats.list_expected_roles():
            if role not in self._scene.silent_roles:
                heartbeats.record_alive(role, self._started, error)
            if role in heartbeats.OF_QUEUES and role not in self._scene.silent_roles and not error:
                heartbeats.record_served(role)

    def _is_working(self, role: ProcessRole) -> bool:
        """True if tasks for this role come through the broker and are done."""
        return not self._broker_error and not {role, ProcessRole.TICKER} & self._scene.silent_roles

    def _run(self, name: str, work: Callable[[], object]) -> None:
        """Run a job, and record how it ended, as the workers do."""
        with jobs.record_outcome(f"workers.{name}"):
            work()

    def _run_worker(self) -> None:
        if not self._is_working(ProcessRole.WORKER):
            return
        self._run("take_over", deploy.take_over)
        if self._steps % RECONCILE_STEPS == 0:
            reset_pauses()
            self._run("reconcile", deploy.reconcile)

    def _run_collector(self) -> None:
        if not self._is_working(ProcessRole.COLLECTOR):
            return
        self._run("probe_gateways", partial(read_probes, ROUNDS, PROBES_WITHIN))
        wait_for(lambda: monotonic() - self._read >= READING_SECONDS)
        self._run("read_health", health.read_health)
        self._read = monotonic()
        self._run("watch_roles", failover.watch_roles)
        for feed in feed_refresh.list_due_feeds():
            feed_refresh.refresh_feed(feed, only_if_due=True)
        if self._steps % COLLECT_STEPS == 0:
            for gateway in Gateway.objects.all():
                self._run("collect_one", partial(collect_counters, gateway))

    def _run_requests(self) -> None:
        """Do what programs have asked the deploy worker for, without waiting for the schedule."""
        if not self._is_working(ProcessRole.WORKER):
            return
        with Redis.from_url(settings.REDIS_URL) as broker:
            if broker.delete(CHANGES):
                reset_pauses()
                self._run("reconcile", deploy.reconcile)

    def _run_mailer(self) -> None:
        if not self._is_working(ProcessRole.MAILER):
            return
        self._run("watch_alarms", lambda: watch_alarms(timezone.now()))
        self._run("send_mail", mail.send_mail)
        self._run("send_alarm_messages", send_due_messages)


def _move_back(times: Mapping[type[Model], Sequence[str]], passed: timedelta) -> None:
    for model, names in times.items():
        model._default_manager.update(**{name: F(name) - passed for name in names})


def reset_pauses() -> None:
    """Let the pauses before gateways that did not answer be over: each is shorter than the time between two reconciliations."""
    for gateway in Gateway.objects.all():
        for channel in (agent_channel.get_channel(gateway), agent_channel.get_readings_channel(gateway)):
            channel.reset_backoff()
