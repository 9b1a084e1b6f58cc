"""Words about the portal's own programs, hosts and jobs: their names, what is wrong with them, and what follows."""

from collections.abc import Iterable
from datetime import datetime

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.lib import message_broker
from apps.operations import heartbeats, host_heartbeats
from apps.operations.heartbeats import ProcessFault, RoleFaultKind
from apps.operations.host_heartbeats import HostFault, HostFaultKind, KeyDifference
from apps.operations.models import ProcessRole

CONSEQUENCES: dict[ProcessRole, Promise] = {
    ProcessRole.WORKER: gettext_lazy("Changes are saved but reach no gateway. Start “worker”, or check its log."),
    ProcessRole.COLLECTOR: gettext_lazy(
        "Counters are not read, gateways are not polled, webhooks are not notified. Start “collector”, or check its log."
    ),
    ProcessRole.FEEDS: gettext_lazy(
        "Ban lists with a feed are not refreshed, large tables of members not imported. Start “feeds”, or check its log."
    ),
    ProcessRole.MAILER: gettext_lazy(
        "Mail is neither sent nor read, nobody is told of alarms; nothing is lost. Start “mailer”, or check its log."
    ),
    ProcessRole.TICKER: gettext_lazy(
        "Saved changes still go out. Scheduled work stops: gateways are not checked, nothing is retried, "
        "no counters are read. Start “beat”."
    ),
    ProcessRole.EVENTS: gettext_lazy("Pages refresh themselves instead; scripts that wait for gateways are refused. Start “events”."),
}
JOBS: dict[str, Promise] = {
    "workers.reconcile": gettext_lazy("Deploying changes to the gateways"),
    "workers.reconcile_group": gettext_lazy("Deploying a change to one group of gateways"),
    "workers.take_over": gettext_lazy("Resuming rollouts"),
    "workers.examine_machines": gettext_lazy("Examining machines that join"),
    "workers.probe_gateways": gettext_lazy("Sending probe packets through the gateways"),
    "workers.read_health": gettext_lazy("Reading the gateways’ health"),
    "workers.read_timeouts": gettext_lazy("Reading the remaining times of connections"),
    "workers.sum_health": gettext_lazy("Summing up the gateways’ health"),
    "workers.read_portal_health": gettext_lazy("Reading the portal’s own health"),
    "workers.tend_evidence": gettext_lazy("Looking for evidence that was asked for"),
    "workers.collect_evidence": gettext_lazy("Collecting evidence of a gateway"),
    "workers.watch_roles": gettext_lazy("Asking the gateways for their roles"),
    "workers.upgrade_agents": gettext_lazy("Upgrading the agents of gateways"),
    "workers.switch_roles": gettext_lazy("Switching from one gateway to another"),
    "workers.offer_tables": gettext_lazy("Looking for tables of members that wait"),
    "workers.import_people": gettext_lazy("Checking and importing large tables of members"),
    "workers.forget": gettext_lazy("Removing expired data"),
    "workers.lifecycle": gettext_lazy("Departures, moves and erasures that are due"),
    "workers.refresh_feeds": gettext_lazy("Checking which feeds are due"),
    "workers.refresh_feed": gettext_lazy("Refreshing a feed"),
    "workers.send_mail": gettext_lazy("Sending mail"),
    "workers.receive_mail": gettext_lazy("Reading incoming mail"),
    "workers.fetch_mail": gettext_lazy("Fetching mail from the mailbox"),
    "workers.answer_tickets": gettext_lazy("Answering many tickets at once"),
    "workers.send_announcements": gettext_lazy("Sending announcements"),
    "workers.count_tickets": gettext_lazy("Counting tickets"),
    "workers.send_alarm_messages": gettext_lazy("Sending messages about alarms"),
    "workers.send_sign_of_life": gettext_lazy("Sending a sign of life"),
    "workers.read_duty_calendars": gettext_lazy("Reading the calendars of the duty rota"),
    "workers.watch_alarms": gettext_lazy("Watching for alarms"),
    "workers.watch_status": gettext_lazy("Noting how well services are reached"),
    "workers.mail_status_updates": gettext_lazy("Writing mails about incidents"),
    "workers.tell_webhooks": gettext_lazy("Notifying webhooks"),
    "workers.collect": gettext_lazy("Requesting the gateways’ counters"),
    "workers.collect_one": gettext_lazy("Reading a gateway’s counters"),
    "workers.share_fairly": gettext_lazy("Sharing full uplinks fairly"),
    "workers.tell_of_quotas": gettext_lazy("Mails about quotas"),
    "workers.tend_usage": gettext_lazy("Summing up usage"),
    "backup": gettext_lazy("Backing up the portal"),
}


def render_job_title(name: str) -> str:
    """Return the title of a job for people; a part of the pruning names its table."""
    if name.startswith("prune "):
        return _("Removing old rows of %(table)s") % {"table": name.removeprefix("prune ")}
    return str(JOBS.get(name, name))


def describe_broker_fault() -> str:
    """Say that the broker, by its name, accepts nothing."""
    return _("The broker (%(broker)s) accepts no messages") % {"broker": message_broker.get_broker_name()}


def describe_broker_effect() -> str:
    """Say what follows from that, and what to do."""
    if message_broker.is_rabbitmq():
        return _("Changes are saved, but nothing goes out until it works again. Check that RabbitMQ runs, and has memory and disk left.")
    return _("Changes are saved, but nothing goes out until it works again. Check that Redis runs and has memory left.")


def describe_standstill() -> str:
    """Say what follows if no worker runs at all."""
    return _("Changes are saved, but reach no gateway; no mail is sent, nothing is counted. Start the workers, or check their logs.")


def describe_role_fault(fault: ProcessFault) -> str:
    """Describe the fault of a role, without its consequences."""
    given = {"role": fault.role.label}
    if fault.fault is RoleFaultKind.BROKER:
        return describe_broker_fault()
    if fault.fault is RoleFaultKind.IDLE:
        return _("The %(role)s is running but finishes no tasks") % given
    if fault.since is None:
        return _("The %(role)s has never sent a heartbeat") % given
    return _("The %(role)s sends no heartbeat") % given


def list_host_faults(faults: Iterable[ProcessFault], now: datetime) -> list[HostFault]:
    """Return the faults of hosts in roles that another host does. faults: of roles that nobody does."""
    done = {*heartbeats.list_expected_roles()} - {each.role for each in faults}
    return host_heartbeats.list_host_faults(done, now, heartbeats.SILENT)


def describe_host_fault(fault: HostFault) -> tuple[str, str]:
    """Return what is wrong with a host, and what follows."""
    given = {"host": fault.host, "roles": ", ".join(str(role.label) for role in fault.roles)}
    if fault.kind is HostFaultKind.BROKER:
        words = _("%(host)s does not reach the broker") % given
        return words, _("%(error)s. The programs of other hosts reach it, and do the work.") % {"error": fault.error}
    words = _("Programs on %(host)s send no heartbeat: %(roles)s") % given
    return words, _(
        "The same programs of other hosts do the work. Start them, or look at the machine; if it is gone for good: "
        "“manage.py forget_host %(host)s”."
    ) % given


def describe_key_difference(difference: KeyDifference) -> tuple[str, str]:
    """Return which hosts have different keys, and what follows."""
    if not difference.is_ssh:
        words = _("The hosts %(hosts)s have different secret keys") % {"hosts": ", ".join(difference.hosts)}
        return words, _(
            "What one signs or encrypts the other cannot read: people are signed out again and again. "
            "Set the same NETZWART_SECRET_KEY, and restart them."
        )
    if difference.missing:
        words = _("The portal has no ssh key on %(hosts)s") % {"hosts": ", ".join(difference.missing)}
    else:
        words = _("The hosts %(hosts)s have different ssh keys") % {"hosts": ", ".join(difference.hosts)}
    return words, _(
        "Gateways accept one key. Work that falls to a host without it fails: copy the file NETZWART_SSH_KEY from a host "
        "whose connections work."
    )
