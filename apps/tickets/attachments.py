"""Attachments of messages: which files are accepted, the names under which they are kept, and their download.

Their content is unknown and not trusted: they are served as downloads, and no browser shows them within the portal.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from django.conf import settings
from django.http import HttpResponse
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _

from apps.lib.errors import Problem
from apps.lib.ui import formats
from apps.tickets.models import Attachment, Content, Message

MAX_FILES_PER_MESSAGE: Final = 10  # files of one message
LONGEST_NAME: Final = 120
SEALED: Final = "default-src 'none'; sandbox"


@dataclass(frozen=True)
class AttachmentFile:
    """A file as it was sent; name: as the sender gave it."""

    name: str
    octets: bytes


def explain_file_rejection(file: AttachmentFile) -> str:
    """Return the reason why the file is not accepted, as a sentence; "" when it is."""
    name = clean_file_name(file.name)
    if get_extension(name) not in settings.ATTACHMENT_TYPES:
        facts = {"name": name, "types": ", ".join(sorted(settings.ATTACHMENT_TYPES))}
        return _("The file type of “%(name)s” is not accepted. Accepted are: %(types)s.") % facts
    if not file.octets:
        return _("“%(name)s” is empty.") % {"name": name}
    if len(file.octets) > settings.ATTACHMENT_OCTETS:
        facts = {"name": name, "size": formats.format_volume(len(file.octets)), "limit": formats.format_volume(settings.ATTACHMENT_OCTETS)}
        return _("“%(name)s” has %(size)s; at most %(limit)s is allowed.") % facts
    return ""


def check_files(files: Sequence[AttachmentFile]) -> None:
    """Raise Problem when there are too many files, or one is not accepted."""
    if len(files) > MAX_FILES_PER_MESSAGE:
        raise Problem(
            _("%(number)d files are too many; at most %(most)d are allowed.") % {"number": len(files), "most": MAX_FILES_PER_MESSAGE},
            "files",
        )
    for file in files:
        if why := explain_file_rejection(file):
            raise Problem(why, "files")


def save_files(message: Message, files: Sequence[AttachmentFile]) -> None:
    """Save the files of a message, within the message's transaction. The caller has checked them."""
    for file in files:
        made = Attachment.objects.create(message=message, name=clean_file_name(file.name), size=len(file.octets))
        Content.objects.create(attachment=made, octets=file.octets)


def get_extension(name: str) -> str:
    """Return the extension in lower case, like `png` for `Screenshot.PNG`; "" where there is none."""
    return PurePosixPath(name).suffix.lower().removeprefix(".")


def clean_file_name(name: str) -> str:
    """Return the name without directories and unprintable characters, shortened to LONGEST_NAME; the extension stays."""
    seen = "".join(each for each in name.replace("\\", "/") if each.isprintable())
    last = seen.rpartition("/")[2].strip(" .") or "file"
    stem, dot, suffix = last.rpartition(".")
    return f"{stem[: LONGEST_NAME - len(suffix) - 1]}{dot}{suffix}" if dot and len(suffix) < 10 else last[:LONGEST_NAME]


def build_download(attachment: Attachment) -> HttpResponse:
    """Return the file as a download: octets without a type, which no browser shows, and sandboxed in case one does."""
    response = HttpResponse(bytes(attachment.content.octets), content_type="application/octet-stream")
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=attachment.name)
    response["Content-Security-Policy"] = SEALED
    response["X-Content-Type-Options"] = "nosniff"
    response["Cross-Origin-Resource-Policy"] = "same-origin"
    response["Cache-Control"] = "private, no-store"
    return response
