"""Checks of the first steps: what is there, in a sentence, and whether that is enough."""

from django.db.models import Count, Q
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.accounts.models import User
from apps.accounts.recent_auth import has_second_factor
from apps.accounts.roles import Role
from apps.deployments.observed_state.gateway_states import has_ever_answered
from apps.desk.first_steps.finding import StepFinding
from apps.lib.database.validity import is_valid_now
from apps.lib.ui import formats
from apps.members.models import Member, Room, Site, Tariff
from apps.network.models import Gateway, GatewayGroup, Holding, Pool
from apps.preferences.declarations import CONTACT, NETWORK_NAME
from apps.preferences.selectors import is_chosen, read_setting


def check_second_factor(user: User) -> StepFinding:
    if has_second_factor(user):
        return StepFinding(True, _("You have a second factor."))
    return StepFinding(False, _("You sign in by password alone."))


def check_name_and_contact(_user: User) -> StepFinding:
    name, contact = read_setting(NETWORK_NAME), read_setting(CONTACT)
    if not is_chosen(NETWORK_NAME):
        return StepFinding(False, _("It is still called %(name)s.") % {"name": name})
    if not contact:
        return StepFinding(False, _("%(name)s names no contact yet.") % {"name": name})
    return StepFinding(True, f"{name}; {contact}")


def check_second_administrator(_user: User) -> StepFinding:
    roles = Q(roles__contains=[Role.NETWORK_ADMIN.value]) | Q(roles__contains=[Role.APPROVER.value])
    number = User.objects.filter(roles, is_active=True).count()
    sentence = ngettext("%(number)s account administers or approves.", "%(number)s accounts administer or approve.", number)
    return StepFinding(number > 1, sentence % {"number": formats.format_number(number)})


def check_groups(_user: User) -> StepFinding:
    names = ", ".join(GatewayGroup.objects.values_list("name", flat=True)[:5])
    return StepFinding(bool(names), names or _("There is none yet."))


def check_gateways(_user: User) -> StepFinding:
    gateways = list(Gateway.objects.select_related("status").order_by("name"))
    if not gateways:
        return StepFinding(False, _("There is none yet."))
    silent = [str(each) for each in gateways if not has_ever_answered(each)]
    if silent:
        return StepFinding(False, _("No answer yet from %(names)s.") % {"names": ", ".join(silent[:5])})
    if not any(each.carries4 for each in gateways) and not any(each.carries6 for each in gateways):
        return StepFinding(False, _("No gateway is primary for IPv4 or IPv6."))
    names = ", ".join(map(str, gateways[:5]))
    sentence = _("%(names)s answered.") if len(gateways) > 1 else _("Only %(names)s answers: nothing stands in for it.")
    return StepFinding(True, sentence % {"names": names})


def check_pools(_user: User) -> StepFinding:
    there = dict(Pool.objects.order_by().values_list("kind").annotate(Count("pk")))
    has4, has6 = {"private4", "public4"} <= there.keys(), "prefix6" in there
    if has4 or has6:
        return StepFinding(True, _("Members can get %(families)s.") % {"families": " + ".join(["IPv4"] * has4 + ["IPv6"] * has6)})
    if "private4" in there:
        return StepFinding(False, _("Members can get private addresses, but none to leave as."))
    return StepFinding(False, _("Members can get no address."))


def check_sites(_user: User) -> StepFinding:
    rooms, sites = Room.objects.count(), Site.objects.count()
    facts = {"sites": formats.format_number(sites), "rooms": formats.format_number(rooms)}
    return StepFinding(rooms > 0, _("Houses: %(sites)s, rooms: %(rooms)s") % facts)


def check_tariffs(_user: User) -> StepFinding:
    names = ", ".join(Tariff.objects.filter(offered=True).values_list("name", flat=True)[:5])
    return StepFinding(bool(names), names or _("There is none yet."))


def check_members(_user: User) -> StepFinding:
    active = Member.objects.filter(state=Member.State.ACTIVE).count()
    with_address = Holding.objects.filter(is_valid_now(), member__state=Member.State.ACTIVE).values("member").distinct().count()
    facts = {"active": formats.format_number(active), "number": formats.format_number(with_address)}
    return StepFinding(with_address > 0, _("Active: %(active)s, with an address: %(number)s") % facts)
