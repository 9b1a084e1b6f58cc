"""The German texts are complete, and our compiler writes what GNU gettext reads."""

import gettext
import io
from pathlib import Path

from apps.lib.catalog import compile_all, compiled, messages

PO = Path(__file__).parents[2] / "locale" / "de" / "LC_MESSAGES" / "django.po"

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
