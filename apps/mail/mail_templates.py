"""The words of a mail from its templates, in its reader's language: `mail/NAME.subject.txt`, `mail/NAME.txt`, `mail/NAME.html`.

Dates and numbers in templates are written by the filters of all pages. Text is not escaped, HTML is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from django.conf import settings
from django.template import Context, engines
from django.utils.translation import override

type PlainValue = str | int | float | bool | date | Sequence[PlainValue] | Mapping[str, PlainValue] | None


@dataclass(frozen=True)
class MailWords:
    """What a mail says."""

    subject: str
    text: str
    html: str


def render_words(template: str, language: str, context: Mapping[str, PlainValue]) -> MailWords:
    """Rendered in the language. Raises TemplateDoesNotExist."""
    given = {**context, "network": settings.NETWORK_NAME, "language": language}
    with override(language):
        subject = _render_template(f"mail/{template}.subject.txt", given, escaped=False)
        text = _render_template(f"mail/{template}.txt", given, escaped=False)
        html = _render_template(f"mail/{template}.html", given | {"subject": collapse_lines(subject)}, escaped=True)
    return MailWords(collapse_lines(subject), f"{text.strip()}\n", html)


def collapse_lines(text: str) -> str:
    """As a header holds it; spaces that may not break stay."""
    return " ".join(text.splitlines()).strip()


def _render_template(name: str, given: Mapping[str, object], *, escaped: bool) -> str:
    template = engines["django"].engine.get_template(name)  # type: ignore[attr-defined]  # the stubs know no engine of an engine
    return str(template.render(Context(dict(given), autoescape=escaped)))
