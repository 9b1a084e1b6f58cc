"""The administrator who installs a portal by docs/install.md: types its commands, and enters what is left to a person."""

import re
from dataclasses import replace
from time import time
from typing import Final

from allauth.mfa.totp.internal import auth as totp
from playwright.sync_api import Page

from lab.machines.booted_tree import BootedTree
from tests.installed.documents import list_commands
from tests.web.conftest import sign_in
from tests.web.first_steps import PASSWORD
from tests.whole.from_nothing import MEMBERS, LabMember
from tests.whole.system import wait_for

NAME: Final = "portal.example.org"
ADDRESS: Final = "172.31.0.1"  # of the portal's node
PAGE: Final = "install.md"
AUTHORITY: Final = "var/lib/caddy/.local/share/caddy/pki/authorities/local/root.crt"
PATIENCE: Final = 300  # seconds until all programs have written a sign of life
USER: Final = "mara"
PUBLIC: Final = """SELECT host(public) FROM nat_natmapping JOIN network_holding ON network_holding.id = holding_id
    JOIN members_member ON members_member.id = network_holding.member_id WHERE members_member.name = '{name}'"""


def install(portal: BootedTree) -> None:
    """Take the steps up to the settings: nothing runs, and the database is empty."""
    for command in [*list_commands(PAGE, "2. Install it"), *list_commands(PAGE, "3. Make the database")]:
        portal.run(command, text="y\n" * 3)
    for line in list_commands(PAGE, "4. Say who you are"):
        set_variable(portal, *line.split("=", 1))


def set_variable(portal: BootedTree, name: str, value: str) -> None:
    """Set the variable in the file of settings, in place of its line."""
    path = portal.tree / "etc/netzwart/environment"
    text, changed = re.subn(rf"^#?{name}=.*$", lambda _found: f"{name}={value}", path.read_text(), count=1, flags=re.MULTILINE)
    assert changed, f"{path} has no line for {name}"
    path.write_text(text)


def make_first_administrator(portal: BootedTree) -> None:
    """Migrate, and answer what the command of the first administrator asks."""
    migrate, create = list_commands(PAGE, "5. Make the tables, and the first administrator")
    assert "No migrations to apply." in portal.run(migrate).stdout
    answers = [("Username:", USER), ("Email address:", "mara@lindenhof.example"), ("Password:", PASSWORD), ("Password (again):", PASSWORD)]
    assert "Superuser created successfully." in portal.type(create, answers)


def start(portal: BootedTree) -> None:
    """Start the programs, and Caddy with a certificate of its own before them. Return when all have written a sign of life."""
    start_all, ask = list_commands(PAGE, "6. Start it")
    portal.run(start_all)
    wait_for(lambda: portal.run(ask, check=False).stdout.count('"fault": null') == 6, seconds=PATIENCE)
    place, restart = list_commands(PAGE, "7. TLS in front")
    portal.run(place.replace("YOUR.NAME", NAME))
    file = portal.tree / "etc/caddy/Caddyfile"
    file.write_text(file.read_text().replace(f"{NAME} {{", f"{NAME} {{\n    tls internal", 1))
    portal.run(restart)
    see = f"curl -fsS --cacert /{AUTHORITY} --resolve {NAME}:443:127.0.0.1 https://{NAME}/account/login/"
    wait_for(lambda: 'name="password"' in portal.run(see, check=False).stdout, seconds=PATIENCE)


def sign_in_with_second_factor(page: Page) -> list[str]:
    """Sign in for the first time, and set up an authenticator app. Returns the recovery codes."""
    sign_in(page, USER, PASSWORD, lands="**/account/second-factor/**")
    page.get_by_role("link", name="Set up an app").click()
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Continue", exact=True).click()
    secret = page.locator("main code").inner_text()
    page.get_by_label("Code").fill(compute_code(secret))
    page.get_by_role("button", name="Set up", exact=True).click()
    page.wait_for_url("**/recovery-codes/**")
    return page.locator("main li code").all_inner_texts()


def sign_in_again(page: Page, code: str) -> None:
    """Sign in with a recovery code in place of the app's."""
    sign_in(page, USER, PASSWORD, lands="**/account/second-factor/authenticate/**")
    page.get_by_label("Code").fill(code)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url("/")


def compute_code(secret: str) -> str:
    """Return what the app shows now (RFC 6238)."""
    return str(totp.format_hotp_value(totp.hotp_value(secret, int(time()) // 30)))


def trust_certificate(machine: BootedTree, portal: BootedTree) -> None:
    """Let a gateway find the portal's name and believe Caddy's own certificate, as docs/install.md says."""
    authority = (portal.tree / AUTHORITY).read_text()
    machine.run("mkdir -p /usr/local/share/ca-certificates && cat > /usr/local/share/ca-certificates/portal.crt", text=authority)
    machine.run(f"echo '{ADDRESS} {NAME}' >> /etc/hosts")


def ask_database(portal: BootedTree, query: str) -> str:
    """Return what PostgreSQL answers, without decoration."""
    return portal.run(f'runuser -u postgres -- psql --no-psqlrc --tuples-only --no-align netzwart --command "{query}"').stdout.strip()


def list_members(portal: BootedTree) -> list[LabMember]:
    """Return the members of the lab with the public addresses that the portal gave them."""
    return [replace(each, public=ask_database(portal, PUBLIC.format(name=each.name))) for each in MEMBERS]
