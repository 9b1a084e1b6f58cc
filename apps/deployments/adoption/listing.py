"""Lists what the gateways of a group have that the database lacks: asks their agents, compares, and says how it is entered."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from apps.deployments.adoption.entries import ManualEntry, build_change, build_entry, describe_database
from apps.deployments.adoption.known_rows import KnownRows
from apps.deployments.adoption.running_elements import fetch_running_elements
from apps.deployments.adoption.words import describe_object
from apps.deployments.desired_state.desired_rulesets import DesiredState
from apps.deployments.transport.agent_channel import ChannelOf, Unreachable
from apps.deployments.transport.agent_client import AgentRefused
from apps.network.models import Gateway, GatewayGroup
from firewall.object_differences import ObjectComparison, ObjectDifference, compare_objects
from firewall.policy import ForwardSpec, PinholeSpec
from firewall.running_objects import RunningObject
from firewall.sets import ObjectKind


@dataclass(frozen=True, slots=True)
class UnenteredObject:
    """An object, or several that one entry makes, on these gateways. database: what the database has in its place, "" for nothing."""

    objects: tuple[RunningObject, ...]
    words: str
    database: str
    entry: ManualEntry
    gateways: tuple[str, ...]

    @property
    def kind(self) -> ObjectKind:
        """The kind of all."""
        return self.objects[0].kind


@dataclass(frozen=True, slots=True)
class GroupListing:
    """What a group's gateways have. gateways: those that answered. lacking: by gateway, how many objects of each kind only the database
    has; unreadable: by gateway and set, how many elements are no objects. faults: by gateway, why it could not be read.
    """

    gateways: list[str] = field(default_factory=list)
    objects: list[UnenteredObject] = field(default_factory=list)
    lacking: dict[str, Mapping[ObjectKind, int]] = field(default_factory=dict)
    unreadable: dict[str, Mapping[str, int]] = field(default_factory=dict)
    faults: dict[str, str] = field(default_factory=dict)


def list_unentered_objects(group: GatewayGroup, gateways: list[Gateway], wanted: DesiredState, channel_of: ChannelOf) -> GroupListing:
    """Ask these gateways of the group what they run, and compare it with what the database asks for."""
    listing, found = GroupListing(), dict[ObjectDifference, list[str]]()
    for gateway in gateways:
        try:
            compared = _compare(gateway, wanted, channel_of)
        except (Unreachable, AgentRefused) as fault:
            listing.faults[gateway.name] = str(fault)
            continue
        _note(listing, gateway.name, compared)
        for each in compared.differences:
            if each.running:
                found.setdefault(each, []).append(gateway.name)
    listing.objects.extend(_build_objects(group, found))
    return listing


def _compare(gateway: Gateway, wanted: DesiredState, channel_of: ChannelOf) -> ObjectComparison:
    now = wanted.snapshot.now
    running = fetch_running_elements(channel_of(gateway), now)
    return compare_objects(running.sets, running.elements, wanted.rulesets[gateway.pk], now)


def _note(listing: GroupListing, name: str, compared: ObjectComparison) -> None:
    listing.gateways.append(name)
    lacking = Counter[ObjectKind]()
    for each in compared.differences:
        if each.database and not each.running:
            lacking[each.kind] += count_parts(each.database)
    if lacking:
        listing.lacking[name] = lacking
    if compared.unreadable:
        listing.unreadable[name] = compared.unreadable


def count_parts(each: RunningObject) -> int:
    """Return how many elements an object is counted as: each port of a range."""
    match each.spec:
        case ForwardSpec(ports=ports):
            return ports
        case PinholeSpec(hole=hole):
            return hole.ports
    return 1


def _build_objects(group: GatewayGroup, found: Mapping[ObjectDifference, list[str]]) -> list[UnenteredObject]:
    rows = KnownRows(group, list(found))
    ordered = sorted(((each.running, each, names) for each, names in found.items() if each.running), key=lambda item: item[0].order)
    return list(_join_same_entries(_build_object(running, each.database, rows, tuple(names)) for running, each, names in ordered))


def _build_object(running: RunningObject, database: RunningObject | None, rows: KnownRows, gateways: tuple[str, ...]) -> UnenteredObject:
    words = describe_object(running)
    if database:
        return UnenteredObject((running,), words, describe_database(database, rows), build_change(running, rows), gateways)
    return UnenteredObject((running,), words, "", build_entry(running, rows), gateways)


def _join_same_entries(objects: Iterator[UnenteredObject]) -> Iterator[UnenteredObject]:
    """Yield objects that the same request makes as one: a block and a limit are elements for each of a member's addresses."""
    joined: dict[tuple[object, ...], UnenteredObject] = {}
    for each in objects:
        request = each.entry.request
        what = (request.method, request.path, repr(request.body)) if request else (each.words, each.database)
        key = (*what, each.gateways)
        before = joined.get(key)
        joined[key] = _join(before, each) if before else each
    return iter(joined.values())


def _join(one: UnenteredObject, other: UnenteredObject) -> UnenteredObject:
    objects, words = (*one.objects, *other.objects), f"{one.words}; {other.words}"
    return UnenteredObject(objects, words, "", one.entry, one.gateways)
