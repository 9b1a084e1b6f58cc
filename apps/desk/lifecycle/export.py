"""Everything that is kept of one member, for themselves: a JSON document, and in a ZIP beside it each list as CSV."""

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

from apps.bans.models import Block
from apps.desk.lifecycle.erasing import theirs_alone
from apps.lib.csv_stream import harmless
from apps.mail.retention_sweep import mails_of
from apps.members.models import Departure, Device, Member, Membership
from apps.nat.models import Move, NatMapping, Pinhole, PortForward
from apps.network.models import Holding
from apps.tickets.models import Message, Ticket
from apps.traffic.rates.models import RateLimit
from apps.traffic.selectors import total_of

type Line = dict[str, Any]

FACTS = ("number", "name", "email", "language", "state", "since", "paid_until", "left_at", "note")


def everything(member: Member) -> dict[str, Any]:
    """What the portal keeps of the member, as plain values by kind."""
    traffic = total_of(member)
    of_holding, mine = {"holding__member": member}, {"member": member}
    return {
        "member": {name: getattr(member, name) for name in FACTS} | {"tariff": str(member.tariff), "room": str(member.room or "")},
        "account": _account(member),
        "traffic": {"up_octets": traffic.up, "down_octets": traffic.down, "since": traffic.since, "last": traffic.last},
        "memberships": _in_time(Membership, mine, ()),
        "departures": _lines(Departure, mine, ("on", "state", "planned")),
        "moves": _lines(Move, mine, ("on", "room__site__name", "room__name", "pool__prefix", "follow", "state", "planned")),
        "mails": list(mails_of(member, theirs_alone(member)).values("to", "subject", "text", "written", "state", "ended")),
        "devices": _lines(Device, mine, ("name", "mac")),
        "addresses": _in_time(Holding, mine, ("kind", "prefix", "device__name")),
        "leaves_as": _in_time(NatMapping, of_holding, ("holding__prefix", "public", "sharing")),
        "port_forwards": _in_time(
            PortForward, of_holding, ("public", "protocol", "public_port", "ports", "holding__prefix", "private_port", "purpose", "enabled")
        ),
        "pinholes": _in_time(Pinhole, of_holding, ("address", "protocol", "port", "ports", "purpose", "enabled")),
        "blocks": _in_time(Block, mine, ("reason", "message", "note")),
        "rate_limits": _in_time(RateLimit, mine, ("up_kbit", "down_kbit", "reason", "note")),
        "tickets": _lines(Ticket, mine, ("pk", "subject", "state", "opened_at", "touched_at", "tags")),
        "messages": _messages(member),
        "history": _lines(Member.pgh_event_model, {"pgh_obj_id": member.pk}, ("pgh_created_at", *FACTS[:-2], "note"), "pgh_id"),  # type: ignore[attr-defined]
    }


def as_zip(member: Member, *, notes: bool = True) -> HttpResponse:
    """The document and its lists, to be saved; `notes`: with those that are for staff only."""
    found = everything(member) if notes else _without_notes(everything(member))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("everything.json", json.dumps(found, cls=Encoder, indent=2, ensure_ascii=False) + "\n")
        for name, lines in found.items():
            if isinstance(lines, list) and lines:
                made.writestr(f"{name}.csv", _csv(lines))
    response = HttpResponse(packed.getvalue(), content_type="application/zip")
    response["Content-Disposition"] = f'attachment; filename="M-{member.number}-{timezone.localdate():%Y-%m-%d}.zip"'
    return response


def _without_notes(found: Any) -> Any:
    if isinstance(found, list):
        return [_without_notes(each) for each in found]
    return {name: _without_notes(value) for name, value in found.items() if name != "note"} if isinstance(found, dict) else found


class Encoder(DjangoJSONEncoder):
    """Addresses and prefixes as text."""

    def default(self, o: Any) -> Any:
        return str(o) if type(o).__module__ == "ipaddress" else super().default(o)


def _lines(model: Any, where: Line, names: Sequence[str], order: str = "pk") -> list[Line]:
    return list(model._default_manager.filter(**where).order_by(order).values(*names))


def _messages(member: Member) -> list[Line]:
    """What was written in the member's tickets, without what staff notes for itself."""
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


def _in_time(model: Any, where: Line, names: Sequence[str]) -> list[Line]:
    """With from when to when it held, None for ever."""
    return [
        {name: value for name, value in line.items() if name != "valid"} | {"from": line["valid"].lower, "until": line["valid"].upper}
        for line in _lines(model, where, (*names, "valid"))
    ]


def _account(member: Member) -> Line | None:
    user = member.user
    if user is None:
        return None
    signed_in = UserSession.objects.filter(user=user).order_by("pk").values("ip", "user_agent", "created_at", "last_seen_at")
    names = ("username", "first_name", "last_name", "email", "roles", "language", "date_joined", "last_login")
    return {name: getattr(user, name) for name in names} | {"sessions": list(signed_in)}


def _csv(lines: list[Line]) -> str:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(lines[0])
    writer.writerows([harmless("" if value is None else str(value)) for value in line.values()] for line in lines)
    return text.getvalue()
