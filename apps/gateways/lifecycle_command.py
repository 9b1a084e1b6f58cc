"""Subcommands of `manage.py gateway` for a gateway's life: rename, replace, retire, reinstate, remove."""

from abc import ABC, abstractmethod
from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any

import pghistory
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.deployments.transport import ssh
from apps.gateways import renaming, replacement, retirement
from apps.gateways.roles.models import RoleSwitch
from apps.gateways.roles.observation import observe_group
from apps.gateways.roles.outcomes import describe_outcome
from apps.gateways.roles.picture import build_roles_picture
from apps.gateways.roles.problems import list_problems
from apps.gateways.roles.switching import await_switch_end, carry_out_switch, request_switch
from apps.lib.fields import Address
from apps.network.models import Gateway, GatewayGroup

NAMES = "rename | replace | retire | reinstate | remove | roles | switch"
KINDS = "switch: it stands by afterwards; drain: it does not, for maintenance; resume: it stands by again (default: %(default)s)"
ON_THE_MACHINE = (
    "The machine keeps forwarding by its last ruleset until it is switched off. To remove Netzwart there: apt-get purge netzwart-agent"
)


class LifecycleCommand(BaseCommand, ABC):
    """The subcommands; `manage.py gateway` has the others, and the way to a host key that a person has compared."""

    def define_lifecycle(self, what: Any, parse_address: Any, parse_port: Any) -> ArgumentParser:
        """Define the subcommands. Return the parser of `replace`, which takes a host key like `trust`."""
        rename = what.add_parser("rename", help="give a gateway another name; nothing has to be done on the machine")
        rename.add_argument("name")
        rename.add_argument("new_name")
        replace = what.add_parser("replace", help="expect a new machine in the place of a gateway's; it gets the whole ruleset")
        replace.add_argument("name")
        replace.add_argument("--address", type=parse_address, help="its management address, if that is another")
        replace.add_argument("--port", type=parse_port, help="port of its sshd, if that is another")
        retire = what.add_parser("retire", help="take a gateway out of service; what it counted and confirmed stays")
        retire.add_argument("name")
        retire.add_argument("--successor", metavar="NAME", help="gateway that becomes primary for its families (default: the best)")
        retire.add_argument("--yes", action="store_true", help="do not ask")
        what.add_parser("roles", help="ask all gateways with failover which address families they carry")
        switch = what.add_parser("switch", help="let another gateway take over from this one, and prove it")
        switch.add_argument("name")
        switch.add_argument("--kind", choices=RoleSwitch.MOVES, default=RoleSwitch.Kind.SWITCH.value, help=KINDS)
        switch.add_argument("--family", type=int, choices=(4, 6), action="append", default=[], help="only this family (default: all)")
        what.add_parser("reinstate", help="take a retired gateway back into service").add_argument("name")
        what.add_parser("remove", help="remove a gateway that never took part in a rollout").add_argument("name")
        parser: ArgumentParser = replace
        return parser

    @abstractmethod
    def ask_host_key(self, address: Address, port: int, options: dict[str, Any]) -> str:
        """Return the host key that the machine shows, after it was compared."""

    def _rename(self, options: dict[str, Any]) -> None:
        gateway = get_gateway(options["name"])
        with pghistory.context(cause="gateway rename"):
            renamed = renaming.rename_gateway(gateway=gateway, name=options["new_name"], version=gateway.version)
        self.stdout.write(f"{options['name']} is called {renamed} now. Its agent goes on calling itself {renamed.agent_name}.")

    def _replace(self, options: dict[str, Any]) -> None:
        gateway = get_gateway(options["name"])
        replacement.refuse_without_ssh(gateway)
        address, port = options["address"] or gateway.address, options["port"] or gateway.management_port
        if address is None:
            raise CommandError(f"{gateway} has no address. Give the new machine's by --address.")
        self.stdout.write(f"Trusted so far: {ssh.compute_fingerprint(gateway.host_key)}")
        key = self.ask_host_key(address, port, options)
        replacement.replace_machine(gateway=gateway, version=gateway.version, host_key=key, address=address, port=port)
        self.stdout.write(f"{gateway} is another machine now. The next rollout sends it the whole ruleset.")

    def _retire(self, options: dict[str, Any]) -> None:
        gateway = get_gateway(options["name"])
        successor = get_gateway(options["successor"]) if options["successor"] else None
        plan = retirement.plan_retirement(gateway)
        if plan.obstacle:
            raise plan.obstacle
        for family in plan.families:
            self.stdout.write(f"{gateway} is the IPv{family} primary; {successor or next(iter(plan.others), 'nobody')} becomes it.")
        if not options["yes"]:
            self._confirm(f"Retire {gateway}")
        with pghistory.context(cause="gateway retire"):
            retirement.retire_gateway(gateway=gateway, version=gateway.version, successor=successor)
        self.stdout.write(f"{gateway} is out of service.\n{ON_THE_MACHINE}")

    def _confirm(self, what: str) -> None:
        try:
            answer = input(f"{what}? Type yes: ")
        except EOFError:
            answer = ""
        if answer.strip().lower() != "yes":
            raise CommandError("Nothing was changed. In scripts, give --yes.")

    def _reinstate(self, options: dict[str, Any]) -> None:
        gateway = Gateway.ever.filter(name=options["name"]).exclude(retired=None).order_by("-retired").first()
        if gateway is None:
            raise CommandError(f"No gateway {options['name']!r} is out of service. “manage.py gateway list” lists all.")
        with pghistory.context(cause="gateway reinstate"):
            retirement.reinstate_gateway(gateway=gateway, version=gateway.version)
        self.stdout.write(f"{gateway} is back in service, as a standby of {gateway.group}.")

    def _roles(self, _options: dict[str, Any]) -> None:
        groups = list(GatewayGroup.objects.filter(failover__isnull=False))
        if not groups:
            self.stdout.write(
                "No group has failover set up here, so no gateway tells its role. “manage.py gateway list” says who is primary."
            )
        for group in groups:
            observe_group(group)
            picture = build_roles_picture(group)
            for each in (each for family in picture.families for each in family.roles):
                drained = ", drained" if each.is_drained else ""
                since = f" since {each.since:%Y-%m-%d %H:%M:%S UTC}" if each.since else ""
                self.stdout.write(f"{each.status.gateway}  IPv{each.family}  {each.role}{since}{drained}")
            for problem in list_problems(picture, timezone.now()):
                self.stdout.write(problem.text)

    def _switch(self, options: dict[str, Any]) -> None:
        self.carry_out(get_gateway(options["name"]), RoleSwitch.Kind(options["kind"]), sorted(set(options["family"])))

    def carry_out(self, gateway: Gateway, kind: RoleSwitch.Kind, families: Sequence[int] = ()) -> None:
        """Switch or install, and say how it ended. Raises CommandError."""
        observe_group(gateway.group)
        row = request_switch(gateway=gateway, kind=kind, families=families)
        carry_out_switch(row.pk)
        row = await_switch_end(row)  # a worker may have been faster
        if row.state == RoleSwitch.State.FAILED:
            raise CommandError(describe_outcome(row))
        self.stdout.write(describe_outcome(row))

    def _remove(self, options: dict[str, Any]) -> None:
        gateway = get_gateway(options["name"])
        with pghistory.context(cause="gateway remove"):
            retirement.remove_gateway(gateway)
        self.stdout.write(f"{gateway} is removed.")


def get_gateway(name: str) -> Gateway:
    """Return the gateway of this name. Raises CommandError."""
    found = Gateway.objects.filter(name=name).first()
    if found is None:
        raise CommandError(f"Unknown gateway {name!r}. “manage.py gateway list” lists all.")
    return found
