"""From bare Debians to a network that forwards, a portal lost and restored, and a later release: by the documentation alone."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from lab.lab import Lab
from lab.machines.booted_tree import BootedTree
from tests.installed import administrator
from tests.installed.documents import list_commands
from tests.installed.trees import LATER, Trees
from tests.web.first_steps import Portal, go_live, see_packets_through, set_up_network
from tests.whole.from_nothing import MEMBERS, LabMember, list_reached_members
from tests.whole.system import GATEWAYS, INTERNET, conversation, reaches, wait_for

pytestmark = [pytest.mark.kernel, pytest.mark.browser, pytest.mark.machines]

ADDRESSES = {"nat-1": "172.31.0.11", "nat-2": "172.31.0.12"}
EVERYBODY = [each.name for each in MEMBERS]
LATE_PORT = 8555  # of a forward that is made after the backup


def test_pages_lead_from_bare_debians_over_a_lost_portal_to_a_later_release(
    portal: BootedTree, gateways: dict[str, BootedTree], page: Page, lab: Lab, trees: Trees, pytestconfig: pytest.Config
) -> None:
    pictures = pytestconfig.getoption("--pictures")
    shown = Portal(page, Path(pictures) if pictures else None)
    administrator.install(portal)
    administrator.make_first_administrator(portal)
    administrator.start(portal)
    shown.codes = administrator.sign_in_with_second_factor(page)
    shown.take_picture("recovery-codes")
    shown.follow("Continue")
    set_up(shown, portal, gateways)
    members = administrator.list_members(portal)
    for gateway in GATEWAYS:
        assert list_reached_members(lab, gateway, members) == EVERYBODY, gateway
    read = "SELECT count(DISTINCT gateway_id) FROM gateways_healthreading"
    wait_for(lambda: administrator.ask_database(portal, read) == "2", seconds=administrator.PATIENCE)
    with conversation(lab, "m1", INTERNET, 443) as goes_on:
        assert goes_on()
        backup = make_backup(portal)
        add_forward(shown, members[0], LATE_PORT)
        wait_for(lambda: reaches(lab, "internet", members[0].public, LATE_PORT), seconds=administrator.PATIENCE)
        portal.cut_power()
        with boot_another_portal(trees) as restored:
            restore(restored, backup)
            assert reaches(lab, "internet", members[0].public, LATE_PORT), "gateways run on until a person agrees"
            agree_on_page(shown)
            wait_for(lambda: not reaches(lab, "internet", members[0].public, LATE_PORT), seconds=administrator.PATIENCE)
            assert goes_on()
            upgrade(restored, gateways, trees.later)
            assert goes_on()
        assert list_reached_members(lab, "nat-1", members) == EVERYBODY


def set_up(shown: Portal, portal: BootedTree, gateways: dict[str, BootedTree]) -> None:
    """Go the way of docs/set-up.md, in a browser."""

    def paste(name: str, command: str) -> str:
        administrator.trust_certificate(gateways[name], portal)
        done = gateways[name].run(command)
        return done.stdout + done.stderr

    def paste_probe(name: str) -> None:
        gateways[name].run(shown.page.get_by_role("region", name="Command of the probe").inner_text())

    set_up_network(shown, ADDRESSES, paste, after_join=paste_probe)
    go_live(shown)
    see_packets_through(shown, GATEWAYS)


def make_backup(portal: BootedTree) -> Path:
    """Make a backup by its unit, and return its directory."""
    portal.run("systemctl is-active netzwart-backup.timer")
    for command in list_commands("install.md", "9. A backup each night"):
        portal.run(command)
    [backup] = (portal.tree / "var/backups/netzwart").glob("netzwart-*")
    return backup


def add_forward(shown: Portal, member: LabMember, port: int) -> None:
    """Enter another forward of the member, on its page."""
    shown.page.goto(f"/members/?q={member.name}")
    shown.page.get_by_role("link", name=member.name).first.click()
    shown.enter({"Public port": str(port), "Device port": "443", "What for": "Late"}, "Save and deploy", "#forward-form")
    expect(shown.page.get_by_role("row", name=f"TCP {port}")).to_be_visible()


@contextmanager
def boot_another_portal(trees: Trees) -> Iterator[BootedTree]:
    """A bare Debian in place of the portal's machine."""
    machine = BootedTree("portal", trees.copy("portal"))
    try:
        machine.switch_on()
        yield machine
    finally:
        machine.cut_power()


def restore(portal: BootedTree, backup: Path) -> None:
    """Restore the backup as docs/backup.md says, up to the question to a person."""
    administrator.install(portal)
    kept = portal.tree / "var/backups/netzwart" / backup.name
    shutil.copytree(backup, kept)
    own, _create, restore_it, differences, _agree = list_restoring_commands(kept)
    portal.run(own)
    administrator.set_variable(portal, "NETZWART_SECRET_KEY", (kept / "keys/secret_key").read_text().strip())
    portal.run(restore_it)
    administrator.start(portal)
    wait_for(lambda: str(LATE_PORT) in portal.run(differences).stdout, seconds=administrator.PATIENCE)
    [adopt, *_shown] = list_commands("backup.md", "What only the gateways have")
    assert f":{LATE_PORT} →" in portal.run(as_typed_with_package(adopt)).stdout


def agree_on_page(shown: Portal) -> None:
    """Look at what the restored database lacks, and let the gateways follow it."""
    administrator.sign_in_again(shown.page, shown.codes.pop())
    shown.page.goto("/rollouts/restored/")
    shown.expect_said(f":{LATE_PORT} →")
    shown.take_picture("restored")
    shown.press("Continue with the restored database")
    shown.expect_said("The gateways get what the restored database asks for.")


def list_restoring_commands(backup: Path) -> list[str]:
    """Return the commands of docs/backup.md for this backup, as they are typed with the package."""
    found = map(as_typed_with_package, list_commands("backup.md", "Restore"))
    return [f"netzwart restore /var/backups/netzwart/{backup.name}" if "/backup/" in each else each for each in found]


def as_typed_with_package(command: str) -> str:
    return command.replace("manage.py", "netzwart")


def upgrade(portal: BootedTree, gateways: dict[str, BootedTree], later: Path) -> None:
    """Upgrade the portal, then the agents, as docs/upgrade.md says."""
    for old in (portal.tree / "var/tmp").glob("netzwart_*.deb"):
        old.unlink()
    shutil.copyfile(later, portal.tree / "var/tmp" / later.name)
    backup, install, *_after_migrations = list_commands("upgrade.md", "The portal's Debian package")
    portal.run(backup)
    portal.run(install, text="y\n")
    assert LATER in portal.run("dpkg-query --show netzwart").stdout
    [*_start, ask] = list_commands("install.md", "6. Start it")
    wait_for(lambda: portal.run(ask, check=False).stdout.count('"fault": null') == 6, seconds=administrator.PATIENCE)
    for machine in gateways.values():
        machine.run("netzwart-join --allow-upgrades")
    portal.run("netzwart agent upgrade")  # fails if it stops before the last gateway
    offered, *gateways_run = portal.run("netzwart agent status").stdout.splitlines()
    version = offered.rpartition(" ")[2]
    assert sum(version in each for each in gateways_run) >= len(gateways), gateways_run


def test_a_database_goes_back_to_the_moment_before_a_mistake(portal: BootedTree) -> None:
    administrator.install(portal)
    administrator.make_first_administrator(portal)
    administrator.start(portal)
    for command in list_commands("backup.md", "Keep the log"):
        portal.run(command)
    portal.run("netzwart group add Kept")
    before = administrator.ask_database(portal, "SELECT now()")
    portal.run("netzwart group add Mistake")
    [clean_up] = list_commands("backup.md", "Remove old copies")
    portal.run(clean_up)
    go_back, hold = split_by_program(list_commands("backup.md", "Go back"))
    for command in go_back:
        portal.run(command.replace("2026-11-28 16:50:00+01:00", before))
    wait_for(lambda: administrator.ask_database(portal, "SELECT pg_is_in_recovery()") == "f", seconds=administrator.PATIENCE)
    assert administrator.ask_database(portal, "SELECT name FROM network_gatewaygroup") == "Kept"
    for command in hold:
        portal.run(command.replace("2026-11-28T16:50:00+01:00", f"'{before}'"))
    assert administrator.ask_database(portal, "SELECT agreed IS NULL FROM deployments_databaserestore") == "t"


def split_by_program(commands: list[str]) -> tuple[list[str], list[str]]:
    """Return the commands for PostgreSQL, and those for the portal."""
    at = next(number for number, each in enumerate(commands) if each.startswith("netzwart"))
    return commands[:at], commands[at:]
