"""Devices, addresses and port forwards of the people of a table: what is new, and what is in the way. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from apps.desk.people_import.cells import WantedForward
from apps.desk.people_import.known_network import KnownForward, KnownMember, KnownNetwork
from apps.desk.people_import.person_row import PersonRow
from apps.lib.errors import Problem
from apps.lib.fields import Address, Prefix
from apps.lib.port_ranges import format_port_range
from apps.network.models import Pool
from apps.network.prefix_lengths import find_length_refusal
from apps.network.refusals import find_refusal, format_address_or_prefix, is_within


@dataclass(frozen=True, slots=True)
class PlannedAddress:
    """An address or prefix to be assigned, and the device that gets it: the id, or the MAC address of one that the line adds.

    public: as what a private address shall leave, None: any. leaves: whether it gets a NAT mapping.
    """

    prefix: Prefix
    pool: Pool
    mac: str | None = None
    device: int | None = None
    public: Address | None = None
    leaves: bool = False


@dataclass(frozen=True, slots=True)
class PlannedForward:
    """A forward to be added, to this private address."""

    wanted: WantedForward
    private: Prefix
    public: Address


@dataclass(slots=True)
class PlannedHoldings:
    """What a member gets."""

    devices: list[tuple[str, str]] = field(default_factory=list)
    addresses: list[PlannedAddress] = field(default_factory=list)
    forwards: list[PlannedForward] = field(default_factory=list)


class AddressPlanner:
    """Plans line by line. Remembers what earlier lines take, so that a second line that wants the same is a problem."""

    def __init__(self, known: KnownNetwork) -> None:
        self._known = known
        self._numbers = {member.id: member.number for member in known.members.values()}
        self._macs: dict[str, int] = {}
        self._addresses: dict[Prefix, int] = {}
        self._publics: dict[Prefix, Address] = {}
        self._ports = {key: list(forwards) for key, forwards in known.forwards.items()}
        self._private = self._index_private()
        self._lengths = {group: set(lengths) for group, lengths in known.lengths.items()}

    def _index_private(self) -> dict[int, tuple[Prefix, ...]]:
        found: dict[int, tuple[Prefix, ...]] = {}
        for prefix, member in self._known.held.items():
            if prefix.version == 4:
                found[member] = (*found.get(member, ()), prefix)
        return found

    def plan(self, row: PersonRow, member: KnownMember | None, *, stays: bool) -> tuple[PlannedHoldings, list[Problem]]:
        """Return what the line adds, and its problems. stays: the member may get addresses: has not left."""
        planned, problems = PlannedHoldings(), list[Problem]()
        for step in (self._plan_devices, self._plan_addresses, self._plan_forwards):
            problems += step(row, member.id if member else -row.line, planned, stays)
        return planned, problems

    def _plan_devices(self, row: PersonRow, who: int, planned: PlannedHoldings, stays: bool) -> Iterator[Problem]:
        for name, mac in row.devices:
            owner, _device = self._known.devices.get(mac, (None, None))
            if mac in self._macs:
                yield Problem(_("%(mac)s stands in line %(line)d too.") % {"mac": mac, "line": self._macs[mac]}, "mac")
            elif owner is None:
                planned.devices.append((name, mac))
            elif owner != who:
                yield Problem(_("%(mac)s is a device of M-%(number)d.") % {"mac": mac, "number": self._numbers[owner]}, "mac")
            self._macs.setdefault(mac, row.line)

    def _plan_addresses(self, row: PersonRow, who: int, planned: PlannedHoldings, stays: bool) -> Iterator[Problem]:
        for fieldname, wanted in (("address", row.addresses), ("prefix", row.prefixes)):
            for index, prefix in enumerate(wanted):
                mac = row.devices[index][1] if fieldname == "address" and index < len(row.devices) else None
                try:
                    if address := self._plan_address(row, who, prefix, mac, stays):
                        planned.addresses.append(address)
                except Problem as problem:
                    yield Problem(problem.text, "public" if problem.fieldname == "public" else fieldname)
        if row.publics and not row.addresses and not self._private.get(who):
            yield Problem(_("A public address needs a private one: write it into this line too."), "public")

    def _plan_address(self, row: PersonRow, who: int, prefix: Prefix, mac: str | None, stays: bool) -> PlannedAddress | None:
        """Return the address to be assigned, None if the member has it already."""
        if prefix in self._addresses:
            facts = {"address": format_address_or_prefix(prefix), "line": self._addresses[prefix]}
            raise Problem(_("%(address)s stands in line %(line)d too.") % facts)
        self._addresses[prefix] = row.line
        holder = self._known.held.get(prefix)
        if holder == who:
            self._check_public(prefix, who, row.publics)
            return None
        if holder is not None:
            facts = {"address": format_address_or_prefix(prefix), "number": self._numbers[holder]}
            raise Problem(_("%(address)s is held by M-%(number)d.") % facts)
        if not stays:
            raise Problem(_("This member has left, and gets no address. Write “active” as the state to bring the member back."))
        pool = self._find_pool(prefix)
        refusal = find_refusal(pool, prefix)
        if refusal:
            raise Problem(refusal[0])
        self._take_length(pool)
        _owner, device = self._known.devices.get(mac or "", (None, None))
        return PlannedAddress(prefix, pool, mac, device, *self._plan_leaving(row, who, prefix, pool))

    def _take_length(self, pool: Pool) -> None:
        """Count the length of the pool's prefixes as in use. Raises Problem if members of its group hold too many lengths already."""
        in_use = self._lengths.setdefault(pool.group_id, set())
        if words := find_length_refusal(pool, in_use):
            raise Problem(words)
        if pool.kind == Pool.Kind.PREFIX6:
            in_use.add(pool.member_length)

    def _check_public(self, prefix: Prefix, who: int, publics: Sequence[Address]) -> None:
        """Raise Problem at `public` if the address leaves as another one, or as nothing while none of the member's leaves as these."""
        current = self._known.publics.get(prefix)
        possible = {current} if current else {self._known.publics.get(each) for each in self._private.get(who, ())}
        if publics and prefix.version == 4 and possible.isdisjoint(publics):
            facts = {
                "address": format_address_or_prefix(prefix),
                "current": current or _("nothing"),
                "public": ", ".join(map(str, publics)),
            }
            words = _("%(address)s leaves as %(current)s, not as %(public)s. An import does not change that; do it on the member’s page.")
            raise Problem(words % facts, "public")

    def _find_pool(self, prefix: Prefix) -> Pool:
        for pool in self._known.pools:
            if is_within(prefix, pool.prefix):
                return pool
        kinds = (Pool.Kind.PRIVATE4,) if prefix.version == 4 else (Pool.Kind.PREFIX6,)
        pools = ", ".join(str(pool) for pool in self._known.pools if pool.kind in kinds) or _("none yet")
        raise Problem(
            _("%(address)s is in no pool. The pools are: %(pools)s.") % {"address": format_address_or_prefix(prefix), "pools": pools}
        )

    def _plan_leaving(self, row: PersonRow, who: int, prefix: Prefix, pool: Pool) -> tuple[Address | None, bool]:
        """Return the wanted public address, and whether a NAT mapping is made. Raises Problem at `public` when nothing is free."""
        places = self._known.places
        if prefix.version != 4 or places is None:
            return None, False
        if len(row.publics) > 1:
            raise Problem(_("Write one public address."), "public")
        wanted = row.publics[0] if row.publics else None
        if not places.has_pool(pool.group_id, wanted):
            if wanted is None:
                return None, False
            raise Problem(_("%(public)s is in no public pool.") % {"public": wanted}, "public")
        public = places.take(who, pool.group_id, wanted)
        if public is None:
            words = (
                _("%(public)s has no place for this member. Leave the cell empty, and the next free one is taken.")
                if wanted
                else _("The public pools are full. Add addresses, or let more members share them.")
            )
            raise Problem(words % {"public": wanted}, "public")
        self._publics[prefix] = public
        return wanted, True

    def _plan_forwards(self, row: PersonRow, who: int, planned: PlannedHoldings, stays: bool) -> Iterator[Problem]:
        private = row.addresses[0] if row.addresses else next(iter(self._private.get(who, ())), None)
        if row.forwards and private is None:
            yield Problem(_("A forward needs a private address: write it into this line too."), "forwards")
        if private is None:
            return
        for wanted in row.forwards:
            public = self._publics.get(private) or self._known.publics.get(private)
            if public is None:
                yield Problem(
                    _("%(address)s has no public address to forward from.") % {"address": format_address_or_prefix(private)}, "forwards"
                )
                return
            try:
                if self._is_new(wanted, who, private, public):
                    planned.forwards.append(PlannedForward(wanted, private, public))
            except Problem as problem:
                yield problem

    def _is_new(self, wanted: WantedForward, who: int, private: Prefix, public: Address) -> bool:
        """Return False if the member has this forward already. Raises Problem if a port is taken."""
        ports = self._ports.setdefault((public, wanted.protocol), [])
        facts: dict[str, object] = {"protocol": wanted.protocol.upper(), "public": public}
        for each in ports:
            if each.public_port >= wanted.public_port + wanted.ports or wanted.public_port >= each.public_port + each.ports:
                continue
            same = (each.member, each.public_port, each.ports) == (who, wanted.public_port, wanted.ports)
            if same and (each.private_port, each.private) == (wanted.private_port, private):
                return False
            facts["ports"] = format_port_range(each.public_port, each.ports)
            words = (
                _("%(protocol)s %(ports)s on %(public)s leads elsewhere already. Change the forward on the member’s page.")
                if each.member == who
                else _("%(protocol)s %(ports)s on %(public)s is taken by another member.")
            )
            raise Problem(words % facts, "forwards")
        ports.append(KnownForward(who, private, wanted.public_port, wanted.private_port, wanted.ports))
        return True
