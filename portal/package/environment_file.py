"""Writes the file with all settings as a new installation gets it: each variable of docs/settings.md, with what it is for.

In: the page's text. Out: the text of /etc/netzwart/environment, which systemd and the command `netzwart` read, or of .env.example for
containers, which `python -m portal.package.environment_file > .env.example` writes. The secret key is empty in both.
"""

import re
import sys
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

VARIABLE: Final = re.compile(r"^\| `(?P<name>NETZWART_\w+)`(?: ●)? \| (?P<default>.*?) ?\| (?P<meaning>.+) \|$", re.MULTILINE)
LINK: Final = re.compile(r"\[([^\]]+)\]\([^)]+\)")
WIDTH: Final = 110
SECRET_KEY: Final = "NETZWART_SECRET_KEY"  # noqa: S105 - the variable's name


@dataclass(frozen=True)
class SettingsFile:
    """A file for one way of installing. state: the state directory. chosen: what it sets by itself. fixed: what cannot be set in it."""

    head: str
    state: str
    chosen: Mapping[str, str]
    fixed: frozenset[str] = frozenset()


PACKAGE: Final = SettingsFile(
    head="""\
Settings of the portal, for its units and for the command netzwart. After a change: systemctl restart netzwart.target

One line each, NAME=value. Write a value with spaces, # or quotes in double quotes, with a backslash before a double quote,
a backslash, a dollar sign or a backtick in it. Lines that begin with # are comments; those of variables hold the default.
No upgrade changes this file; /usr/share/netzwart/environment has the variables of the installed release.

Who has NETZWART_SECRET_KEY can sign in as anyone. What is encrypted in the database cannot be read without it.
""",
    state="/var/lib/netzwart",
    chosen={
        "NETZWART_EVENTS_URL": "/events/",
        "NETZWART_TRUSTED_PROXIES": "127.0.0.1/32,::1/128",
        "NETZWART_VAR": "/var/lib/netzwart",
        SECRET_KEY: "",
    },
)
"""What the Debian package installs: a proxy on this machine leads /events/ to the events process (docs/install.md)."""

CONTAINERS: Final = SettingsFile(
    head="""\
Settings of the portal in containers (docs/containers.md). Copy this file to .env, and fill in NETZWART_SECRET_KEY:

    cp .env.example .env
    chmod 600 .env
    sed -i "s|^NETZWART_SECRET_KEY=.*|NETZWART_SECRET_KEY=$(openssl rand -base64 48)|" .env

After a change: docker compose up --detach

One line each, NAME=value, without quotes. Lines that begin with # are comments; those of variables hold the default.
What begins with NETZWART_ is for the portal; PostgreSQL and Redis are those of the containers by default. Four variables are for Compose:

COMPOSE_PROFILES  tls: Caddy serves the portal over TLS; lab: gateways and members to try it with. Both: tls,lab
TLS_NAME          the name that Caddy gets a certificate for
IMAGE_NAME        what the images are called: netzwart
BASE_IMAGE        the Debian that they are built from: debian:trixie-slim

COMPOSE_PROFILES=tls
TLS_NAME=portal.example.org
IMAGE_NAME=netzwart
BASE_IMAGE=debian:trixie-slim
""",
    state="/state",
    chosen={SECRET_KEY: "", "NETZWART_EVENTS_URL": "/events/", "NETZWART_TRUSTED_PROXIES": "127.0.0.1/32"},
    fixed=frozenset({"NETZWART_GATEWAY_SOCKETS", "NETZWART_VAR"}),
)
"""docker-compose.yml gives these to the containers; the addresses of its own PostgreSQL and Redis are in there."""


def render_environment(page: str, of: SettingsFile = PACKAGE) -> str:
    """Return the file's text. page: the text of docs/settings.md. Raises ValueError if it has no table of variables."""
    variables = list(VARIABLE.finditer(page))
    if not variables:
        raise ValueError("docs/settings.md has no table of variables")
    entries = (_render_entry(each["name"], each["default"], each["meaning"], of) for each in variables)
    return "\n".join((_comment(of.head), *entries))


def _render_entry(name: str, default: str, meaning: str, of: SettingsFile) -> str:
    words = LINK.sub(r"\1", meaning).replace("`", "")
    comment = "".join(f"# {line}\n" for line in textwrap.wrap(words, WIDTH, break_long_words=False, break_on_hyphens=False))
    if name in of.fixed:
        return f"{comment}# {name} is fixed in the image.\n"
    if name in of.chosen:
        return f"{comment}{name}={of.chosen[name]}\n"
    return f"{comment}#{name}={_clean_default(default, of.state)}\n"


def _clean_default(default: str, state: str) -> str:
    """Return the default; none if the page shortens it."""
    text = default.strip("`").replace("NETZWART_VAR", state)
    return "" if "…" in text else text


def _comment(text: str) -> str:
    return "".join(f"# {line}\n" if line else "#\n" for line in text.splitlines())


if __name__ == "__main__":
    settings_page = Path(__file__).resolve().parents[2] / "docs" / "settings.md"
    sys.stdout.write(render_environment(settings_page.read_text(), CONTAINERS))
