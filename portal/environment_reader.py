"""Reads settings from environment variables. What is wrong with them is collected, and told all at once, a sentence for each mistake.

An empty variable is one that is not set: a file of variables may list all of them.
"""

import re
from collections.abc import Callable, Collection, Mapping
from difflib import get_close_matches
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Final
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import psycopg
from django.core.exceptions import ImproperlyConfigured
from psycopg.conninfo import conninfo_to_dict

PREFIX: Final = "NETZWART_"
SWITCH: Final = {"0": False, "1": True}


class EnvironmentReader:
    """Reads variables. A value that cannot be used is noted, and the default returned, so that the rest is looked at too."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables
        self._read: set[str] = set()
        self._mistakes: list[str] = []

    def read_text(self, name: str, default: str = "") -> str:
        """Return the variable, without space at its ends."""
        self._read.add(name)
        return self._variables.get(name, "").strip() or default

    def read_secret(self, name: str) -> str:
        """Return the variable as it is."""
        self._read.add(name)
        return self._variables.get(name, "")

    def read_whole(self, name: str, default: int, *, least: int = 1, most: int = 1_000_000) -> int:
        """Return a whole number within these limits."""
        return int(self._read_number(name, default, least, most, int, "a whole number"))

    def read_number(self, name: str, default: float, *, least: float, most: float) -> float:
        """Return a number, of seconds for instance, within these limits."""
        return self._read_number(name, default, least, most, float, "a number")

    def _read_number(self, name: str, default: float, least: float, most: float, parse: Callable[[str], float], kind: str) -> float:
        text = self.read_text(name)
        if not text:
            return default
        try:
            number = parse(text)
        except ValueError:
            number = least - 1
        if least <= number <= most:
            return number
        self.refuse(name, f"It must be {kind} from {least:,} to {most:,}.")
        return default

    def read_switch(self, name: str, *, default: bool = False) -> bool:
        """Return whether it is on, 1, or off, 0."""
        text = self.read_text(name)
        if text and text not in SWITCH:
            self.refuse(name, "It must be 1 (on) or 0 (off).")
        return SWITCH.get(text, default)

    def read_choice[Value](self, name: str, choices: Mapping[str, Value], words: str) -> Value:
        """Return what the variable stands for; choices: by its text, "" if it is not set. words: what it must be."""
        text = self.read_text(name)
        if text not in choices:
            self.refuse(name, f"It must be {words}.")
        return choices.get(text, choices[""])

    def read_list(self, name: str, default: str = "") -> list[str]:
        """Return the parts between commas, without space around them."""
        return [part for each in self.read_text(name, default).split(",") if (part := each.strip())]

    def read_networks(self, name: str) -> list[IPv4Network | IPv6Network]:
        """Return networks, such as 192.0.2.0/24, between commas."""
        found: list[IPv4Network | IPv6Network] = []
        for text in self.read_list(name):
            try:
                found.append(ip_network(text))
            except ValueError as error:
                self.refuse(name, f"Write networks like 192.0.2.0/24, 2001:db8::/32, with commas between them: {error}.")
        return found

    def read_url(self, name: str, default: str = "", *, schemes: Collection[str] = ("http", "https"), paths: bool = False) -> str:
        """Return a whole address, such as https://host/path. paths: a path on our own host will do as well."""
        url = self.read_text(name, default)
        if not url or (paths and url.startswith("/")):
            return url
        try:
            parts = urlsplit(url)
            has_place = bool(parts.netloc) or (parts.scheme == "unix" and bool(parts.path))
            is_whole = parts.scheme in schemes and has_place and parts.port != 0
        except ValueError:
            is_whole = False
        if not is_whole:
            starts = " or ".join(f"{each}://" for each in schemes)
            self.refuse(name, f"It must be a whole address, which begins with {starts}.", shown="@" not in url)
            return default
        return url

    def read_database(self, name: str, default: str = "") -> str:
        """Return a connection string or URL of libpq."""
        text = self.read_text(name, default)
        try:
            conninfo_to_dict(text)
        except psycopg.ProgrammingError:
            self.refuse(name, "It must be a connection string of libpq, such as dbname=netzwart.", shown=False)
            return default
        return text

    def read_host(self, name: str, port: int) -> tuple[str, int]:
        """Return a host, "" if there is none, and its port: HOST or HOST:PORT. port: if the variable has none."""
        text = self.read_text(name)
        try:
            parts = urlsplit(f"//{text}")
            if (parts.hostname or not text) and parts.port != 0 and not parts.path and "@" not in text:
                return parts.hostname or "", parts.port or port
        except ValueError:
            pass
        self.refuse(name, "Write it like mail.example.org or mail.example.org:587.")
        return "", port

    def read_matching(self, name: str, default: str, pattern: str, like: str) -> str:
        """Return a text of this pattern. like: an example."""
        text = self.read_text(name, default)
        if re.fullmatch(pattern, text):
            return text
        self.refuse(name, f"Write it like {like}.")
        return default

    def read_zone(self, name: str, default: str) -> str:
        """Return the name of a time zone."""
        zone = self.read_text(name, default)
        try:
            ZoneInfo(zone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            self.refuse(name, "It must be the name of a time zone, such as Europe/Berlin.")
            return default
        return zone

    def refuse(self, name: str, words: str, *, shown: bool = True) -> None:
        """Note a mistake. words: sentences that say what the variable must be. shown: False for a value that may hold a password."""
        value = f" is {self._variables.get(name, '')!r}" if shown else " cannot be used"
        self._mistakes.append(f"{name}{value}. {words}")

    def refuse_together(self, sentence: str) -> None:
        """Note a mistake of several variables together."""
        self._mistakes.append(sentence)

    def check(self) -> None:
        """Raise ImproperlyConfigured with all mistakes, and with variables that look like misspelt settings, if there are any."""
        for name in sorted(self._variables.keys() - self._read):
            if name.startswith(PREFIX) and (meant := get_close_matches(name, self._read, n=1, cutoff=0.9)):
                self._mistakes.append(f"{name} is no setting. Is {meant[0]} meant?")
        if self._mistakes:
            head = "" if len(self._mistakes) == 1 else f"{len(self._mistakes)} settings are wrong (docs/settings.md):\n"
            raise ImproperlyConfigured(head + "\n".join(self._mistakes))
