"""Refuses text with characters that people cannot see.

These are control characters, marks of text direction, and text without any visible character. All text input is checked: text
fields of forms (`lib/apps.py`) and of the API (`api/unknown_fields.py`).
"""

import unicodedata
from typing import Any, Final

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

LINES: Final = frozenset("\t\n\r")
TURNING: Final = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Embeddings, overrides and isolates of direction (UAX #9): they can make a name look like another one and reverse the text after it."""
NOT_VISIBLE: Final = frozenset({"Cc", "Cf", "Cn", "Zs", "Zl", "Zp"})
"""Categories of characters (UAX #44) without a visible mark."""


def refuse_invisible_characters(text: str, *, lines: bool) -> None:
    """Raise ValidationError for such text. lines: line breaks and tabs are allowed."""
    for character in text:
        if character in LINES and lines:
            continue
        if character in LINES or unicodedata.category(character) == "Cc" or character in ("\u2028", "\u2029"):
            raise ValidationError(
                _("This contains a control character (U+%(code)s). Use one line without control characters.")
                % {"code": f"{ord(character):04X}"}
                if not lines
                else _("This contains a control character (U+%(code)s). Leave it out.") % {"code": f"{ord(character):04X}"}
            )
        if character in TURNING:
            raise ValidationError(
                _("This contains a character that changes the direction of text (U+%(code)s). Leave it out.")
                % {"code": f"{ord(character):04X}"}
            )
    if text and all(unicodedata.category(character) in NOT_VISIBLE for character in text) and not text.isspace():
        raise ValidationError(_("This text has no visible characters."))


def patch_form_validation() -> None:
    """Check every text field of every form from now on. Patches Django, which offers no common hook for all of them."""
    before = forms.CharField.validate

    def validate(self: Any, value: Any) -> None:
        before(self, value)
        if isinstance(value, str):
            refuse_invisible_characters(value, lines=isinstance(self.widget, forms.Textarea | forms.HiddenInput))

    forms.CharField.validate = validate  # type: ignore[method-assign]  # see above
