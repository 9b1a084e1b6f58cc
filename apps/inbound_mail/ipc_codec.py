"""Codec for a `ReceivedMail` or an `Unreadable` between child and parent process: JSON, followed by the raw octets of the files.

The output of a child is not trusted: it has the agreed lengths and types, or it is refused with ValueError.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, fields
from datetime import datetime
from typing import Any, Final

from apps.inbound_mail.message import MailAddress, MailFile, ReceivedMail
from apps.inbound_mail.parse_limits import Unreadable

TEXTS: Final = ("message_id", "subject", "text", "html")
LISTS: Final = ("references", "bounced_ids")
ADDRESSES: Final = ("reply_to", "recipients")
FLAGS: Final = ("automatic", "bounce", "authenticated")


def pack_mail(mail: ReceivedMail) -> tuple[bytes, list[bytes]]:
    """Return the JSON, and the octets of each file."""
    told = {each.name: getattr(mail, each.name) for each in fields(mail) if each.name not in ("files", "date", "sender", *ADDRESSES)}
    told["date"] = mail.date.isoformat() if mail.date else None
    told["sender"] = asdict(mail.sender) if mail.sender else None
    told |= {name: [asdict(each) for each in getattr(mail, name)] for name in ADDRESSES}
    told["files"] = [[file.name, file.media_type, len(file.octets)] for file in mail.files]
    return json.dumps(told, ensure_ascii=False).encode(), [file.octets for file in mail.files]


def pack_refusal(reason: Unreadable) -> bytes:
    return json.dumps({"reason": reason.reason, "detail": reason.detail}).encode()


def parse_file_sizes(words: bytes) -> list[int]:
    """Return the sizes of the files that follow this JSON. Raises ValueError, and Unreadable if the JSON is a refusal."""
    told = _parse_object(words)
    if "reason" in told:
        raise Unreadable(_validate_text(told["reason"]), _validate_text(told.get("detail", "")))
    found = [_validate_number(each[2]) for each in _validate_list(told.get("files"))]
    if sum(found) < 0 or min(found, default=0) < 0:
        raise ValueError("a file of negative size")
    return found


def unpack_mail(words: bytes, octets: Sequence[bytes]) -> ReceivedMail:
    """Build the mail from the JSON and the octets of its files. Raises ValueError."""
    told = _parse_object(words)
    texts = {name: _validate_text(told.get(name)) for name in TEXTS}
    lists = {name: tuple(_validate_text(each) for each in _validate_list(told.get(name))) for name in LISTS}
    people = {name: tuple(_parse_address(each) for each in _validate_list(told.get(name))) for name in ADDRESSES}
    files = tuple(
        MailFile(_validate_text(each[0]), _validate_text(each[1]), held)
        for each, held in zip(_validate_list(told.get("files")), octets, strict=True)
    )
    date = datetime.fromisoformat(_validate_text(told["date"])) if told.get("date") else None
    sender = _parse_address(told["sender"]) if told.get("sender") else None
    flags = {name: told.get(name) is True for name in FLAGS}
    given: dict[str, Any] = {**texts, **lists, **people, **flags}
    return ReceivedMail(files=files, date=date, sender=sender, **given)


def _parse_object(words: bytes) -> dict[str, Any]:
    try:
        found = json.loads(words)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(found, dict):
        raise ValueError("not an object")
    return found


def _validate_text(given: Any) -> str:
    if not isinstance(given, str) or "\0" in given:
        raise ValueError("not a text, or with NUL")
    given.encode()  # raises UnicodeEncodeError, a ValueError
    return given


def _validate_number(given: Any) -> int:
    if type(given) is not int:
        raise ValueError("not a number")
    return given


def _validate_list(given: Any) -> list[Any]:
    if not isinstance(given, list):
        raise ValueError("not a list")
    return given


def _parse_address(given: Any) -> MailAddress:
    if not isinstance(given, dict):
        raise ValueError("not an address")
    return MailAddress(_validate_text(given.get("name")), _validate_text(given.get("address")))
