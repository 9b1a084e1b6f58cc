"""What the dashboard says of the portal's own programs: which role gives no sign of life, which job fails, and what follows from it."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.desk.selectors.need import Need, url
from apps.lib.ui import formats
from apps.lib.ui.states import Kind, State
from apps.operations import heartbeats, jobs
from apps.operations.heartbeats import Fault, RoleFault
from apps.operations.models import Role

FOLLOWS: dict[Role, Promise] = {
    Role.WORKER: gettext_lazy("Changes are saved and reach no gateway. Start “worker”, or look into its log."),
    Role.COLLECTOR: gettext_lazy(
        "No counters are read, nobody asks the gateways, no webhook is told. Start “collector”, or look into its log."
    ),
    Role.FEEDS: gettext_lazy("Ban lists with a feed stay as they are. Start “feeds”, or look into its log."),
    Role.MAILER: gettext_lazy("Mail neither leaves nor is read; nothing is lost. Start “mailer”, or look into its log."),
    Role.TICKER: gettext_lazy(
        "What people save still goes out. Nothing happens by schedule: no look at the gateways, no second try, no counters. Start “beat”."
    ),
    Role.EVENTS: gettext_lazy("Pages ask again by themselves; scripts that wait for gateways are refused. Start “events”."),
}
URGENT = frozenset({Role.WORKER, Role.TICKER})
JOBS: dict[str, Promise] = {
    "workers.reconcile": gettext_lazy("Bringing changes to the gateways"),
    "workers.take_over": gettext_lazy("Resuming rollouts"),
    "workers.forget": gettext_lazy("Removing what is too old"),
    "workers.lifecycle": gettext_lazy("Departures, moves and erasures that are due"),
    "workers.refresh_feeds": gettext_lazy("Looking which feeds are due"),
    "workers.refresh_feed": gettext_lazy("Refreshing a feed"),
    "workers.send_mail": gettext_lazy("Sending mail"),
    "workers.receive_mail": gettext_lazy("Reading mail that arrived"),
    "workers.fetch_mail": gettext_lazy("Fetching mail from the mailbox"),
    "workers.answer_tickets": gettext_lazy("Answering many tickets at once"),
    "workers.count_tickets": gettext_lazy("Counting tickets"),
    "workers.tell_webhooks": gettext_lazy("Telling webhooks"),
    "workers.collect": gettext_lazy("Asking for the gateways’ counters"),
    "workers.collect_one": gettext_lazy("Reading a gateway’s counters"),
    "workers.share_fairly": gettext_lazy("Sharing full uplinks fairly"),
    "workers.tell_of_quotas": gettext_lazy("Mails about quotas"),
    "workers.tend_usage": gettext_lazy("Summing up usage"),
}


def title_of_job(name: str) -> str:
    """What a job does, for people; a part of the pruning names its table."""
    if name.startswith("prune "):
        return _("Removing old rows of %(table)s") % {"table": name.removeprefix("prune ")}
    return str(JOBS.get(name, name))


def needs(now: datetime) -> Iterator[Need]:
    """Roles that do not do their work, and jobs that fail or stay away."""
    faults = heartbeats.faults(now)
    yield from _of_roles(faults)
    ticking = not faults or {fault.role for fault in faults} == {Role.EVENTS}
    for job in jobs.faults(now):
        if job.error or ticking:  # with a silent role, that its jobs stay away is no news
            yield _of_job(job)


def _of_roles(faults: Sequence[RoleFault]) -> Iterator[Need]:
    broker = [fault for fault in faults if fault.fault is Fault.BROKER]
    others = [fault for fault in faults if fault.fault is not Fault.BROKER]
    silent = [fault for fault in others if fault.fault is Fault.SILENT]
    if broker:
        yield _need("broker", Kind.BAD, _broken(), f"{broker[0].error}. {_behind_broker()}", min(_moments(broker), default=None))
    if {fault.role for fault in silent} >= {*heartbeats.OF_QUEUES, Role.TICKER}:
        words = _("None of the portal’s workers gives a sign of life")
        yield _need("workers", Kind.BAD, words, _nothing_works(), max(_moments(silent), default=None))
        others = [fault for fault in others if fault.role == Role.EVENTS]
    for fault in others:
        kind = Kind.BAD if fault.role in URGENT else Kind.WARN
        yield _need(f"role-{fault.role}", kind, sentence(fault), str(FOLLOWS[fault.role]), fault.since)


def _moments(faults: Sequence[RoleFault]) -> list[datetime]:
    return [fault.since for fault in faults if fault.since]


def _broken() -> str:
    return _("The broker (Redis) takes no messages")


def _behind_broker() -> str:
    return _("Changes are saved, and nothing goes out until it works again. Look whether Redis runs and has memory left.")


def _nothing_works() -> str:
    return _(
        "Changes are saved; nothing reaches a gateway, no mail leaves, nothing is counted. Start the workers, or look into their logs."
    )


def sentence(fault: RoleFault) -> str:
    """What is wrong with a role, without its consequences."""
    given = {"role": fault.role.label}
    if fault.fault is Fault.BROKER:
        return _broken()
    if fault.fault is Fault.IDLE:
        return _("The %(role)s is alive and finishes no tasks") % given
    if fault.since is None:
        return _("The %(role)s has never given a sign of life") % given
    return _("The %(role)s gives no sign of life") % given


def _of_job(fault: jobs.JobFault) -> Need:
    given = {"job": title_of_job(fault.name)}
    well = _("It last succeeded %(at)s.") % {"at": formats.full(fault.succeeded)} if fault.succeeded else _("It has never succeeded.")
    if fault.error:
        return _need(f"job-{fault.name}", Kind.BAD, _("Job fails: %(job)s") % given, f"{fault.error}. {well}", fault.since)
    evidence = _("It has missed several turns although the scheduler runs.") + " " + well
    return _need(f"job-{fault.name}", Kind.WARN, _("Job does not run: %(job)s") % given, evidence, fault.since)


def _need(key: str, kind: Kind, what: str, evidence: str, at: datetime | None) -> Need:
    return Need(
        key.replace(" ", "-").replace(".", "-"), State(kind, _("Portal"), "clock"), what, evidence, at, _("Open"), url("desk:system")
    )
