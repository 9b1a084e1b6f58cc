"""manage.py gateway: gateways over ssh: join, add, change, check, trust, choose primaries, replace and retire them, failover files."""

import time
from argparse import ArgumentParser, ArgumentTypeError
from dataclasses import replace
from ipaddress import ip_address, ip_network
from pathlib import Path
from subprocess import SubprocessError
from typing import Any

import pghistory
from django.conf import settings
from django.core.management.base import CommandError

from apps.deployments.transport import agent_channel, ssh, ssh_keys
from apps.deployments.transport.management_ports import list_ports
from apps.gateways import enrolment, families, primaries, services
from apps.gateways.failover_command import write_failover_files
from apps.gateways.joining import join_command
from apps.gateways.joining import services as joining
from apps.gateways.joining.examination import find_own_address
from apps.gateways.lifecycle_command import NAMES, LifecycleCommand, get_gateway
from apps.gateways.probe_facts import ADDRESSES
from apps.gateways.roles.models import RoleSwitch
from apps.gateways.selectors import list_retired
from apps.gateways.sync_facts import OWN_ADDRESSES
from apps.lib.errors import Problem
from apps.lib.fields import Address, Prefix
from apps.network.models import Gateway
from firewall import wire
from firewall.addresses import parse_prefix

SETUP = "docs/gateway-setup.md"
NOTHING = "none"


class Command(LifecycleCommand):
    help = (
        "Gateways that are reached by ssh: add, change, list, check, rename, replace and retire them, trust a host key, choose primaries. "
        f"For the gateway's side see {SETUP}."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        what = parser.add_subparsers(
            dest="what", required=True, metavar=f"join | add | change | list | check | trust | primary | {NAMES} | failover-files | key"
        )
        _define_add_arguments(what.add_parser("add", help="add a gateway"))
        _define_change_arguments(what.add_parser("change", help="change a gateway, for example its probe; what is not given stays"))
        join = what.add_parser("join", help="make a gateway of a bare Debian: what to paste, the host key, the interfaces")
        _define_place_arguments(join)
        join_command.define_join_arguments(join)
        what.add_parser("list", help="list all gateways, and how they are reached")
        what.add_parser("check", help="connect to a gateway's sshd, open a new session, ask the agent").add_argument("name")
        trust = what.add_parser("trust", help="trust the gateway's current host key, after it was reinstalled")
        trust.add_argument("name")
        _define_trust_arguments(trust)
        primary = what.add_parser("primary", help="make a gateway its group's primary for an address family, in place of the one that is")
        primary.add_argument("name")
        primary.add_argument("--family", type=int, choices=(4, 6), required=True, help="IPv4 or IPv6")
        _define_trust_arguments(self.define_lifecycle(what, _parse_address, _parse_port))
        files = what.add_parser("failover-files", help="print its files for netzwart-failover, write them, or let its agent install them")
        files.add_argument("name")
        where = files.add_mutually_exclusive_group()
        where.add_argument("--directory", type=Path, help="where they are written; it is made if it is missing")
        where.add_argument("--install", action="store_true", help="on the gateway, on trial: they stay if all goes on with them")
        what.add_parser("key", help="print the line for authorized_keys on gateways; makes the portal's key if there is none")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            getattr(self, f"_{options['what'].replace('-', '_')}")(options)
        except (Problem, agent_channel.Unreachable, OSError, SubprocessError) as error:
            raise CommandError(str(error)) from error

    def _add(self, options: dict[str, Any]) -> None:
        enrolment.check_name_is_free(options["name"])
        group = enrolment.get_group(options["group"])
        for family in options["carries"]:
            primaries.refuse_second_primary(group, options["name"], family)
        line = self._get_portal_key()
        host_key = self.ask_host_key(options["address"], options["port"], options)
        networks = options["management_network"] or [ip_network(find_own_address(options["address"], options["port"]))]
        given = {name: options[name] for name in ("name", "address", "port", "account", "lan", "wan", "management", "sync", "sync_address")}
        made = enrolment.enrol_gateway(group=group, host_key=host_key, management_networks=networks, carries=options["carries"], **given)
        self.stdout.write(f"\n{made} is in group {group}. Its ssh will be open only to {', '.join(map(str, networks))}.")
        self.stdout.write(f"\nIn authorized_keys of the account {made.ssh_user} on {made}, one line ({SETUP}):\n\n{line}\n\n")
        try:
            self._try(made)
        except agent_channel.Unreachable as fault:
            self.stdout.write(f"The agent does not answer yet: {fault}.\nOnce the agent runs, check with: manage.py gateway check {made}")

    def _change(self, options: dict[str, Any]) -> None:
        gateway = get_gateway(options["name"])
        given = {name: options[name] for name in services.FACTS if options[name] is not None}
        facts = replace(services.get_facts(gateway), **{name: _read_nothing(name, value) for name, value in given.items()})
        with pghistory.context(cause="gateway change"):
            services.configure_gateway(gateway=gateway, version=gateway.version, facts=facts)
        self.stdout.write(f"{gateway} is changed.")

    def _join(self, options: dict[str, Any]) -> None:
        machine = join_command.require_reachable_machine(join_command.begin_or_go_on(options), self.stdout.write)
        if not machine.host_key or machine.progress == machine.Progress.CHANGED:
            key = self.ask_host_key(machine.address, machine.port, options)
            machine = join_command.require_reachable_machine(machine, lambda _said: None)
            joining.accept_host_key(machine=machine, fingerprint_key=key)
        facts = join_command.read_facts(machine, self.stdout.write)
        chosen = join_command.complete_interface_choice(machine, facts, options)
        made = join_command.finish(machine, chosen, options)
        interfaces = ", ".join(f"{role} {getattr(chosen, role)}" for role in join_command.ROLES if getattr(chosen, role))
        self.stdout.write(f"\n{made} is a gateway of {made.group}: {interfaces}.")
        self.stdout.write(f"Its ssh will be open only to {', '.join(map(str, chosen.networks))}.")

    def _list(self, _options: dict[str, Any]) -> None:
        rows = Gateway.objects.select_related("group").order_by("group__name", "name")
        for row in rows:
            where = (
                f"{row.ssh_user}@{row.address} port {row.management_port} {ssh.compute_fingerprint(row.host_key)}" if row.host_key else ""
            )
            self.stdout.write(f"{row.group}  {row.name}  {row.get_link_display()}  {where}".rstrip())
        for row in list_retired():
            self.stdout.write(f"{row.group}  {row.name}  out of service since {row.retired:%Y-%m-%d %H:%M} UTC")
        if not rows:
            self.stdout.write("No gateway yet. Add one with “manage.py gateway add”.")

    def _check(self, options: dict[str, Any]) -> None:
        gateway = get_gateway(options["name"])
        try:
            self._try(gateway)
        except agent_channel.Unreachable as fault:
            raise CommandError(f"{gateway}: {fault}") from fault

    def _trust(self, options: dict[str, Any]) -> None:
        gateway = get_gateway(options["name"])
        if gateway.link != Gateway.Link.SSH or gateway.address is None:
            raise CommandError(f"{gateway} is not reached by ssh; there is no host key to trust.")
        self.stdout.write(f"Trusted so far: {ssh.compute_fingerprint(gateway.host_key)}")
        enrolment.trust_host_key(gateway=gateway, host_key=self.ask_host_key(gateway.address, list_ports(gateway)[0], options))
        self._try(gateway)

    def _primary(self, options: dict[str, Any]) -> None:
        gateway, family = get_gateway(options["name"]), options["family"]
        before = families.find_primary(gateway.group, family)
        with pghistory.context(cause="gateway primary"):
            primaries.set_primary(gateway=gateway, family=family, version=gateway.version)
        instead = f" instead of {before}" if before and before != gateway else ""
        self.stdout.write(f"{gateway} is the IPv{family} primary of {gateway.group}{instead}.")
        self.stdout.write("Netzwart moves no address: keepalived on the gateways decides where the service addresses are.")

    def _failover_files(self, options: dict[str, Any]) -> None:
        gateway = get_gateway(options["name"])
        if options["install"]:
            self.carry_out(gateway, RoleSwitch.Kind.INSTALL)
        else:
            write_failover_files(gateway, options["directory"], self.stdout.write)

    def _key(self, _options: dict[str, Any]) -> None:
        self.stdout.write(self._get_portal_key())

    def _get_portal_key(self) -> str:
        key, made = ssh_keys.ensure_portal_key()
        if made:
            self.stderr.write(f"Made the portal's ssh key: {settings.SSH_KEY}")
        return ssh_keys.build_authorized_keys_line(key)

    def ask_host_key(self, address: Address, port: int, options: dict[str, Any]) -> str:
        """Return the host key that the machine shows, after a person, --fingerprint or --yes has accepted it."""
        found = ssh_keys.scan_host_key(address, port)
        shown, wanted = ssh.compute_fingerprint(found), options["fingerprint"]
        self.stdout.write(f"{address}, port {port} shows the host key {shown}")
        if wanted and wanted != shown:
            raise CommandError(
                f"The host key differs: expected {wanted}, found {shown}. Nothing was changed. Compare on the gateway's console: "
                "ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub. If that shows the expected key, "
                "another machine answers in between (a man in the middle)."
            )
        if not wanted and options["yes"]:
            self.stderr.write("The host key was not compared (--yes): if another machine answers in between now, the portal will trust it.")
        if not wanted and not options["yes"]:
            self._ask()
        return found

    def _ask(self) -> None:
        self.stdout.write("Compare on the gateway's console: ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub")
        try:
            answer = input("Is it the same? Type yes: ")
        except EOFError:
            answer = ""
        if answer.strip().lower() != "yes":
            raise CommandError("Nothing was changed. In scripts, give the fingerprint with --fingerprint SHA256:…")

    def _try(self, gateway: Gateway) -> None:
        """Knock, open a session and ask the agent. Raises agent_channel.Unreachable."""
        self.stdout.write(f"{gateway} answers a new connection after {agent_channel.measure_connect(gateway):.1f} ms.")
        start = time.monotonic()
        with agent_channel.open_session(gateway) as channel:
            answer = channel.ask(wire.Hello(int(time.time())))
        self.stdout.write(f"A new session and the agent's answer took {(time.monotonic() - start) * 1000:.0f} ms.")
        if not isinstance(answer, wire.Welcome):
            raise agent_channel.Unreachable(f"the agent answered: {getattr(answer, 'text', answer)}")
        memory = " Its rules are in memory only: it runs with --fake." if answer.in_memory else ""
        self.stdout.write(f"Agent {answer.agent} runs {answer.digest[:12] or 'nothing of ours'}.{memory}")
        if answer.name not in (gateway.name, gateway.agent_name):
            raise CommandError(f"The agent calls itself {answer.name!r}. Start it with --name {gateway}, or correct the address.")


def _define_place_arguments(parser: ArgumentParser) -> None:
    """Define what `join` and `add` have in common."""
    parser.add_argument("name", help="the gateway's name, the same as its agent's --name: small letters, digits, hyphens")
    parser.add_argument("--address", type=_parse_address, required=True, help="its management address")
    parser.add_argument("--port", type=_parse_port, default=22, help="port of its sshd (default: %(default)s)")
    parser.add_argument("--group", required=True, help="the gateway group that it joins")
    parser.add_argument(
        "--management-network",
        type=_parse_network,
        action="append",
        default=[],
        metavar="NET",
        help="network from which its ssh may be reached; may be given several times (default: this machine's address)",
    )
    parser.add_argument(
        "--carries", type=int, choices=(4, 6), action="append", default=[], help="it is primary for IPv4 or IPv6; twice for both"
    )
    _define_trust_arguments(parser)


def _define_add_arguments(parser: ArgumentParser) -> None:
    _define_place_arguments(parser)
    parser.add_argument("--account", default="netzwart", help="account that ssh signs in to (default: %(default)s)")
    parser.add_argument("--lan", required=True, metavar="IF", help="inside interface")
    parser.add_argument("--wan", required=True, metavar="IF", help="outside interface")
    parser.add_argument("--management", required=True, metavar="IF", help="management interface")
    parser.add_argument("--sync", default="", metavar="IF", help="state sync interface")
    parser.add_argument("--sync-address", type=_parse_address, metavar="ADDRESS", help="its IPv4 address on the state sync interface")


def _define_change_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name")
    parser.add_argument("--address", type=_parse_address, help="its management address")
    parser.add_argument("--port", dest="management_port", type=_parse_port, help="port of its sshd")
    parser.add_argument("--account", dest="ssh_user", help="account that ssh signs in to")
    for name, what in (("lan", "inside"), ("wan", "outside"), ("management", "management"), ("sync", "state sync")):
        parser.add_argument(f"--{name}", metavar="IF", help=f"{what} interface")
    parser.add_argument(
        "--management-network",
        dest="management_networks",
        type=_parse_network,
        action="append",
        metavar="NET",
        help="network from which its ssh may be reached, instead of those so far; may be given several times",
    )
    text = "its IPv4 address on the state sync interface; “none” without"
    parser.add_argument("--sync-address", type=_parse_optional_address, metavar="ADDRESS", help=text)
    parser.add_argument("--probe-interface", metavar="IF", help="interface that leads to its probe; “none”: no probe")
    for name in ADDRESSES:
        option = f"--{name.replace('_', '-')}"
        parser.add_argument(option, type=_parse_optional_address, metavar="ADDRESS", help="address of its probe; “none” without")


def _read_nothing(name: str, value: Any) -> Any:
    """Return the value of a field for what was given; “none” empties it."""
    if value != NOTHING:
        return value
    return None if name in OWN_ADDRESSES else ""


def _define_trust_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--fingerprint", metavar="SHA256:…", help="the expected fingerprint of the host key; no question is asked then")
    parser.add_argument("--yes", action="store_true", help="accept the host key without comparing it; prints a warning")


def _parse_address(text: str) -> Address:
    try:
        return ip_address(text)
    except ValueError as error:
        raise ArgumentTypeError(f"{text!r} is not an IP address") from error


def _parse_optional_address(text: str) -> Address | str:
    return text if text == NOTHING else _parse_address(text)


def _parse_network(text: str) -> Prefix:
    try:
        return parse_prefix(text)
    except ValueError as error:
        raise ArgumentTypeError(f"{text!r} is not a network: write it like 172.31.0.0/24, with all host bits zero") from error


def _parse_port(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= 65535:
        raise ArgumentTypeError(f"{text!r} is not a port: choose 1 to 65535")
    return int(text)
