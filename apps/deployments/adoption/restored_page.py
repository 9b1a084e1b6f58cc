"""The list for the page of a restored database: what the gateways have that it lacks, from what workers have stored. Asks no gateway."""

from collections.abc import Mapping
from dataclasses import dataclass

from apps.deployments.adoption.stored_objects import MOST_STORED, unpack_differences
from apps.deployments.adoption.words import describe_object
from apps.deployments.models import RestoreDifference
from firewall.object_differences import ObjectDifference


@dataclass(frozen=True, slots=True)
class LackingObject:
    """An object in words; what the database has in its place, if anything; and the gateways that have it, "" if all do that were read."""

    words: str
    database: str
    gateways: str


@dataclass(frozen=True, slots=True)
class LackingObjects:
    """The first objects, and how many there are at least. silent: gateways whose agents cannot tell; read: how many could."""

    shown: list[LackingObject]
    total: int
    silent: list[str]
    read: int


def list_lacking_objects(found: Mapping[str, RestoreDifference]) -> LackingObjects:
    """Return what these gateways, by name, have; each object once."""
    compared = {name: each for name, each in found.items() if each.target and not each.error}
    read = {name: each for name, each in compared.items() if each.object_count is not None}
    having: dict[ObjectDifference, list[str]] = {}
    for name, each in read.items():
        for difference in unpack_differences(each.objects_found):
            having.setdefault(difference, []).append(name)
    shown = [_describe(each, "" if len(names) == len(read) else ", ".join(names)) for each, names in _sort(having)[:MOST_STORED]]
    total = max([len(having), *(each.object_count or 0 for each in read.values())])
    return LackingObjects(shown, total, sorted(compared.keys() - read.keys()), len(read))


def _sort(having: Mapping[ObjectDifference, list[str]]) -> list[tuple[ObjectDifference, list[str]]]:
    return sorted(having.items(), key=lambda item: item[0].running.order if item[0].running else ())


def _describe(each: ObjectDifference, gateways: str) -> LackingObject:
    running, database = ("" if side is None else describe_object(side) for side in each)
    return LackingObject(running, database, gateways)
