"""German texts: they are complete, and our compiler writes what GNU gettext reads."""

import gettext
import io
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import allauth
import django
import rest_framework
from django.db.models.fields import BLANK_CHOICE_LABEL
from django.utils.translation import gettext as ours
from django.utils.translation import ngettext, override

from apps.lib.translation_compiler import compile_catalog, compile_translations, iter_messages

PO = Path(__file__).parents[2] / "locale" / "de" / "LC_MESSAGES" / "django.po"

FORMAL = re.compile(r"\b(?:Sie|Ihr|Ihre|Ihren|Ihrem|Ihrer|Ihnen)\b")
PACKAGES = [*map(Path, [*allauth.__path__, *rest_framework.__path__])]
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
    catalog = gettext.GNUTranslations(io.BytesIO(compile_catalog(SMALL)))
    assert catalog.pgettext("page", "Back") == "Zurück"
    assert catalog.ngettext("one", "many", 2) == "viele"
    assert catalog.gettext("guess") == "guess"
    assert catalog.gettext("later") == "later"


def test_only_what_changed_is_compiled(tmp_path: Path) -> None:
    po = tmp_path / "de" / "LC_MESSAGES" / "django.po"
    po.parent.mkdir(parents=True)
    po.write_text(SMALL, encoding="utf-8")
    assert compile_translations([tmp_path]) == [po]
    assert compile_translations([tmp_path]) == []


def test_texts_of_packages_that_lie_below_are_compiled_with_ours(tmp_path: Path) -> None:
    beside = [tmp_path / each / "LC_MESSAGES" / "django.po" for each in ("de", "packages/de")]
    for po in beside:
        po.parent.mkdir(parents=True)
        po.write_text('msgid "Yes"\nmsgstr "Ja"\n')
    assert compile_translations([tmp_path]) == beside
    assert all(po.with_suffix(".mo").exists() for po in beside)


def test_every_german_text_is_translated() -> None:
    text = PO.read_text(encoding="utf-8")
    entries = text.count("\nmsgid ")  # the first is the header
    assert len(list(iter_messages(text))) == entries
    assert "fuzzy" not in text


def test_every_text_of_pages_and_code_is_in_the_catalog(tmp_path: Path) -> None:
    """Follows the steps in CONTRIBUTING: what makemessages finds new has no German text."""
    root = PO.parents[3]
    for name in ("apps", "portal", "templates", "workers", "locale", "manage.py"):
        (shutil.copytree if (root / name).is_dir() else shutil.copy)(root / name, tmp_path / name)
    given = os.environ | {"NETZWART_SECRET_KEY": "x", "PYTHONPATH": str(root)}
    command = [sys.executable, "manage.py", "makemessages", "-l", "de", "--no-obsolete", "--no-location"]
    subprocess.run(command, cwd=tmp_path, env=given, check=True, capture_output=True)
    blocks = (tmp_path / PO.relative_to(root)).read_text(encoding="utf-8").rstrip().split("\n\n")[1:]
    assert [block for block in blocks if "fuzzy" in block or block.splitlines()[-1] in ('msgstr ""', 'msgstr[1] ""')] == []


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


def test_a_select_without_a_choice_asks_for_one_in_german() -> None:
    with override("de"):
        assert str(BLANK_CHOICE_LABEL) == "bitte wählen"
