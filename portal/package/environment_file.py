"""Writes /etc/netzwart/environment as a new installation gets it: each variable of docs/settings.md, with what it is for.

In: the page's text. Out: the file's text, as systemd and the command `netzwart` read it. The secret key is empty: each installation
makes its own.
"""

import re
import textwrap
from typing import Final

VARIABLE: Final = re.compile(r"^\| `(?P<name>NETZWART_\w+)`(?: ●)? \| (?P<default>.*?) ?\| (?P<meaning>.+) \|$", re.MULTILINE)
LINK: Final = re.compile(r"\[([^\]]+)\]\([^)]+\)")
WIDTH: Final = 110
STATE: Final = "/var/lib/netzwart"
SECRET_KEY: Final = "NETZWART_SECRET_KEY"  # noqa: S105 - the variable's name
CHOSEN: Final = {
    "NETZWART_EVENTS_URL": "/events/",
    "NETZWART_TRUSTED_PROXIES": "127.0.0.1/32,::1/128",
    "NETZWART_VAR": STATE,
    SECRET_KEY: "",
}
"""What the package sets by itself: a proxy on this machine leads /events/ to the events process (docs/install.md)."""
HEAD: Final = """\
Settings of the portal, for its units and for the command netzwart. After a change: systemctl restart netzwart.target

One line each, NAME=value. Write a value with spaces, # or quotes in double quotes, with a backslash before a double quote,
a backslash, a dollar sign or a backtick in it. Lines that begin with # are comments; those of variables hold the default.
No upgrade changes this file; /usr/share/netzwart/environment has the variables of the installed release.

Who has NETZWART_SECRET_KEY can sign in as anyone. What is encrypted in the database cannot be read without it.
"""


def render_environment(page: str) -> str:
    """Return the file's text. page: the text of docs/settings.md. Raises ValueError if it has no table of variables."""
    variables = list(VARIABLE.finditer(page))
    if not variables:
        raise ValueError("docs/settings.md has no table of variables")
    entries = (_render_entry(each["name"], each["default"], each["meaning"]) for each in variables)
    return "\n".join((_comment(HEAD), *entries))


def _render_entry(name: str, default: str, meaning: str) -> str:
    words = LINK.sub(r"\1", meaning).replace("`", "")
    comment = "".join(f"# {line}\n" for line in textwrap.wrap(words, WIDTH, break_long_words=False, break_on_hyphens=False))
    if name in CHOSEN:
        return f"{comment}{name}={CHOSEN[name]}\n"
    return f"{comment}#{name}={_clean_default(default)}\n"


def _clean_default(default: str) -> str:
    """Return the default; none if the page shortens it."""
    text = default.strip("`").replace("NETZWART_VAR", STATE)
    return "" if "…" in text else text


def _comment(text: str) -> str:
    return "".join(f"# {line}\n" if line else "#\n" for line in text.splitlines())
