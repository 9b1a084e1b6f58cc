"""Steps by which a machine becomes a gateway: begin, compare the host key, choose the interfaces; or give up.

Forms, the API and the command call these. The examination in between is in examination.py.
"""

from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Final

from django.db import IntegrityError, transaction
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.deployments.observed_state.gateway_states import record_first_answer
from apps.gateways import enrolment
from apps.gateways.joining.models import ACCOUNT, JoiningMachine
from apps.gateways.services import check_connection_settings
from apps.gateways.sync_facts import check_sync_address
from apps.lib.enqueue import enqueue_task
from apps.lib.errors import Conflict, Problem
from apps.lib.fields import Address, Prefix
from apps.network.models import Gateway, GatewayGroup

MOST = 20  # machines that join at the same time
PAUSE: Final = timedelta(seconds=4)  # between two examinations of one machine
TASK = "workers.examine_machines"

_NOTHING_FOUND: Final = {
    "progress": JoiningMachine.Progress.NEW,
    "problem": "",
    "seen_key": "",
    "facts": None,
    "connect_ms": None,
    "clock_offset": None,
    "clock_doubt": None,
    "portal_address": None,
    "examined": None,
    "requested": None,
}


def begin_joining(*, name: str, group: GatewayGroup, address: Address, port: int = 22, by: User | None = None) -> JoiningMachine:
    """Begin with a machine that becomes the gateway `name`. Raises Problem. by: None for a command."""
    enrolment.check_name_is_free(name)
    check_connection_settings(Gateway.Link.SSH, address, port, ACCOUNT)
    if JoiningMachine.objects.count() >= MOST:
        raise Problem(_("%(number)d machines are joining already. Finish one, or give one up.") % {"number": MOST})
    try:
        with transaction.atomic():
            made = JoiningMachine.objects.create(name=name, group=group, address=address, port=port, by=by)
    except IntegrityError as error:
        other = JoiningMachine.objects.filter(name=name).first()
        words = _("A machine is joining as %(name)s already. Go on with it, or give it up.")
        raise Problem(words % {"name": name}, "name", culprit=other) from error
    request_examination(made)
    return made


def move_machine(*, machine: JoiningMachine, address: Address, port: int, version: int | None = None) -> None:
    """Change where the machine is reached. Its host key has to be compared again. Raises Problem.

    version: the one that the change is based on; Conflict if there is another by now. None for one who read none.
    """
    check_connection_settings(Gateway.Link.SSH, address, port, ACCOUNT)
    known = JoiningMachine.objects.filter(pk=machine.pk, **({} if version is None else {"version": version}))
    if (address, port) == (machine.address, machine.port):
        is_current = known.exists()
    else:
        values = {"address": address, "port": port, "host_key": "", **_NOTHING_FOUND}
        is_current = known.update(**values, version=F("version") + 1) == 1
    if not is_current:
        raise Conflict(_("This machine was changed, has joined or was given up meanwhile. Look at it as it is now."))
    machine.refresh_from_db()
    request_examination(machine)


def request_examination(machine: JoiningMachine) -> bool:
    """Let a worker examine the machine, unless a request waits or was answered just now. Return whether it was requested."""
    due = Q(requested=None) | Q(requested__lt=timezone.now() - PAUSE, examined__gte=F("requested"))
    if JoiningMachine.objects.filter(due, pk=machine.pk).update(requested=Now()) != 1:
        return False
    enqueue_task(TASK, machine.pk)
    return True


def accept_host_key(*, machine: JoiningMachine, fingerprint_key: str) -> None:
    """Accept the host key that a person has compared. Raises Conflict if the machine has shown another one since, else Problem."""
    key = enrolment.parse_host_key(fingerprint_key)
    values = {"host_key": key, "problem": "", "progress": JoiningMachine.Progress.REACHED, "requested": None}
    if JoiningMachine.objects.filter(pk=machine.pk, seen_key=key).update(**values, version=F("version") + 1) != 1:
        raise Conflict(_("The machine shows another host key now. Compare the fingerprints again."))
    machine.refresh_from_db()
    request_examination(machine)


def finish_joining(
    *,
    machine: JoiningMachine,
    lan: str,
    wan: str,
    management: str,
    sync: str,
    sync_address: Address | None = None,
    management_networks: Sequence[Prefix],
    carries: Sequence[int] = (),
    by: User | None = None,
) -> Gateway:
    """Make a gateway of the machine; the first rollout follows. Raises Problem, and the machine keeps joining then.

    sync_address: None for the one that the machine reports on the sync interface.
    """
    with transaction.atomic():
        row = JoiningMachine.objects.select_for_update(of=("self",)).select_related("group").filter(pk=machine.pk).first()
        if row is None:
            raise Problem(_("%(name)s has joined already, or was given up.") % {"name": machine})
        if not row.is_ready:
            raise Conflict(_("%(name)s is not ready: %(problem)s") % {"name": row, "problem": row.problem or row.get_progress_display()})
        _check_reported(row, {"lan": lan, "wan": wan, "management": management, "sync": sync})
        made = enrolment.enrol_gateway(
            name=row.name,
            group=row.group,
            address=row.address,
            port=row.port,
            account=ACCOUNT,
            host_key=row.host_key,
            lan=lan,
            wan=wan,
            management=management,
            sync=sync,
            sync_address=sync_address or find_sync_address(row, sync),
            management_networks=management_networks,
            carries=carries,
            by=by,
        )
        record_first_answer(made, row.examined or timezone.now())
        row.delete()
    return made


def find_sync_address(row: JoiningMachine, interface: str) -> Address | None:
    """Return the first IPv4 address that the machine reports on this interface; None if there is none, or if it could not be that."""
    facts = row.parse_facts()
    reported = [own.address for each in (facts.interfaces if facts else ()) if each.name == interface for own in each.addresses]
    for address in (each for each in reported if each.version == 4):
        with suppress(Problem):
            check_sync_address(address, interface, row.build_gateway())
            return address
    return None


def _check_reported(row: JoiningMachine, chosen: dict[str, str]) -> None:
    """Raise Problem for an interface that the machine did not report."""
    facts = row.parse_facts()
    names = [each.name for each in facts.interfaces] if facts else []
    for fieldname, name in chosen.items():
        if name and name not in names and not (facts and facts.more):
            words = _("%(machine)s has no interface “%(name)s”. It reported: %(names)s.")
            raise Problem(words % {"machine": row, "name": name[:40], "names": ", ".join(names[:20]) or "–"}, fieldname)


def give_up(*, machine: JoiningMachine) -> None:
    """Forget the machine. On it nothing changes; docs/gateway-setup.md says how to remove the agent."""
    JoiningMachine.objects.filter(pk=machine.pk).delete()
