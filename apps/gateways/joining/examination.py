"""Examination of a joining machine: how far the portal gets with it at this moment. Runs where its ssh key is: in a worker or a command.

It changes nothing on the machine. What it found is stored only if nobody has changed the row meanwhile.
"""

import socket
import time
from contextlib import suppress
from ipaddress import ip_address
from subprocess import SubprocessError
from typing import Any

from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from apps.deployments.transport import agent_channel, ssh_keys
from apps.deployments.transport.agent_channel import Unreachable
from apps.deployments.transport.ssh import SshFault
from apps.gateways.joining.models import JoiningMachine
from apps.lib.fields import Address
from firewall import wire
from firewall.codec import encode
from firewall.machine import Describe, MachineFacts

Progress = JoiningMachine.Progress


class StopExamination(Exception):  # noqa: N818 - a state of the machine, not an error of the program
    """The examination gets no further. problem: why, in a sentence."""

    def __init__(self, progress: Progress, problem: str) -> None:
        super().__init__(problem)
        self.progress, self.problem = progress, problem


def examine_machine(pk: int) -> JoiningMachine | None:
    """Examine the machine and store the findings. Return its row as it is then; None if it has joined or was given up."""
    row = JoiningMachine.objects.select_related("group").filter(pk=pk).first()
    if row is None:
        return None
    found: dict[str, Any] = {"connect_ms": None}
    try:
        _examine(row, found)
        found |= {"progress": Progress.READY if row.host_key else Progress.REACHED, "problem": ""}
    except StopExamination as stop:
        found |= {"progress": stop.progress, "problem": stop.problem}
    JoiningMachine.objects.filter(pk=pk, version=row.version).update(**found, examined=Now())
    return JoiningMachine.objects.select_related("group").filter(pk=pk).first()


def list_requested() -> list[int]:
    """Return the machines whose examination was requested and has not been done."""
    undone = Q(examined=None) | Q(examined__lt=F("requested"))
    return list(JoiningMachine.objects.filter(undone, requested__isnull=False).values_list("pk", flat=True))


def _examine(row: JoiningMachine, found: dict[str, Any]) -> None:
    """Add what is found as values of the row's columns, step by step. Raises StopExamination."""
    try:
        found["portal_key"] = ssh_keys.ensure_portal_key()[0]
    except (OSError, SubprocessError) as error:
        raise StopExamination(Progress.NEW, _("The portal’s ssh key cannot be used: %(error)s") % {"error": error}) from error
    try:
        found["portal_address"] = find_own_address(row.address, row.port)
        found["connect_ms"] = agent_channel.measure_connect(row.build_gateway())
        if not row.host_key:
            found["seen_key"] = ssh_keys.scan_host_key(row.address, row.port)
    except (Unreachable, OSError) as fault:
        raise StopExamination(Progress.UNREACHED, str(fault)) from fault
    if row.host_key:
        found |= _ask_agent(row, found)


def _ask_agent(row: JoiningMachine, found: dict[str, Any]) -> dict[str, Any]:
    """Return the machine's facts as columns. Raises StopExamination, after adding the key of a machine that shows another one."""
    before = time.time()
    try:
        with agent_channel.open_session(row.build_gateway()) as channel:
            channel.ask(wire.Hello(int(before)))  # opens the session, which takes longer than an answer
            before = time.time()
            answer = channel.ask(Describe())
    except Unreachable as fault:
        progress = _classify(fault)
        if progress == Progress.CHANGED:
            with suppress(Unreachable):
                found["seen_key"] = ssh_keys.scan_host_key(row.address, row.port)
        raise StopExamination(progress, str(fault)) from fault
    after = time.time()
    facts = _check_answer(row, answer)
    middle = round((before + after) * 500)
    return {"facts": encode(facts), "clock_offset": facts.clock - middle, "clock_doubt": round((after - before) * 500)}


def _classify(fault: Unreachable) -> Progress:
    """Return how far a session got that ended like this."""
    match fault.fault:
        case SshFault.OTHER_HOST_KEY:
            return Progress.CHANGED
        case SshFault.NO_KEY | SshFault.KEY_REFUSED:
            return Progress.REFUSED
    return Progress.FOREIGN if isinstance(fault.__cause__, wire.VersionError) else Progress.SILENT


def _check_answer(row: JoiningMachine, answer: wire.Reply) -> MachineFacts:
    if not isinstance(answer, MachineFacts):
        words = _("The agent is of another release: it does not describe its machine (%(text)s). Paste the command again.")
        raise StopExamination(Progress.FOREIGN, words % {"text": getattr(answer, "text", type(answer).__name__)[:300]})
    if answer.name != row.name:
        words = _("The agent calls itself %(found)s, not %(name)s. Paste the command of this page on the machine.")
        raise StopExamination(Progress.FOREIGN, words % {"found": answer.name[:40], "name": row.name})
    return answer


def find_own_address(address: Address, port: int) -> Address:
    """Return the address that this machine uses towards the gateway; sends no packet. Raises OSError without a route."""
    with socket.socket(socket.AF_INET if address.version == 4 else socket.AF_INET6, socket.SOCK_DGRAM) as towards:
        towards.connect((str(address), port))
        return ip_address(towards.getsockname()[0])
