"""manage.py group: adds, changes and removes gateway groups, and goes live with one."""

from argparse import ArgumentParser, ArgumentTypeError
from dataclasses import replace
from ipaddress import ip_address
from typing import Any

import pghistory
from django.core.management.base import BaseCommand, CommandError

from apps.deployments.approvals.limit_changes import find_waiting_limits
from apps.deployments.rollouts.go_live import go_live
from apps.gateways import enrolment, groups
from apps.gateways.failover_command import define_failover_arguments, run_failover
from apps.lib.errors import Problem
from apps.lib.fields import Address
from apps.network.models import GatewayGroup

SWITCH = {"yes": True, "no": False}
NOTHING = "none"


class Command(BaseCommand):
    help = (
        "Gateway groups: add one, list all, change one, go live with one, set its failover or remove one. "
        "A network needs one before its first gateway and its first pool."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        what = parser.add_subparsers(dest="what", required=True, metavar="add | list | change | live | failover | remove")
        add = what.add_parser("add", help="add a group")
        change = what.add_parser("change", help="change a group; what is not given stays")
        change.add_argument("--name", dest="new_name", help="its new name")
        live = what.add_parser("live", help="go live: deploy to its gateways from now on; “manage.py plan” shows what they get")
        failover = what.add_parser("failover", help="show or change how its gateways stand in for each other; what is not given stays")
        define_failover_arguments(failover)
        for each in (add, change, live, what.add_parser("remove", help="remove a group that nothing depends on")):
            each.add_argument("name", help="the group's name")
        for each in (add, change):
            _define_setting_arguments(each)
        what.add_parser("list", help="list all groups with their settings")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with pghistory.context(cause=f"group {options['what']}"):
                getattr(self, f"_{options['what']}")(options)
        except Problem as problem:
            raise CommandError(str(problem)) from problem

    def _add(self, options: dict[str, Any]) -> None:
        made = groups.add_group(facts=replace(groups.GroupFacts(options["name"]), **_pick_settings(options)))
        self.stdout.write(f"{made} is added. Add its gateways with “manage.py gateway add NAME --group {made} …”.")

    def _list(self, _options: dict[str, Any]) -> None:
        rows = GatewayGroup.objects.all()
        for row in rows:
            names = ", ".join(row.gateways.order_by("name").values_list("name", flat=True)) or "no gateway yet"
            targets = " and ".join(str(each) for each in (row.probe_target4, row.probe_target6) if each)
            probes = f"probes {targets}, port {row.probe_port}" if targets else "no probes"
            probes += f", responder at port {row.responder_port}" if row.responder_port else ""
            live = "" if row.live_since else "not live  "
            self.stdout.write(
                f"{row}  {live}{names}  {probes}  confirm within {row.confirm_within} s  "
                f"a second person from {row.removal_share} % and {row.removal_least} removals on"
            )
        if not rows:
            self.stdout.write("No group yet. Add one with “manage.py group add NAME”.")

    def _change(self, options: dict[str, Any]) -> None:
        group = enrolment.get_group(options["name"])
        now = groups.GroupFacts(**{name: getattr(group, name) for name in groups.GroupFacts.__dataclass_fields__})
        facts = replace(now, name=options["new_name"] or now.name, **_pick_settings(options))
        groups.change_group(group=group, version=group.version, facts=facts)
        self.stdout.write(f"{group} is changed.")
        if find_waiting_limits(group):
            self.stdout.write("Looser limits wait until a second person agrees in the portal; until then the old ones apply.")

    def _live(self, options: dict[str, Any]) -> None:
        group = go_live(group=enrolment.get_group(options["name"]))
        self.stdout.write(f"{group} is live. A worker sends the first rollout; without a worker: manage.py deploy")

    def _failover(self, options: dict[str, Any]) -> None:
        run_failover(options, self.stdout.write)

    def _remove(self, options: dict[str, Any]) -> None:
        group = enrolment.get_group(options["name"])
        groups.remove_group(group=group)
        self.stdout.write(f"{group} is removed.")


def _pick_settings(options: dict[str, Any]) -> dict[str, Any]:
    """Return the settings that were given."""
    names = [name for name in groups.GroupFacts.__dataclass_fields__ if name != "name" and options[name] is not None]
    return {name: None if options[name] == NOTHING else options[name] for name in names}


def _define_setting_arguments(parser: ArgumentParser) -> None:
    for family in (4, 6):
        text = f"IPv{family} address that the probes connect to; “none”: no probes over IPv{family}"
        parser.add_argument(f"--probe-target{family}", type=_parse_target, metavar="ADDRESS", help=text)
    parser.add_argument("--probe-port", type=_parse_port, metavar="PORT", help="TCP port of the targets; “none” without a target")
    parser.add_argument(
        "--responder-port", type=_parse_port, metavar="PORT", help="TCP port of the responder on the targets; “none”: there is none"
    )
    parser.add_argument("--goes-on", type=_parse_switch, metavar="yes|no", help="go on without a gateway that does not answer")
    parser.add_argument("--heals-drift", type=_parse_switch, metavar="yes|no", help="put right what was changed by hand on a gateway")
    parser.add_argument("--confirm-within", type=int, metavar="SECONDS", help="after which a gateway reverts an unconfirmed change")
    parser.add_argument("--removal-share", type=int, metavar="PERCENT", help="share of removals above which a second person must agree")
    parser.add_argument("--removal-least", type=int, metavar="NUMBER", help="number of removals from which this applies")


def _parse_switch(text: str) -> bool:
    if text not in SWITCH:
        raise ArgumentTypeError(f"{text!r} is neither yes nor no")
    return SWITCH[text]


def _parse_target(text: str) -> Address | str:
    try:
        return text if text == NOTHING else ip_address(text)
    except ValueError as error:
        raise ArgumentTypeError(f"{text!r} is neither an IP address nor “{NOTHING}”") from error


def _parse_port(text: str) -> int | str:
    if text == NOTHING:
        return text
    if not text.isdigit():
        raise ArgumentTypeError(f"{text!r} is neither a port nor “{NOTHING}”")
    return int(text)
