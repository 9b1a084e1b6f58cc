"""Mail permits of active members."""

from ipaddress import IPv4Address, ip_network

from apps.nat.mail_permits.models import MailPermit
from apps.nat.mail_permits.services import grant_permit
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from apps.accounts.models import User
from apps.deployments.rule_kinds.event_sources import HOLDING, MEMBER
from apps.deployments.rule_kinds.kind import (
    AffectedThing,
    AuthorHistory,
    ElementOrigin,
    ObjectReader,
    RemovalDefinition,
    RuleKind,
    SetElement,
)
from apps.deployments.rule_kinds.member_rows import ADDRESSES_CONDITION, HOLDINGS_SQL, build_addresses_condition_parameters
from apps.deployments.rule_kinds.restoring import restore_holding
from firewall.policy import MailPermitSpec
from firewall.sets import ObjectKind


def _restore(thing: AffectedThing, by: User) -> None:
    holding = restore_holding(thing.prefix, by)
    if not MailPermit.objects.filter(holding=holding).exists():
        grant_permit(holding=holding, by=by)


def _list_origins(found: SetElement) -> list[ElementOrigin]:
    permits = MailPermit.objects.filter(holding__prefix=ip_network(found.address)).select_related("holding__member")
    return [_build_origin(each) for each in permits]


def _build_origin(permit: MailPermit) -> ElementOrigin:
    name, member = _("mail permit of %(address)s") % {"address": permit}, permit.holding.member
    return ElementOrigin("mail permit", name, str(member), reverse("desk:member", args=[member.pk]), anonymous=_("mail permit of a member"))


MAIL_PERMITS = RuleKind(
    kind=ObjectKind.MAIL_PERMITS,
    name=gettext_lazy("Mail permits"),
    count=lambda number: ngettext("%(n)s mail permit", "%(n)s mail permits", number),
    readers={
        "mail_permits": ObjectReader(
            HOLDINGS_SQL.format(
                columns="p.id, h.prefix - '0.0.0.0'::inet",
                join="JOIN nat_mailpermit p ON p.holding_id = h.id",
                where="h.kind = 'private4'",
                order="h.prefix",
            ),
            ADDRESSES_CONDITION,
            build_addresses_condition_parameters,
            lambda pk, number: MailPermitSpec(pk, IPv4Address(number)),
        )
    },
    list_origins=_list_origins,
    row_keys={MailPermit: lambda row: str(row.holding.prefix)},
    removal=RemovalDefinition(
        history="nat.mailpermit",
        label=lambda number: ngettext("mail permit is withdrawn", "mail permits are withdrawn", number),
        sentence=lambda members: ngettext("%(n)s member can no longer send mail:", "%(n)s members can no longer send mail:", members),
        undo=gettext_lazy("grants the permits again"),
        sources=(HOLDING, MEMBER, AuthorHistory("held", "nat_mailpermitevent", "event.holding_id = held.holding")),
        restore=_restore,
    ),
)
