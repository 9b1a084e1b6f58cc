"""What people see: the dashboard as an administrator gets it by HTTP, their mailbox, and what a program at a webhook receives."""

import json
import re
from dataclasses import dataclass
from html import unescape

from django.test import Client

from tests.db.page_client import text
from tests.fake_smtp import Post
from tests.webhook_receiver import Receiver

WELL = "Nothing needs you, both gateways forward"
_NEED = re.compile(r'<span class="nw-headline">(.*?)</span>\s*<span class="nw-2">(.*?)</span>', re.DOTALL)
_MAIN = re.compile(r"<main\b.*</main>", re.DOTALL)
_HEADING = re.compile(r"<h1[^>]*>(.*?)</h1>", re.DOTALL)


@dataclass(frozen=True)
class ShownNeed:
    """A line of what needs somebody: its headline, and what was seen."""

    headline: str
    evidence: str

    def __str__(self) -> str:
        return f"{self.headline}. {self.evidence}"


@dataclass(frozen=True)
class DashboardPage:
    """The page in words. words: all of it."""

    title: str
    needs: tuple[ShownNeed, ...]
    words: str

    @property
    def is_well(self) -> bool:
        return self.title == WELL and not self.needs

    def shows(self, expected: tuple[str, ...]) -> bool:
        """True if there is a line for each expression, and none beside."""
        return len(self.needs) == len(expected) and all(any(re.search(each, str(need)) for need in self.needs) for each in expected)


class Witnesses:
    """Page, mailbox and webhook. What came before `begin` is not looked at."""

    def __init__(self, client: Client, mailbox: Post, webhook: Receiver) -> None:
        self._client, self._mailbox, self._webhook = client, mailbox, webhook
        self.begin()

    def begin(self) -> None:
        """Forget what has come."""
        self._mails, self._deliveries = len(self._mailbox.taken), len(self._webhook.came)

    def read_dashboard(self) -> DashboardPage:
        """Get the page. Fails if it is not served."""
        response = self._client.get("/")
        assert response.status_code == 200, response
        return parse_dashboard(text(response))

    def read_mails(self, beginning: str) -> str:
        """Return the mails whose subject begins like this, one after the other, with their subjects."""
        found = [each for each in self._mailbox.taken[self._mails :] if str(each["Subject"]).startswith(beginning)]
        bodies = [(each["Subject"], each.get_body(("plain",))) for each in found]
        return "\n".join(f"{subject}\n{body.get_content()}" for subject, body in bodies if body)

    def read_deliveries(self, beginning: str) -> set[str]:
        """Return the titles that the webhook received and that begin like this, without the beginning."""
        titles = [json.loads(body)["title"] for _headers, body in self._webhook.came[self._deliveries :]]
        return {each.removeprefix(beginning) for each in titles if each.startswith(beginning)}


def parse_dashboard(html: str) -> DashboardPage:
    """Return the page in words."""
    [main], [title] = _MAIN.findall(html), _HEADING.findall(html)
    needs = tuple(ShownNeed(_strip(headline), _strip(evidence)) for headline, evidence in _NEED.findall(main))
    return DashboardPage(_strip(title), needs, _strip(main))


def _strip(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())
