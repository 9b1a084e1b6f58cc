"""Export of all data that are kept about one member: a ZIP with a JSON document, and each list as CSV beside it."""

import csv
import io
import json
import zipfile
from collections.abc import Sequence
from typing import Any

from allauth.usersessions.models import UserSession
from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpResponse
from django.utils import timezone

from apps.announcements.models import AnnouncementRecipient
from apps.bans.models import Block
from apps.desk.lifecycle.erasing import list_sole_email_addresses
from apps.lib.csv_stream import escape_formula
from apps.mail.retention_sweep import list_mails_about
from apps.members.models import Departure, Device, Member, Membership
from apps.nat.models import Move, NatMapping, Pinhole, PortForward
from apps.network.models import Holding
from apps.tickets.models import Message, Ticket
from apps.traffic.rates.models import RateLimit
from apps.traffic.selectors import get_all_time_usage

type ExportRow = dict[str, Any]

FACTS = ("number", "name", "email", "language", "state", "since", "paid_until", "left_at", "note")
MAIL_FACTS = ("to", "subject", "text", "written", "state", "ended")


def collect_member_data(member: Member) -> dict[str, Any]:
    """Return what the portal keeps about the member, as plain values by kind."""
    traffic = get_all_time_usage(member)
    of_holding, mine = {"holding__member": member}, {"member": member}
    return {
        "member": {name: getattr(member, name) for name in FACTS} | {"tariff": str(member.tariff), "room": str(member.room or "")},
        "account": _build_account(member),
        "traffic": {"up_octets": traffic.up, "down_octets": traffic.down, "since": traffic.since, "last": traffic.last},
        "memberships": _list_timed_rows(Membership, mine, ()),
        "departures": _list_rows(Departure, mine, ("on", "state", "planned")),
        "moves": _list_rows(Move, mine, ("on", "room__site__name", "room__name", "pool__prefix", "follow", "state", "planned")),
        "mails": _list_mails(member),
        "devices": _list_rows(Device, mine, ("name", "mac")),
        "addresses": _list_timed_rows(Holding, mine, ("kind", "prefix", "device__name")),
        "leaves_as": _list_timed_rows(NatMapping, of_holding, ("holding__prefix", "public", "sharing")),
        "port_forwards": _list_timed_rows(
            PortForward, of_holding, ("public", "protocol", "public_port", "ports", "holding__prefix", "private_port", "purpose", "enabled")
        ),
        "pinholes": _list_timed_rows(Pinhole, of_holding, ("address", "protocol", "port", "ports", "purpose", "enabled")),
        "blocks": _list_timed_rows(Block, mine, ("reason", "message", "note")),
        "rate_limits": _list_timed_rows(RateLimit, mine, ("up_kbit", "down_kbit", "reason", "note")),
        "tickets": _list_rows(Ticket, mine, ("pk", "subject", "state", "opened_at", "touched_at", "tags")),
        "messages": _list_messages(member),
        "announcements": _list_rows(
            AnnouncementRecipient, mine, ("announcement__title_en", "announcement__title_de", "since", "delivery", "seen")
        ),
        "history": _list_rows(Member.pgh_event_model, {"pgh_obj_id": member.pk}, ("pgh_created_at", *FACTS[:-2], "note"), "pgh_id"),  # type: ignore[attr-defined]
    }


def build_zip(member: Member, *, notes: bool = True) -> HttpResponse:
    """Return the ZIP as a download. `notes`: include notes that are for staff only."""
    found = collect_member_data(member) if notes else _drop_notes(collect_member_data(member))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("everything.json", json.dumps(found, cls=ExportEncoder, indent=2, ensure_ascii=False) + "\n")
        for name, lines in found.items():
            if isinstance(lines, list) and lines:
                made.writestr(f"{name}.csv", _render_csv(lines))
    response = HttpResponse(packed.getvalue(), content_type="application/zip")
    response["Content-Disposition"] = f'attachment; filename="M-{member.number}-{timezone.localdate():%Y-%m-%d}.zip"'
    return response


def _drop_notes(found: Any) -> Any:
    if isinstance(found, list):
        return [_drop_notes(each) for each in found]
    return {name: _drop_notes(value) for name, value in found.items() if name != "note"} if isinstance(found, dict) else found


class ExportEncoder(DjangoJSONEncoder):
    """JSON encoder that writes addresses and prefixes as text."""

    def default(self, o: Any) -> Any:
        return str(o) if type(o).__module__ == "ipaddress" else super().default(o)


def _list_rows(model: Any, where: ExportRow, names: Sequence[str], order: str = "pk") -> list[ExportRow]:
    return list(model._default_manager.filter(**where).order_by(order).values(*names))


def _list_mails(member: Member) -> list[ExportRow]:
    """Return the mails about the member and to them. A confidential mail has no text here: its link opens an account."""
    found = list_mails_about(member, list_sole_email_addresses(member)).values(*MAIL_FACTS, "confidential")
    return [{name: "" if name == "text" and mail["confidential"] else mail[name] for name in MAIL_FACTS} for mail in found]


def _list_messages(member: Member) -> list[ExportRow]:
    """Return the messages in the member's tickets, without internal notes of staff."""
    found = (
        Message.objects.filter(ticket__member=member).exclude(kind=Message.Kind.NOTE).prefetch_related("attachments").order_by("at", "pk")
    )
    return [
        {
            "ticket": each.ticket_id,
            "kind": each.kind,
            "sender": each.sender,
            "verified": each.verified,
            "at": each.at,
            "text": each.text,
            "files": [file.name for file in each.attachments.all()],
        }
        for each in found
    ]


def _list_timed_rows(model: Any, where: ExportRow, names: Sequence[str]) -> list[ExportRow]:
    """Return rows with their validity as `from` and `until`, None for no end."""
    return [
        {name: value for name, value in line.items() if name != "valid"} | {"from": line["valid"].lower, "until": line["valid"].upper}
        for line in _list_rows(model, where, (*names, "valid"))
    ]


def _build_account(member: Member) -> ExportRow | None:
    user = member.user
    if user is None:
        return None
    signed_in = UserSession.objects.filter(user=user).order_by("pk").values("ip", "user_agent", "created_at", "last_seen_at")
    names = ("username", "first_name", "last_name", "email", "roles", "language", "date_joined", "last_login")
    return {name: getattr(user, name) for name in names} | {"sessions": list(signed_in)}


def _render_csv(lines: list[ExportRow]) -> str:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(lines[0])
    writer.writerows([escape_formula("" if value is None else str(value)) for value in line.values()] for line in lines)
    return text.getvalue()
