"""manage.py pool: adds, lists, changes and removes pools of addresses."""

from argparse import ArgumentParser
from ipaddress import ip_network
from typing import Any

import pghistory
from django.core.management.base import BaseCommand, CommandError

from apps.lib.errors import Problem
from apps.network import pool_lifecycle, pool_removal, services
from apps.network.models import GatewayGroup, Pool
from apps.network.selectors import count_assigned_shares, count_member_shares, list_pools


class Command(BaseCommand):
    help = (
        "Pools of addresses: add, list, change what is kept free, enlarge, split, retire, remove one that no member ever had an address of."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        what = parser.add_subparsers(
            dest="what", required=True, metavar="add | list | change | enlarge | split | retire | reinstate | remove"
        )
        add = what.add_parser("add", help="add a pool")
        add.add_argument("name")
        add.add_argument("prefix", type=ip_network, help="like 10.16.0.0/12 or 2001:db8:a0::/44")
        add.add_argument("--kind", choices=Pool.Kind.values, required=True)
        add.add_argument("--group", help="the gateway group; not needed if there is only one")
        add.add_argument("--member-length", type=int, default=64, metavar="BITS", help="of IPv6: each member’s prefix (default: 64)")
        _define_kept_arguments(add)
        what.add_parser("list", help="list all pools with their use")
        change = what.add_parser("change", help="change a pool; what is not given stays")
        change.add_argument("name")
        change.add_argument("--new-name", metavar="NAME")
        change.add_argument("--prefix", type=ip_network)
        _define_kept_arguments(change)
        enlarge = what.add_parser("enlarge", help="enlarge a pool; what was kept free stays so")
        enlarge.add_argument("name")
        enlarge.add_argument("prefix", type=ip_network, help="a prefix that contains the present one")
        split = what.add_parser("split", help="split a pool into parts of one size; members keep what they hold")
        split.add_argument("name")
        split.add_argument("length", type=int, help="prefix length of each part")
        what.add_parser("retire", help="give no more addresses of a pool").add_argument("name")
        what.add_parser("reinstate", help="give addresses of a retired pool again").add_argument("name")
        what.add_parser("remove", help="remove a pool that no member ever had an address of").add_argument("name")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with pghistory.context(cause=f"pool {options['what']}"):
                getattr(self, f"_{options['what']}")(options)
        except Problem as problem:
            raise CommandError(str(problem)) from problem

    def _add(self, options: dict[str, Any]) -> None:
        given = {name: options[name] for name in ("name", "prefix", "kind", "member_length", "kept_first")}
        made = services.add_pool(group=_get_group(options["group"]), kept=options["kept"] or (), by=None, **given)
        self.stdout.write(_describe(made, 0))

    def _list(self, _options: dict[str, Any]) -> None:
        rows, held = list(list_pools()), count_assigned_shares()
        for row in rows:
            self.stdout.write(f"{row.group}  {_describe(row, held.get(row.pk, 0))}")
        if not rows:
            self.stdout.write("No pool yet. Add one with “manage.py pool add”.")

    def _change(self, options: dict[str, Any]) -> None:
        pool = _get_pool(options["name"])
        given = {"name": options["new_name"] or pool.name, "prefix": options["prefix"] or pool.prefix}
        kept = {name: options[name] for name in ("kept_first", "kept")}
        changed = services.change_pool(pool=pool, version=pool.version, by=None, **given, **kept)
        self.stdout.write(_describe(changed, count_assigned_shares().get(pool.pk, 0)))

    def _enlarge(self, options: dict[str, Any]) -> None:
        pool = _get_pool(options["name"])
        changed = pool_lifecycle.enlarge_pool(pool=pool, version=pool.version, prefix=options["prefix"], by=None)
        self.stdout.write(_describe(changed, count_assigned_shares().get(pool.pk, 0)))

    def _split(self, options: dict[str, Any]) -> None:
        pool = _get_pool(options["name"])
        for each in pool_lifecycle.split_pool(pool=pool, version=pool.version, length=options["length"], by=None):
            self.stdout.write(_describe(each, count_assigned_shares().get(each.pk, 0)))

    def _retire(self, options: dict[str, Any]) -> None:
        pool = _get_pool(options["name"])
        pool_lifecycle.retire_pool(pool=pool, version=pool.version, by=None)
        self.stdout.write(f"{pool} is out of service. What members hold stays theirs.")

    def _reinstate(self, options: dict[str, Any]) -> None:
        pool = _get_pool(options["name"])
        pool_lifecycle.reinstate_pool(pool=pool, version=pool.version, by=None)
        self.stdout.write(f"{pool} is back in service.")

    def _remove(self, options: dict[str, Any]) -> None:
        pool = _get_pool(options["name"])
        pool_removal.remove_pool(pool)
        self.stdout.write(f"{pool} is removed.")


def _define_kept_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--kept-first", type=int, metavar="N", help="keep the first N addresses or prefixes free")
    parser.add_argument("--kept", type=ip_network, nargs="*", metavar="PREFIX", help="keep these free too")


def _get_group(name: str | None) -> GatewayGroup:
    """Return the group of this name, or the only one. Raises CommandError with the existing names."""
    groups = list(GatewayGroup.objects.all())
    found = [each for each in groups if name in (None, each.name)]
    if len(found) == 1:
        return found[0]
    names = ", ".join(map(str, groups)) or "–"
    raise CommandError(f"There is no group {name}. Groups: {names}." if name else f"Give one of the groups by --group: {names}.")


def _get_pool(name: str) -> Pool:
    """Return the pool of this name. Raises CommandError with the existing names."""
    found = Pool.objects.filter(name=name).first()
    if found is None:
        names = ", ".join(Pool.objects.values_list("name", flat=True)) or "–"
        raise CommandError(f"There is no pool {name}. Pools: {names}.")
    return found


def _describe(pool: Pool, held: int) -> str:
    kept = [f"first {pool.kept_first}"] * bool(pool.kept_first) + [str(each) for each in pool.kept]
    words = f"{pool.name}  {pool.kind}  {pool.prefix}  held {held} of {count_member_shares(pool)}"
    words += "  out of service" if pool.retired else ""
    return f"{words}  kept free: {', '.join(kept)}" if kept else words
