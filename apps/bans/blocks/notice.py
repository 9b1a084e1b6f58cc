"""Notice page, which a blocked member gets instead of the requested page: the reason, the end, and whom to ask.

In: the client's address and the languages that its browser prefers. Out: one small page without anything to fetch. A client who is
not blocked, or is unknown, gets a page without personal data; so does everyone when the database does not answer.
"""

import base64
import hashlib
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import structlog
from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.translation import get_supported_language_variant
from django.utils.translation.trans_real import parse_accept_lang_header

from apps.bans.blocks.models import Block
from apps.bans.blocks.selectors import find_current_block, find_holder, find_notice_for_address
from apps.lib.fields import Address
from apps.preferences.declarations import CONTACT, DEFAULT_LANGUAGE, NETWORK_NAME
from apps.preferences.selectors import read_setting

STATUS = "511 Network Authentication Required"  # RFC 6585, section 6: not the requested page, and must not be stored by a cache
LONGEST_HEADER = 400
log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class NoticeResponse:
    """A whole response, without its connection: the page in UTF-8, and its headers."""

    body: bytes
    headers: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _NoticeFacts:
    network: str
    contact: str
    default_language: str
    block: Block | None = None
    language: str = ""


def render_notice(address: Address | None, accept_language: str) -> NoticeResponse:
    """Render the notice for the client at this address; None: the address is unknown."""
    known = _look_up(address)
    language = known.language or _choose_language(accept_language) or known.default_language
    style = _read_style()
    shown: dict[str, Any] = {"network": known.network, "contact": known.contact, "block": known.block, "style": style}
    with translation.override(language):
        body = render_to_string("bans/notice.html", shown | {"language": language}).encode()
    return NoticeResponse(body, _build_headers(body, language, style))


def _look_up(address: Address | None) -> _NoticeFacts:
    try:
        return _query_facts(address)
    except (OperationalError, InterfaceError) as error:
        log.error("notice page without a database", error=str(error))
        return _NoticeFacts(NETWORK_NAME.get_default(), CONTACT.get_default(), DEFAULT_LANGUAGE.get_default())


def _query_facts(address: Address | None) -> _NoticeFacts:
    notice = find_notice_for_address(address) if address else None
    contact = notice.contact if notice and notice.contact else read_setting(CONTACT)
    known = _NoticeFacts(read_setting(NETWORK_NAME), contact, read_setting(DEFAULT_LANGUAGE))
    member = find_holder(address) if address else None
    block = find_current_block(member) if member else None
    if member is None or block is None:
        return known
    return replace(known, block=block, language=member.user.language if member.user else member.language)


def _choose_language(accept_language: str) -> str:
    """Return the best language that the browser prefers and the portal speaks; "" if there is none."""
    for language, _quality in parse_accept_lang_header(accept_language[:LONGEST_HEADER].lower()):
        try:
            return get_supported_language_variant(language)
        except LookupError:
            continue
    return ""


@cache
def _read_style() -> str:
    return (settings.ROOT / "static" / "netzwart" / "notice.css").read_text()


def _build_headers(body: bytes, language: str, style: str) -> list[tuple[str, str]]:
    """Return headers that forbid storing, fetching, framing and scripts."""
    allowed = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return [
        ("Content-Type", "text/html; charset=utf-8"),
        ("Content-Length", str(len(body))),
        ("Content-Language", language),
        ("Cache-Control", "no-store"),
        ("Content-Security-Policy", f"default-src 'none'; style-src 'sha256-{allowed}'; base-uri 'none'; frame-ancestors 'none'"),
        ("Referrer-Policy", "no-referrer"),
        ("X-Content-Type-Options", "nosniff"),
    ]
