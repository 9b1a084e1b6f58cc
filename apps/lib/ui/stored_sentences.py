"""Sentences that are stored in English, as logs and scripts have them, and shown in the language of whoever reads them.

A stored sentence is recognised by the template that it was written from, also years later. What fits no template, as the words of another
program, is shown as it is. Text in, text out. What a gateway says is not trusted: the longest text takes some
milliseconds, whatever is in it.
"""

import re
from collections.abc import Sequence
from enum import StrEnum
from functools import cache
from typing import Final

from django.utils.translation import gettext

from apps.lib.ui.formats import is_german

LONGEST: Final = 2_000  # characters; a longer text is shown as it is
MOST: Final = 12  # sentences of a text that are recognised; what follows is shown as it is
SENTENCES: Final = frozenset({"why", "error", "text"})  # names of values that are sentences themselves
_VALUE = re.compile(r"%\((\w+)\)s")
_END = re.compile(r"(?<=[.?]) ")
_DECIMAL = re.compile(r"[0-9]+\.[0-9]+")

type Templates = Sequence[StoredSentence]


class StoredSentence(StrEnum):
    """Base of enumerations of templates. Their values are named, as in “%(gateway)s refused it: %(why)s”; each is followed by text, or the
    last one. What stands between two values must not occur in the first one.
    """

    def write(self, **values: object) -> str:
        """Return the sentence in English, with these values."""
        return self.value % values


def translate_stored(text: str, templates: Templates) -> str:
    """Return a stored text, of one or several sentences, in the active language."""
    if len(text) > LONGEST:
        return text
    said, rest = "", text
    for _sentence in range(MOST):
        translated, length = _translate_first(rest, templates)
        said, rest = said + translated + rest[length : length + 1], rest[length + 1 :]
        if not rest:
            break
    return said + rest


def _translate_first(text: str, templates: Templates) -> tuple[str, int]:
    """Translate as many of the first sentences as one template has. Return the result, and how many characters it stands for."""
    ends = [*(found.start() for found in _END.finditer(text))][:MOST]
    for end in (len(text), *reversed(ends)):
        if (translated := _translate_one(text[:end], templates)) is not None:
            return translated, end
    end = ends[0] if ends else len(text)
    return text[:end], end


def _translate_one(text: str, templates: Templates) -> str | None:
    """Return the text if it was written from one template, with or without a full stop behind it."""
    bare = text.removesuffix(".")
    for template in templates:
        for candidate in (text, bare):
            if found := _compile(template).fullmatch(candidate):
                values = {name: _translate_value(name, value, templates) for name, value in found.groupdict().items()}
                return gettext(template.value) % values + text[len(candidate) :]
    return None


def _translate_value(name: str, value: str, templates: Templates) -> str:
    if name in SENTENCES:
        return translate_stored(value, templates)
    return value.replace(".", ",") if is_german() and _DECIMAL.fullmatch(value) else value


@cache
def _compile(template: StoredSentence) -> re.Pattern[str]:
    """Compile a pattern of the sentences of a template. A value reaches as far as the first text that follows it, without another try."""
    before, *rest = _VALUE.split(template.value)
    parts = [
        rf"(?>(?P<{name}>.+?){re.escape(after)})" if after else f"(?P<{name}>.+)" for name, after in zip(rest[::2], rest[1::2], strict=True)
    ]
    return re.compile(re.escape(before) + "".join(parts), re.DOTALL)
