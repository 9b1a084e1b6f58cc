"""From an empty portal with one administrator to a TCP connection to a member, in a browser, along the page of the first steps."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from subprocess import Popen

import pytest
from django.conf import LazySettings
from django.core.management import call_command
from playwright.sync_api import Locator, Page, expect

from apps.deployments.models import Rollout
from apps.lib import enqueue
from apps.nat.models import NatMapping
from apps.network.models import GatewayGroup
from lab.lab import Lab
from tests.web.conftest import sign_in
from tests.whole.from_nothing import MEMBERS, POOLS, PORT, LabMember, describe_gateway, list_reached_members
from tests.whole.system import GATEWAYS
from tests.whole.worker import broker, worker

pytestmark = [pytest.mark.kernel, pytest.mark.browser, pytest.mark.xdist_group("whole")]

PASSWORD = "correct horse battery"
KINDS = {"private4": "private IPv4", "public4": "public IPv4", "prefix6": "IPv6 prefixes"}
FORM = "main form.nw-form"


class Portal:
    """The portal in the browser of a person who sets up a network."""

    def __init__(self, page: Page) -> None:
        self.page = page

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
                field.select_option(label=value)
            else:
                field.fill(value)
        where.get_by_role("button", name=button, exact=True).click()

    def send(self, values: dict[str, str | bool], button: str) -> None:
        """Enter these values in the form of the page, and wait for the page that answers it."""
        with self.page.expect_navigation():
            self.enter(values, button, FORM)

    def expect_said(self, words: str) -> None:
        expect(self.page.locator("main").get_by_text(words).first).to_be_visible()


@pytest.fixture
def portal(page: Page, bare_lab: Lab, by_ssh: dict[str, Popen[str]], sockets: Path, settings: LazySettings) -> Iterator[Portal]:
    """An empty portal with a worker and one administrator; two gateways wait behind their sshd."""
    with broker(sockets) as url:
        settings.REDIS_URL = url
        enqueue._get_publisher.cache_clear()
        with worker(url, sockets / "worker.log"), pytest.MonkeyPatch.context() as environment:
            environment.setenv("DJANGO_SUPERUSER_PASSWORD", PASSWORD)
            call_command("createsuperuser", "--noinput", "--username", "mara", "--email", "mara@lindenhof.example", verbosity=0)
            yield Portal(page)
    enqueue._get_publisher.cache_clear()


def add_gateway(portal: Portal, name: str, sockets: Path) -> None:
    """Add a gateway, then its probe."""
    facts = describe_gateway(name, sockets)
    portal.begin_step("Gateways", "Add gateway")
    portal.follow("Enter everything yourself")
    given = {"Name": "name", "Management address": "address", "Host key": "host_key", "Inside interface": "lan"}
    given |= {"Outside interface": "wan", "Management interface": "management", "State sync interface": "sync"}
    given |= {"Primary for IPv4": "carries4", "Primary for IPv6": "carries6"}
    entered = {label: facts[field] for label, field in given.items()}
    portal.send({**entered, "Management networks": facts["management_networks"][0]}, "Add gateway")
    portal.follow("Edit")
    probe = {"Probe interface": "probe_interface", "Private IPv4 address of the probe": "probe_source4"}
    probe |= {"Public IPv4 address of the probe": "probe_public4", "IPv6 address of the probe": "probe_source6"}
    portal.send({label: facts[field] for label, field in probe.items()}, "Save")
    portal.expect_said(f"Saved. The next rollout rewrites the rules of {name}")


def add_pools(portal: Portal) -> None:
    for name, kind, prefix, more in POOLS:
        portal.begin_step("Pools of addresses", "Add pool")
        portal.follow("Add pool")
        kept = {"First addresses kept free": str(more["kept_first"])} if "kept_first" in more else {}
        portal.send({"Name": name, "Kind": KINDS[kind], "Prefix": prefix, **kept}, "Add pool")
        portal.expect_said(name)


def add_member(portal: Portal, member: LabMember, room: str) -> None:
    """Add an active member with an address, the public address as which it leaves, and a forward."""
    portal.begin_step("Members with addresses", "Add member")
    portal.follow("Add the first member" if room == "B-101" else "Add member")
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


def find_public_address(member: LabMember) -> str:
    """Return the address that the portal chose for the member: the next free one."""
    return str(NatMapping.objects.get(holding__member__name=member.name).public)


def test_a_person_sets_up_a_network_and_reaches_a_member_through_each_gateway(portal: Portal, bare_lab: Lab, sockets: Path) -> None:
    sign_in(portal.page)
    portal.expect_said("No gateway runs your network yet")
    portal.follow("First steps")
    portal.expect_said("Next: A gateway group.")

    portal.begin_step("A gateway group", "Add group")
    targets = {"IPv4 target of the probes": "203.0.113.10", "IPv6 target of the probes": "2001:db8:cafe::10"}
    portal.send({"Name": "Lindenhof", **targets, "TCP port of the targets": "80"}, "Add group")
    for name in GATEWAYS:
        add_gateway(portal, name, sockets)
    add_pools(portal)
    portal.begin_step("Houses and rooms", "Add house")
    portal.follow("Add the first house")
    portal.send({"Name": "House B", "Code": "B"}, "Add house")
    portal.send({"From floor": "1", "Doors on each floor": "01-02"}, "Add rooms")
    portal.begin_step("Tariffs", "Add tariff")
    portal.follow("Add the first tariff")
    portal.send({"Name": "Standard"}, "Save")
    for member, room in zip(MEMBERS, ("B-101", "B-102"), strict=True):
        add_member(portal, member, room)

    portal.page.goto("/setup/")
    expect(portal.find_step("What would be deployed")).to_contain_text("2 members with 2 addresses and prefixes, on nat-1, nat-2.")
    portal.begin_step("Go live", "To the plan")
    portal.expect_said("Lindenhof is not live.")
    portal.expect_said("172.31.0.0/24")
    assert not Rollout.objects.exists()
    portal.page.get_by_role("button", name="Go live with Lindenhof").click()
    portal.expect_said("Lindenhof is live.")
    assert GatewayGroup.objects.get().live_since

    portal.page.goto("/setup/")
    for gateway in GATEWAYS:
        for family in ("IPv4", "IPv6"):
            expect(portal.find_step("A packet through each gateway")).to_contain_text(f"{gateway}, {family}: came back at")
    expect(portal.page.get_by_text("Your network runs.")).to_be_visible()
    reached = [replace(each, public=find_public_address(each)) for each in MEMBERS]
    for gateway in GATEWAYS:
        assert list_reached_members(bare_lab, gateway, reached) == [each.name for each in MEMBERS], gateway
