"""Port forwards that members open for themselves: only to what they hold, within their tariff, on ports that are for them.

The same services as the staff's write them; what a member is told never names another member.
"""

from typing import Final

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.accounts.models import User
from apps.lib.errors import Problem
from apps.lib.fields import Address
from apps.lib.ports import span
from apps.members.models import Member
from apps.nat import services
from apps.nat.models import PortForward
from apps.nat.selectors import forwards_of, free_port, public_addresses_of
from apps.network.models import Holding

LOWEST: Final = 1024
"""Lower ports are system ports (RFC 6335, 6): whoever needs one asks the administrators."""
LONGEST: Final = 20
"""Ports of a range that members open for themselves: public addresses are shared."""


def may_open(public_port: int, ports: int) -> bool:
    """Are these ports for members? What the administrators opened beyond, members can close, not open again."""
    return public_port >= LOWEST and ports <= LONGEST


def open_port(
    *,
    member: Member,
    holding: Holding,
    public: Address,
    protocol: str,
    public_port: int,
    private_port: int,
    ports: int = 1,
    purpose: str = "",
    by: User,
) -> PortForward:
    """Lead public ports to a device of the member. Raises Problem when the tariff has no more, or the port is not to be had."""
    _check_is_own(member, holding, public)
    if public_port < LOWEST:
        text = _("Ports below %(lowest)d are opened by the administrators. Choose one from %(lowest)d to 65535.")
        free = free_port(public, protocol, LOWEST, ports)
        raise Problem(text % {"lowest": LOWEST}, "public_port", offer=str(free or ""))
    if ports > LONGEST:
        text = _("%(ports)d ports at once are opened by the administrators. Choose up to %(longest)d.")
        raise Problem(text % {"ports": ports, "longest": LONGEST}, "public_port")
    try:
        with transaction.atomic():
            _check_quota(member)
            return services.add_forward(
                holding=holding,
                public=public,
                protocol=protocol,
                public_port=public_port,
                private_port=private_port,
                ports=ports,
                purpose=purpose,
                by=by,
            )
    except Problem as problem:
        raise _without_names(problem, public, protocol, public_port, ports) from problem


def reopen_port(*, member: Member, forward: PortForward, by: User) -> PortForward:
    """Undo a removal. Raises Problem when its port was taken meanwhile, or the tariff has no more."""
    return open_port(
        member=member,
        holding=forward.holding,
        public=forward.public,
        protocol=forward.protocol,
        public_port=forward.public_port,
        private_port=forward.private_port,
        ports=forward.ports,
        purpose=forward.purpose,
        by=by,
    )


def _check_is_own(member: Member, holding: Holding, public: Address) -> None:
    """Nobody opens a port to what is another's, whatever the form said."""
    if holding.member_id != member.pk:
        raise Problem(_("Choose one of your devices."), "holding")
    if str(public) not in public_addresses_of(member):
        raise Problem(_("Choose an address of yours."), "public")


def _check_quota(member: Member) -> None:
    """Within the tariff's number; two requests at once are counted one after the other."""
    locked = Member.objects.select_for_update(of=("self",)).select_related("tariff").get(pk=member.pk)
    if locked.state != Member.State.ACTIVE:
        raise Problem(_("Your membership is not active, so no port can be opened."))
    most = locked.tariff.most_forwards
    if forwards_of(locked).count() >= most:
        text = ngettext(
            "Your tariff has room for %(most)d port forward, and it is in use.",
            "Your tariff has room for %(most)d port forwards, and all are in use. Close one that you no longer need first.",
            most,
        )
        raise Problem(text % {"most": most})


def _without_names(problem: Problem, public: Address, protocol: str, port: int, ports: int) -> Problem:
    """The same refusal, without who is in the way."""
    if problem.fieldname != "public_port" or (not problem.offer and problem.culprit is None):
        return problem
    facts = {"protocol": protocol.upper(), "ports": span(port, ports), "public": public, "free": problem.offer}
    text = _("%(protocol)s %(ports)s on %(public)s is taken already.") % facts
    if problem.offer:
        text += " " + _("%(free)s is free.") % facts
    return Problem(text, "public_port", offer=problem.offer)
