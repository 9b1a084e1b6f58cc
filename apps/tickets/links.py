"""Links of tickets: the kinds of rows that a ticket can be about, with their names, URLs and candidates for a member."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import structlog
from django.db import IntegrityError, transaction
from django.db.models import Model
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.accounts.models import User
from apps.bans.models import Ban, Block
from apps.lib.database.validity import is_valid_now
from apps.lib.errors import Problem
from apps.lib.fields import PrefixField
from apps.members.models import Device, Member
from apps.nat.models import Pinhole, PortForward
from apps.network.models import Gateway
from apps.tickets.models import Link, Ticket
from apps.tickets.thread import resolve_merged

log = structlog.get_logger()


@dataclass(frozen=True)
class LinkableKind:
    """A kind of row that tickets can link to. href: URL of a row's page for staff; of: the rows that concern a member, None for a kind
    that is not offered as a choice; related: relations to select.
    """

    model: type[Model]
    name: str | Promise
    href: Callable[[Any], str]
    of: Callable[[Member], Any] | None = None
    related: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        return self.model._meta.label_lower

    def list_rows(self) -> Any:
        rows = self.model._base_manager.all()
        return rows.select_related(*self.related) if self.related else rows


def _build_member_url(row: Any) -> str:
    return reverse("desk:member", args=[row.holding.member_id])


KINDS: Final = {
    each.key: each
    for each in (
        LinkableKind(Member, gettext_lazy("Member"), lambda row: reverse("desk:member", args=[row.pk])),
        LinkableKind(Device, gettext_lazy("Device"), lambda row: reverse("desk:member", args=[row.member_id]), lambda of: of.devices.all()),
        LinkableKind(
            PortForward, gettext_lazy("Port forward"), _build_member_url,
            lambda of: PortForward.objects.filter(is_valid_now(), holding__member=of).select_related("holding"), ("holding",),
        ),
        LinkableKind(
            Pinhole, gettext_lazy("IPv6 pinhole"), _build_member_url,
            lambda of: Pinhole.objects.filter(is_valid_now(), holding__member=of).select_related("holding"), ("holding",),
        ),
        LinkableKind(
            Block, gettext_lazy("Block"), lambda row: reverse("bans:block", args=[row.pk]),
            lambda of: Block.objects.filter(member=of).select_related("member").order_by("-id")[:5], ("member",),
        ),
        LinkableKind(Ban, gettext_lazy("Ban"), lambda row: reverse("bans:ban", args=[row.pk]), None, ("list",)),
        LinkableKind(
            Gateway, gettext_lazy("Gateway"), lambda row: reverse("gateways:gateway", args=[row.pk]),
            lambda _of: Gateway.objects.order_by("name"),
        ),
    )
}  # fmt: skip


@dataclass(frozen=True)
class LinkRow:
    """A link as the page shows it. words, url: "" for a row that no longer exists."""

    link: Link
    kind: str
    words: str
    url: str


def list_links(ticket: Ticket) -> list[LinkRow]:
    """Return the ticket's links, with one query for each kind among them."""
    links = list(ticket.links.order_by("id"))
    wanted: dict[str, list[int]] = defaultdict(list)
    for link in links:
        wanted[link.kind].append(link.object_id)
    found = {(kind, row.pk): row for kind, pks in wanted.items() if kind in KINDS for row in KINDS[kind].list_rows().filter(pk__in=pks)}
    return [_build_link_row(link, found.get((link.kind, link.object_id))) for link in links]


def _build_link_row(link: Link, row: Any) -> LinkRow:
    kind = KINDS.get(link.kind)
    name = str(kind.name) if kind else link.kind
    return LinkRow(link, name, _describe_row(row) if row else "", kind.href(row) if kind and row else "")


def iter_link_choices(member: Member | None) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield the choices of rows to link by kind, like `("Device", [("members.device:17", "Laptop")])`."""
    for kind in KINDS.values():
        if kind.of and (member or kind.model is Gateway):
            rows = [(f"{kind.key}:{row.pk}", _describe_row(row)) for row in kind.of(member)]  # type: ignore[arg-type]  # gateways ignore it
            if rows:
                yield str(kind.name), rows


def _describe_row(row: Any) -> str:
    return str(row.get_reason_display()) if isinstance(row, Block) else str(row.prefix) if isinstance(row, Ban) else str(row)


def add_link(*, ticket: Ticket, kind: str, object_id: int, by: User) -> None:
    """Link the ticket to a row. Idempotent. Raise Problem when there is no such row."""
    if kind not in KINDS or not KINDS[kind].list_rows().filter(pk=object_id).exists():
        raise Problem(_("This object no longer exists."), "what")
    try:
        with transaction.atomic():
            Link.objects.create(ticket_id=resolve_merged(ticket.pk), kind=kind, object_id=object_id, by=by)
    except IntegrityError as error:
        if "ticket_link_once" not in str(error):
            raise


def link_ban(*, ticket: Ticket, text: str, by: User) -> None:
    """Link the ticket to the ban of exactly this address or prefix. Raise Problem when there is none."""
    try:
        prefix = PrefixField().parse(text.strip())
    except ValueError as error:
        raise Problem(_("“%(text)s” is neither an address nor a prefix.") % {"text": text}, "ban") from error
    bans: Iterable[Ban] = Ban.objects.filter(prefix=prefix).order_by("pk")[:1]
    found = next(iter(bans), None)
    if found is None:
        raise Problem(_("%(prefix)s is not banned.") % {"prefix": prefix}, "ban")
    add_link(ticket=ticket, kind=Ban._meta.label_lower, object_id=found.pk, by=by)


def remove_link(*, link: Link, by: User) -> None:
    """Remove the link. Idempotent."""
    Link.objects.filter(pk=link.pk).delete()
    log.info("link of a ticket removed", ticket=link.ticket_id, kind=link.kind, id=link.object_id, by=by.username)
