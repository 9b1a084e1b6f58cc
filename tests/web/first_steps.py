"""The way of a person who sets up a network in a browser: along the page of the first steps, from an empty portal to a live group.

The gateways are given as functions that do what a pasted command does, so the same way leads to the lab's gateways and to machines.
"""

import csv
import io
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import pytest
from django.conf import LazySettings
from django.core.management import call_command
from playwright.sync_api import Locator, Page, expect

from apps.lib import enqueue
from apps.nat.models import NatMapping
from lab.lab import Lab
from tests.whole.from_nothing import MEMBERS, POOLS, PORT, PROBES, LabMember, list_reached_members
from tests.whole.worker import broker, worker

PASSWORD = "correct horse battery"
KINDS = {"private4": "private IPv4", "public4": "public IPv4", "prefix6": "IPv6 prefixes"}
FORM = "main form.nw-form"
IMPORTED = 200
MISTAKES = {50: ("address", "10.16.0.300"), 120: ("mac", "52:54:00:00:00:zz"), 180: ("tariff", "Standrd")}  # by line of the table
COLUMNS = {
    "number": "Number", "name": "Name", "house": "House", "room": "Room", "floor": "Floor", "tariff": "Tariff", "state": "State",
    "device": "Device", "mac": "MAC", "address": "Private address", "public": "Public address", "forwards": "Forwards",
}  # fmt: skip

type Paste = Callable[[str, str], str]
"""Runs the command on the gateway of this name, as its administrator would, and returns what it prints."""


class JoiningPage(NamedTuple):
    """Page of a joining machine, and the command that it shows."""

    url: str
    command: str


@dataclass
class Portal:
    """The portal in the browser of a person who sets up a network.

    pictures: directory for a picture of each step; None: none are taken. codes: recovery codes of a person who has a second factor, each of
    which confirms once who it is; otherwise the password does. times: seconds that each step took.
    """

    page: Page
    pictures: Path | None = None
    codes: list[str] = field(default_factory=list)
    times: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Measure the time of a step of the way."""
        begun = time.monotonic()
        yield
        self.times[name] = time.monotonic() - begun

    def take_picture(self, name: str) -> None:
        if self.pictures:
            self.page.screenshot(path=self.pictures / f"{name}.png", full_page=True, animations="disabled")

    def find_step(self, step: str) -> Locator:
        """Return the row of this step, on the page of the first steps."""
        return self.page.get_by_role("row").filter(has=self.page.get_by_role("rowheader", name=re.compile(rf"^\s*{step}")))

    def begin_step(self, step: str, button: str) -> None:
        self.page.goto("/setup/")
        self.find_step(step).get_by_role("link", name=re.compile(rf"^\s*{button}")).click()

    def follow(self, link: str) -> None:
        self.page.locator("main").get_by_role("link", name=link, exact=True).first.click()

    def enter(self, values: dict[str, str | bool], button: str, form: str) -> None:
        """Fill in the fields with these labels in the form, and press the button."""
        where = self.page.locator(form)
        for label, value in values.items():
            field = where.get_by_label(re.compile(rf"^\s*{re.escape(label)}(\s+optional)?\s*$"))
            if isinstance(value, bool):
                field.set_checked(value)
            elif field.evaluate("field => field.tagName") == "SELECT":
                field.select_option(value)
            else:
                field.fill(value)
        where.get_by_role("button", name=button, exact=True).click()

    def send(self, values: dict[str, str | bool], button: str) -> None:
        """Enter these values in the form of the page, and wait for the page that answers it."""
        with self.page.expect_navigation():
            self.enter(values, button, FORM)
        self._confirm_identity()

    def press(self, button: str) -> None:
        """Press the button, and wait for the page that answers it."""
        with self.page.expect_navigation():
            self.page.get_by_role("button", name=button).click()
        self._confirm_identity()

    def _confirm_identity(self) -> None:
        """Confirm who it is where the portal asks for it, because the machines took longer than a sign-in counts as recent."""
        if "/reauthenticate/" in self.page.url:
            with self.page.expect_navigation():
                self.enter({"Code": self.codes.pop()} if self.codes else {"Password": PASSWORD}, "Continue", "main form")

    def expect_said(self, words: str) -> None:
        expect(self.page.locator("main").get_by_text(words).first).to_be_visible()


def add_group(portal: Portal) -> None:
    portal.begin_step("A gateway group", "Add group")
    targets = {"IPv4 target of the probes": "203.0.113.10", "IPv6 target of the probes": "2001:db8:cafe::10"}
    portal.send({"Name": "Lindenhof", **targets, "TCP port of the targets": "80"}, "Add group")


def begin_joining(portal: Portal, name: str, address: str) -> JoiningPage:
    """Add a gateway, and return what the portal shows to be pasted on its machine."""
    portal.begin_step("Gateways", "Add gateway")
    portal.send({"Name": name, "Management address": address}, "Show the command")
    command = portal.page.locator("#command")
    expect(command).to_be_visible()
    return JoiningPage(portal.page.url, command.inner_text())


def finish_joining(portal: Portal, name: str, url: str, printed: str) -> None:
    """Compare the host key with what the command printed, and choose the interfaces: nat-1 is the primary for IPv4, nat-2 for IPv6."""
    page = portal.page
    page.goto(url)
    portal.expect_said(f"{name} shows a host key. Compare it.")
    portal.take_picture(f"{name}-command")
    assert page.locator("#progress code").inner_text() in printed, "what the page shows is what the command printed"
    portal.press("It is the same")
    portal.expect_said(f"{name} is ready. Choose its interfaces.")
    form = page.locator(FORM)
    suggested = {label: form.get_by_label(f"{label} interface").input_value() for label in ("Inside", "Outside", "Management")}
    assert suggested == {"Inside": "lan0", "Outside": "wan0", "Management": "mgmt0"}
    portal.take_picture(f"{name}-interfaces")
    primary = {"Primary for IPv4": name == "nat-1", "Primary for IPv6": name == "nat-2"}
    portal.send({"State sync interface": "sync0", **primary}, "Make it a gateway")
    portal.expect_said(f"{name} is a gateway now.")


def join_gateways(portal: Portal, addresses: Mapping[str, str], paste: Paste, after_join: Callable[[str], None]) -> None:
    """Let the machines join: the commands run on all of them at the same time."""
    with portal.step("commands"):
        pages = {name: begin_joining(portal, name, address) for name, address in addresses.items()}
    with portal.step("pastes"), ThreadPoolExecutor() as machines:
        pasted = {name: machines.submit(paste, name, page.command) for name, page in pages.items()}
    for name, page in pages.items():
        with portal.step(f"{name} joins"):
            finish_joining(portal, name, page.url, pasted[name].result())
            add_probe(portal, name)
            after_join(name)


def add_probe(portal: Portal, name: str) -> None:
    """Enter the gateway's probe on the page that follows the joining."""
    portal.follow("Edit")
    portal.send(dict(PROBES[name]), "Save")
    portal.expect_said("Saved. The gateways get it when Lindenhof goes live.")


def add_pools(portal: Portal) -> None:
    for name, kind, prefix, more in POOLS:
        portal.begin_step("Pools of addresses", "Add pool")
        portal.follow("Add pool")
        kept = {"First addresses kept free": str(more["kept_first"])} if "kept_first" in more else {}
        portal.send({"Name": name, "Kind": kind, "Prefix": prefix, **kept}, "Add pool")
        portal.expect_said(name)


def add_house_and_tariff(portal: Portal) -> None:
    portal.begin_step("Houses and rooms", "Add house")
    portal.follow("Add the first house")
    portal.send({"Name": "House B", "Code": "B"}, "Add house")
    portal.send({"From floor": "1", "Doors on each floor": "01-02"}, "Add rooms")
    portal.begin_step("Tariffs", "Add tariff")
    portal.follow("Add the first tariff")
    portal.send({"Name": "Standard"}, "Save")


def add_member(portal: Portal, member: LabMember, room: str) -> None:
    """Add an active member with an address, the public address as which it leaves, and a forward."""
    portal.begin_step("Members with addresses", "Add member")
    portal.follow("Add the first member")
    portal.send({"Name": member.name, "Room": room, "Active at once": True}, "Add member")
    choose_pool(portal, "Members")
    portal.enter({"Address": member.address}, "Give this address", "#addresses form")
    expect(portal.page.locator("#addresses")).to_contain_text(member.address)
    portal.page.reload()
    portal.enter({"Public port": str(PORT), "Device port": "443", "What for": "Nextcloud"}, "Save and deploy", "#forward-form")
    expect(portal.page.get_by_role("row", name=f"TCP {PORT}")).to_be_visible()


def choose_pool(portal: Portal, name: str) -> None:
    """Choose the pool to give an address of: its option says its name and prefix."""
    choice = portal.page.locator("#addresses form").get_by_label("Pool")
    words = choice.locator("option").filter(has_text=name).first.inner_text()
    choice.select_option(label=words)


def list_people(first: LabMember) -> list[dict[str, str]]:
    """Return the lines of a table of people: `first` with a public address and a forward, and neighbours with an address each."""
    lab = {"name": first.name, "address": first.address, "public": first.public, "forwards": f"tcp {PORT} → 443 (Nextcloud)"}
    lines = [{"name": f"Neighbour {number}", "address": f"10.16.1.{number}"} for number in range(1, IMPORTED)]
    return [_add_home(line, number) for number, line in enumerate([lab, *lines])]


def _add_home(line: dict[str, str], number: int) -> dict[str, str]:
    floor, door = number // 20 + 2, number % 20 + 1
    home = {"house": "House B", "room": f"{floor}{door:02d}", "floor": str(floor), "tariff": "Standard", "state": "active"}
    return {"number": str(2001 + number)} | line | home | {"device": "Laptop", "mac": f"52:54:00:00:00:{number:02x}"}


def render_table(people: Iterable[dict[str, str]]) -> bytes:
    """Return the table as a spreadsheet program exports it in Germany: semicolons and Windows-1252."""
    output = io.StringIO()
    writer = csv.DictWriter(output, COLUMNS, delimiter=";")
    writer.writerow(COLUMNS)
    writer.writerows(people)
    return output.getvalue().replace("→", ">").encode("cp1252")


def import_people(portal: Portal, first: LabMember) -> None:
    """Import a table with three mistakes, which is refused with their lines; then the corrected table."""
    people = list_people(first)
    wrong = [person | ({column: value} if column else {}) for person, (column, value) in zip(people, _iter_mistakes(), strict=True)]
    portal.begin_step("Members with addresses", "Add member")
    portal.follow("Import…")
    upload_table(portal, render_table(wrong))
    portal.expect_said("The table has 3 problems.")
    for line, (_column, value) in MISTAKES.items():
        portal.expect_said(f"Line {line}, column")
        portal.expect_said(value)
    portal.take_picture("import-problems")
    portal.follow("Choose another file")
    upload_table(portal, render_table(people))
    portal.expect_said("All lines are valid.")
    portal.take_picture("import-check")
    portal.page.get_by_role("button", name=f"Import {IMPORTED} members").click()
    portal.expect_said(f"{IMPORTED} members were imported.")


def _iter_mistakes() -> Iterator[tuple[str, str]]:
    """Yield for each person the column to write something wrong into, and what. The first person stands in line 2."""
    for line in range(2, IMPORTED + 2):
        yield MISTAKES.get(line, ("", ""))


def upload_table(portal: Portal, table: bytes) -> None:
    file = {"name": "members.csv", "mimeType": "text/csv", "buffer": table}
    portal.page.locator(FORM).get_by_label("Table").set_input_files(file)  # type: ignore[arg-type]  # a dict is what the type describes
    portal.send({"Create missing houses and rooms": True}, "Check")


def go_live(portal: Portal) -> None:
    """Read what would be deployed, and go live."""
    portal.page.goto("/setup/")
    members = IMPORTED + 1
    expect(portal.find_step("What would be deployed")).to_contain_text(f"{members} members with {members} addresses and prefixes")
    portal.begin_step("Go live", "To the plan")
    portal.expect_said("Lindenhof is not live.")
    portal.expect_said("172.31.0.0/24")
    portal.take_picture("plan")
    portal.press("Go live with Lindenhof")
    portal.expect_said("Lindenhof is live.")


def see_packets_through(portal: Portal, gateways: Iterable[str]) -> None:
    """Wait until a packet came back through each gateway, over each address family."""
    portal.page.goto("/setup/")
    for gateway in gateways:
        for family in ("IPv4", "IPv6"):
            expect(portal.find_step("A packet through each gateway")).to_contain_text(f"{gateway}, {family}: came back at")
    expect(portal.page.get_by_text("Your network runs.")).to_be_visible()
    portal.take_picture("first-steps-done")


def set_up_network(portal: Portal, addresses: Mapping[str, str], paste: Paste, after_join: Callable[[str], None]) -> None:
    """Go the way up to the plan. The browser is signed in and shows the dashboard. after_join: called for each gateway by its name."""
    portal.expect_said("No gateway runs your network yet")
    portal.follow("First steps")
    portal.expect_said("Next: A gateway group.")
    portal.take_picture("first-steps")
    with portal.step("group"):
        add_group(portal)
    join_gateways(portal, addresses, paste, after_join)
    with portal.step("pools, house, tariff"):
        add_pools(portal)
        add_house_and_tariff(portal)
    with portal.step("people"):
        add_member(portal, MEMBERS[1], "B-101")
        import_people(portal, MEMBERS[0])


def list_reached(lab: Lab, gateway: str) -> list[str]:
    """Return the members of the lab that the internet reaches through the gateway, and that reach the internet."""
    mappings = NatMapping.objects.filter(holding__member__name__in=[each.name for each in MEMBERS])
    public = dict(mappings.values_list("holding__member__name", "public"))
    return list_reached_members(lab, gateway, [replace(each, public=str(public[each.name])) for each in MEMBERS])


@contextmanager
def run_empty_portal(settings: LazySettings, sockets: Path) -> Iterator[None]:
    """A portal with a broker, a worker and one administrator, and nothing else."""
    with broker(sockets) as url:
        settings.REDIS_URL = url
        enqueue._get_publisher.cache_clear()
        with worker(url, sockets / "worker.log"), pytest.MonkeyPatch.context() as environment:
            environment.setenv("DJANGO_SUPERUSER_PASSWORD", PASSWORD)
            call_command("createsuperuser", "--noinput", "--username", "mara", "--email", "mara@lindenhof.example", verbosity=0)
            yield
    enqueue._get_publisher.cache_clear()
