"""Renders a mail's subject and bodies in the recipient's language: `mail/NAME.subject.txt`, `mail/NAME.txt`, `mail/NAME.html`.

Templates write dates and numbers with the same filters as pages. Text is not escaped, HTML is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from django.template import Context, engines
from django.utils.translation import override

from apps.preferences.declarations import CONTACT, NETWORK_NAME
from apps.preferences.selectors import read_setting

type PlainValue = str | int | float | bool | date | Sequence[PlainValue] | Mapping[str, PlainValue] | None


@dataclass(frozen=True)
class RenderedMail:
    """Subject and bodies of a mail."""

    subject: str
    text: str
    html: str


def read_footer() -> Mapping[str, PlainValue]:
    """Return what the end of every mail says of the network. To render many mails, read it once."""
    return {"network": read_setting(NETWORK_NAME), "contact": read_setting(CONTACT)}


def render_mail(
    template: str, language: str, context: Mapping[str, PlainValue], footer: Mapping[str, PlainValue] | None = None
) -> RenderedMail:
    """Render the three templates in the language. footer: None reads it. Raises TemplateDoesNotExist."""
    given = {**context, **(read_footer() if footer is None else footer), "language": language}
    with override(language):
        subject = _render_template(f"mail/{template}.subject.txt", given, escaped=False)
        text = _render_template(f"mail/{template}.txt", given, escaped=False)
        html = _render_template(f"mail/{template}.html", given | {"subject": collapse_lines(subject)}, escaped=True)
    return RenderedMail(collapse_lines(subject), f"{text.strip()}\n", html)


def collapse_lines(text: str) -> str:
    """Join lines with spaces, as a header needs it; non-breaking spaces stay."""
    return " ".join(text.splitlines()).strip()


def _render_template(name: str, given: Mapping[str, object], *, escaped: bool) -> str:
    template = engines["django"].engine.get_template(name)  # type: ignore[attr-defined]  # the stubs do not know it
    return str(template.render(Context(dict(given), autoescape=escaped)))
