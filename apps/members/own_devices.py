"""Devices and language that members set themselves; the tariff limits the number of devices.

The same services as for staff write them, but an error that a member sees never names another member. A MAC address is unique in
the whole network, so that a DHCP server finds one member by it.
"""

from django.db import transaction
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.accounts.models import User
from apps.lib.errors import Problem
from apps.members import services
from apps.members.models import Device, Member
from apps.members.tariff_allowance import check_tariff_allowance

GROUP_BIT = 0x01  # in the first octet: a group address, not one device's (IEEE 802, 8.2.2)


def add_device(*, member: Member, name: str, mac: str, by: User) -> Device:
    """Add a device. Raises Problem when the tariff's limit is reached, or the MAC address is another device's."""
    _check_mac(mac)
    try:
        with transaction.atomic():
            _check_quota(member)
            return services.add_device(member=member, name=name, mac=mac, by=by)
    except Problem as problem:
        raise _strip_names(problem, member) from problem


def change_device(*, device: Device, name: str, mac: str, by: User) -> Device:
    """Change a device's name or MAC address, as for a new network card.

    Raises Problem when the MAC address is invalid or another device's.
    """
    _check_mac(mac)
    try:
        return services.change_device(device=device, name=name, mac=mac, by=by)
    except Problem as problem:
        raise _strip_names(problem, device.member) from problem


def set_language(member: Member, language: str) -> None:
    """Set the language of the member's mails. The member's version stays, so open staff forms remain valid."""
    Member.objects.filter(pk=member.pk).exclude(language=language).update(language=language)


def remember_language(request: HttpRequest, language: str) -> None:
    """Use the language chosen in the top bar for the member's mails, too."""
    if isinstance(request.user, User) and (member := Member.objects.filter(user=request.user).first()):
        set_language(member, language)


def _check_mac(mac: str) -> None:
    if int(mac[:2], 16) & GROUP_BIT or mac == "00:00:00:00:00:00":
        raise Problem(_("%(mac)s is not the address of a single device.") % {"mac": mac}, "mac")


def _check_quota(member: Member) -> None:
    check_tariff_allowance(
        Device.objects.filter(member=member),
        member=member,
        most=lambda tariff: tariff.most_devices,
        states=(Member.State.PENDING, Member.State.ACTIVE),
        ended=_("Your membership has ended, so you cannot register a device."),
        full=lambda most: ngettext(
            "Your tariff allows %(most)d device, and it is already registered.",
            "Your tariff allows %(most)d devices, and all are already registered. Remove one that you no longer use first.",
            most,
        ),
    )


def _strip_names(problem: Problem, member: Member) -> Problem:
    """Return the same refusal without naming the other member."""
    if problem.fieldname != "mac" or (isinstance(problem.culprit, Device) and problem.culprit.member_id == member.pk):
        return problem
    return Problem(_("This address is registered for another member. Look again, and ask the administrators if it is yours."), "mac")
