"""Services that write members and devices.

Every refusal is a sentence for people. A save with an old version overwrites nothing.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from django.db import IntegrityError, connection, transaction
from django.db.models import Exists, F, Max, OuterRef, QuerySet
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.lib import dependents
from apps.lib.database.validity import check_not_too_long_ago
from apps.lib.dependents import EndedCount
from apps.lib.enqueue import enqueue_task
from apps.lib.errors import Conflict, Problem
from apps.lib.fields import MacField
from apps.members.membership_plans import drop_plans
from apps.members.models import Departure, Device, Member, Room, Tariff
from apps.preferences.declarations import HOLD_DAYS
from apps.preferences.selectors import read_setting

FIRST_NUMBER = 1000
LAST_NUMBER = 2**31 - 1  # the highest that the column can store


@dataclass(frozen=True, slots=True)
class MemberFacts:
    """The facts of a member that people enter."""

    name: str
    email: str
    language: str
    tariff: Tariff
    room: Room | None
    since: date
    paid_until: date | None
    note: str


def add_member(*, facts: MemberFacts, number: int | None = None, active: bool = False, by: User) -> Member:
    """Add a member, with the next free number if none is given. Raises Problem when the number is taken."""
    state = Member.State.ACTIVE if active else Member.State.PENDING
    try:
        with transaction.atomic():
            demand_offered(facts.tariff)
            given = number or reserve_number()
            member = Member.objects.create(number=given, state=state, **_validate_facts(facts))
            enqueue_task("workers.reconcile", by.pk)
    except IntegrityError as error:
        raise _explain_member(error, number) from error
    return member


def change_member(*, member: Member, version: int, facts: MemberFacts, by: User) -> Member:
    """Change a member's facts. Raises Conflict when the member was changed since `version`, Problem when it was erased."""
    if member.erased_at:
        raise Problem(explain_erased_member(), culprit=member)
    if facts.tariff.pk != member.tariff_id:
        demand_offered(facts.tariff)
    with transaction.atomic():
        current = Member.objects.filter(pk=member.pk, version=version)
        if not current.update(version=F("version") + 1, **_validate_facts(facts)):
            raise Conflict(
                _("This member was changed by someone else while you were editing. Your input is kept below; compare and save again.")
            )
        enqueue_task("workers.reconcile", by.pk)
    member.refresh_from_db()
    return member


def activate_member(*, member: Member, by: User) -> None:
    """Activate the membership; a member who comes back gets what is still held for them. Idempotent.

    Raises Problem when the personal data were erased.
    """
    with transaction.atomic():
        changed = Member.objects.select_for_update(of=("self",), no_key=True).filter(pk=member.pk).exclude(state=Member.State.ACTIVE)
        if changed.exclude(erased_at=None).exists():
            raise Problem(explain_erased_member(), culprit=member)
        if changed.update(state=Member.State.ACTIVE, version=F("version") + 1):
            dependents.mark_dependents_changed(Member, [member.pk])
        enqueue_task("workers.reconcile", by.pk)


def explain_erased_member() -> str:
    return _("The personal data of this member was erased. Add the person as a new member.")


def end_membership(*, member: Member, by: User) -> list[EndedCount]:
    """End the membership: remove the member from the gateways and cancel what is planned for later. Idempotent.

    Holdings are kept for HOLD_DAYS in case the member comes back, and then released (departures.py). If HOLD_DAYS is 0, they end
    now. Returns what is kept or was ended.
    """
    with transaction.atomic():
        staying = Member.objects.filter(pk=member.pk).exclude(state=Member.State.LEFT)
        staying.update(state=Member.State.LEFT, room=None, version=F("version") + 1)
        Departure.objects.filter(member=member, state=Departure.State.PLANNED).update(state=Departure.State.DROPPED)
        drop_plans(member)
        dependents.mark_dependents_changed(Member, [member.pk])
        held = (
            dependents.count_dependents(Member, [member.pk]) if read_setting(HOLD_DAYS) else dependents.end_dependents(Member, [member.pk])
        )
        enqueue_task("workers.reconcile", by.pk)
    return held


def extend_paid(*, members: QuerySet[Member], until: date, by: User) -> int:
    """Set “paid until” of those of the members who are paid for less, and return their number. Never shortens.

    Raises Problem for a day that is too long ago.
    """
    check_not_too_long_ago(until, "until")
    with transaction.atomic():
        behind = members.filter(paid_until__lt=until) | members.filter(paid_until=None)
        changed = _update(behind, paid_until=until)
        enqueue_task("workers.reconcile", by.pk)
    return changed


def assign_tariff(*, members: QuerySet[Member], tariff: Tariff, by: User) -> int:
    """Set the tariff of those of the members who have another one, and return their number. Raises Problem if it is not offered."""
    demand_offered(tariff)
    with transaction.atomic():
        changed = _update(members.exclude(tariff=tariff), tariff=tariff)
        enqueue_task("workers.reconcile", by.pk)
    return changed


def reserve_number() -> int:
    """Return a free number. An advisory lock keeps other transactions from taking one before this transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext('members_member.number'))")
    return _find_free_number()


def _find_free_number() -> int:
    """Return the number after the highest; if the highest possible number is taken, the lowest free one."""
    last: int = Member.objects.aggregate(last=Max("number"))["last"] or FIRST_NUMBER
    if last < LAST_NUMBER:
        return last + 1
    follower = Member.objects.filter(number=OuterRef("number") + 1)
    before = Member.objects.filter(~Exists(follower), number__lt=LAST_NUMBER).order_by("number").values_list("number", flat=True).first()
    return (before or FIRST_NUMBER) + 1


def _update(members: QuerySet[Member], **values: object) -> int:
    """Update the members and return their number.

    Locks the rows in the order of their ids first, so that transactions that change some of the same members wait instead of
    deadlocking.
    """
    found = Member.objects.filter(pk__in=members.order_by().values("pk")).order_by("pk")
    ids = list(found.select_for_update(of=("self",), no_key=True).values_list("pk", flat=True))
    return Member.objects.filter(pk__in=ids).update(version=F("version") + 1, **values)


def add_device(*, member: Member, name: str, mac: str, by: User) -> Device:
    """Add a device. Raises Problem when another device has this MAC address."""
    try:
        with transaction.atomic():
            device = Device.objects.create(member=member, name=_validate_device_name(name), mac=mac)
            enqueue_task("workers.reconcile", by.pk)
    except IntegrityError as error:
        raise _explain_device(error, mac) from error
    return device


def change_device(*, device: Device, name: str, mac: str, by: User) -> Device:
    """Change a device's name or MAC address, as for a new network card. Raises Problem when another device has the MAC address."""
    try:
        with transaction.atomic():
            Device.objects.filter(pk=device.pk).update(name=_validate_device_name(name), mac=mac)
            enqueue_task("workers.reconcile", by.pk)
    except IntegrityError as error:
        raise _explain_device(error, mac) from error
    device.refresh_from_db()
    return device


def remove_device(*, device: Device, by: User) -> None:
    """Delete a device; its addresses stay with the member. Idempotent."""
    with transaction.atomic():
        Device.objects.filter(pk=device.pk).delete()
        enqueue_task("workers.reconcile", by.pk)


def demand_offered(tariff: Tariff) -> None:
    """Raise Problem if further members cannot get this tariff."""
    if not tariff.offered:
        raise Problem(_("The tariff %(tariff)s is not offered any more. Choose another.") % {"tariff": tariff}, "tariff", culprit=tariff)


def _validate_facts(facts: MemberFacts) -> dict[str, object]:
    values = {name: value.strip() if isinstance(value, str) else value for name, value in _iter_facts(facts)}
    if not values["name"]:
        raise Problem(_("Enter the member’s name."), "name")
    check_not_too_long_ago(facts.since, "since")
    check_not_too_long_ago(facts.paid_until, "paid_until")
    return values


def _iter_facts(facts: MemberFacts) -> Iterable[tuple[str, object]]:
    return ((name, getattr(facts, name)) for name in MemberFacts.__dataclass_fields__)


def _validate_device_name(name: str) -> str:
    if not name.strip():
        raise Problem(_("Enter a name for the device, such as “Laptop”."), "name")
    return name.strip()


def _explain_member(error: IntegrityError, number: int | None) -> Problem:
    if "number" not in str(error):
        raise error
    holder = Member.objects.filter(number=number).first() if number else None
    free = _find_free_number()
    if holder is None:
        return Problem(_("Another member was added at the same moment. Save again."), "number", offer=str(free))
    text = _("M-%(number)d belongs to %(member)s. M-%(free)d is free.")
    facts = {"number": holder.number, "member": holder, "free": free}
    unnamed = _("M-%(number)d belongs to another member. M-%(free)d is free.") % facts
    return Problem(text % facts, "number", offer=str(free), culprit=holder, unnamed=unnamed)


def _explain_device(error: IntegrityError, mac: str) -> Problem:
    if "mac" not in str(error):
        raise error
    holder = Device.objects.filter(mac=MacField().parse(mac)).select_related("member").first()
    if holder is None:
        return Problem(_("%(mac)s was just added for another device.") % {"mac": mac}, "mac")
    text = _("%(mac)s is “%(device)s” of %(member)s (M-%(number)d).")
    facts = {"mac": holder.mac, "device": holder.name, "member": holder.member, "number": holder.member.number}
    return Problem(text % facts, "mac", culprit=holder, unnamed=_("%(mac)s is a device of another member.") % facts)
