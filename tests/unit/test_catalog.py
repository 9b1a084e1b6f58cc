"""The German texts are complete, and our compiler writes what GNU gettext reads."""

import gettext
import io
import re
from pathlib import Path
from typing import Any

import allauth
import django
import django_filters
import rest_framework
from django.utils.translation import gettext as ours
from django.utils.translation import ngettext, override

from apps.lib.catalog import compile_all, compiled, messages

PO = Path(__file__).parents[2] / "locale" / "de" / "LC_MESSAGES" / "django.po"

FORMAL = re.compile(r"\b(?:Sie|Ihr|Ihre|Ihren|Ihrem|Ihrer|Ihnen)\b")
PACKAGES = [*map(Path, [*allauth.__path__, *django_filters.__path__, *rest_framework.__path__])]
OF_DJANGO = [Path(django.__path__[0]) / place for place in ("conf", "contrib/auth", "contrib/postgres")]

SMALL = """\
msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\\nPlural-Forms: nplurals=2; plural=(n != 1);\\n"

msgctxt "page"
msgid "Back"
msgstr "Zurück"

msgid "one"
msgid_plural "many"
msgstr[0] "eins"
msgstr[1] ""
"vie"
"le"

#, fuzzy
msgid "guess"
msgstr "geraten"

msgid "later"
msgstr ""
"""


def test_the_compiled_catalog_is_read_by_gettext() -> None:
    catalog = gettext.GNUTranslations(io.BytesIO(compiled(SMALL)))
    assert catalog.pgettext("page", "Back") == "Zurück"
    assert catalog.ngettext("one", "many", 2) == "viele"
    assert catalog.gettext("guess") == "guess"
    assert catalog.gettext("later") == "later"


def test_only_what_changed_is_compiled(tmp_path: Path) -> None:
    po = tmp_path / "de" / "LC_MESSAGES" / "django.po"
    po.parent.mkdir(parents=True)
    po.write_text(SMALL, encoding="utf-8")
    assert compile_all([tmp_path]) == [po]
    assert compile_all([tmp_path]) == []


def test_every_german_text_is_translated() -> None:
    text = PO.read_text(encoding="utf-8")
    entries = text.count("\nmsgid ")  # the first is the head
    assert len(list(messages(text))) == entries
    assert "fuzzy" not in text


def test_no_package_speaks_formally() -> None:
    said: dict[Any, str] = {}
    for folder in (*PACKAGES, *OF_DJANGO):
        with (folder / "locale" / "de" / "LC_MESSAGES" / "django.mo").open("rb") as file:
            catalog = gettext.GNUTranslations(file)._catalog  # type: ignore[attr-defined]  # typeshed does not name it
        said |= {key: text for key, text in catalog.items() if key and FORMAL.search(text)}
    assert len(said) > 50
    with override("de"):
        now = {key: ngettext(key[0], key[0], 1 + key[1]) if isinstance(key, tuple) else ours(key) for key in said}
    assert {key: text for key, text in now.items() if FORMAL.search(text)} == {}
