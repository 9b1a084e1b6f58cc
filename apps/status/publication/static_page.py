"""The status page as files: HTML in both languages, the feeds, and the style sheets, for any web server."""

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

from django.conf import settings
from django.contrib.staticfiles import finders
from django.core.serializers.json import DjangoJSONEncoder
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import get_language_info, override

from apps.preferences.declarations import DEFAULT_LANGUAGE, NETWORK_NAME
from apps.preferences.selectors import read_setting
from apps.status.page import feeds
from apps.status.page.addresses import PageAddresses
from apps.status.page.status_view import StatusView, build_status_view

STYLES: Final = ("tokens.css", "status.css")


def build_static_page(url: str, now: datetime) -> Mapping[str, bytes]:
    """Return the files by name. url: where they will be read, such as “https://status.example.org/”; "" if that is not known yet.

    Each time in them has its day: they are still read when the portal is gone.
    """
    first = read_setting(DEFAULT_LANGUAGE)
    codes = [first, *(code for code, _name in settings.LANGUAGES if code != first)]
    files = {name: _read_style(name) for name in STYLES}
    for code in codes:
        with override(code):
            other = next(each for each in codes if each != code)
            view = build_status_view(now, with_day=True)
            files |= _build_language(view, url, _build_suffix(code, first), other, _build_suffix(other, first))
    return files


def _build_suffix(code: str, first: str) -> str:
    """Return what names the files of a language: nothing for the one that visitors get first."""
    return "" if code == first else f".{code}"


def _build_addresses(url: str, suffix: str) -> PageAddresses:
    base = url if url.endswith("/") or not url else f"{url}/"
    return PageAddresses(
        page=f"{base}index{suffix}.html",
        atom=f"{base}atom{suffix}.xml",
        calendar=f"{base}calendar{suffix}.ics",
        json=f"{base}status{suffix}.json",
        subscribe=f"{settings.PORTAL_URL}{reverse('status:subscribe')}",
    )


def _build_language(view: StatusView, url: str, suffix: str, other: str, other_suffix: str) -> dict[str, bytes]:
    at = _build_addresses(url, suffix)
    shown = {
        "base": "status/page/file.html",
        "exported": True,
        "moments": "short dated",
        "view": view,
        "at": _build_addresses("", suffix),
        "network": read_setting(NETWORK_NAME),
        "other": {"page": f"index{other_suffix}.html", "language": other, "name": get_language_info(other)["name_local"]},
    }
    summary = json.dumps(feeds.build_summary(view, at), cls=DjangoJSONEncoder, ensure_ascii=False, indent=1)
    return {
        f"index{suffix}.html": render_to_string("status/page/page.html", shown).encode(),
        f"atom{suffix}.xml": feeds.write_atom(view, at).encode(),
        f"calendar{suffix}.ics": feeds.write_calendar(view, at),
        f"status{suffix}.json": summary.encode(),
    }


def _read_style(name: str) -> bytes:
    found = finders.find(f"netzwart/{name}")
    if not isinstance(found, str):
        raise FileNotFoundError(f"netzwart/{name}")
    return Path(found).read_bytes()
