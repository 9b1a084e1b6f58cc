"""Sets the shaper of a gateway's uplink in the kernel, and reads it back: firewall/shaper.py says what belongs to it.

What is ours has our mark, so that nothing has to be remembered to take it away. What is there already as wanted is left alone: a gateway
that starts loses no packet in its queues. Layouts: linux/pkt_sched.h.
"""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from errno import EAFNOSUPPORT, ENOENT, EOPNOTSUPP
from functools import cache
from typing import Final

from firewall.ruleset import UplinkShaper
from firewall.shaper import (
    HALF_UPLINK,
    TRIAL_DEVICE,
    WHOLE_ADDRESS,
    Cake,
    FramingCost,
    Isolation,
    build_cakes,
    build_shaper_settings,
    describe_hosts,
    name_arrivals,
    name_hosts,
    name_queue,
)
from gateway.host_filter import ALL_PACKETS, build_host_program, pack_program
from gateway.netlink_attributes import pack_attribute, parse_attributes
from gateway.table import ShaperRefusedError
from gateway.traffic_control import (
    EGRESS_PARENT,
    INGRESS_OWNER,
    INGRESS_PARENT,
    ROOT,
    Queue,
    TrafficControl,
    TrafficControlError,
    TrafficFilter,
)

MARK: Final = 0x4E57  # of our queues' handles, and the priority of our filters
_HANDLE: Final = MARK << 16
# TCA_CAKE_*
_RATE, _DIFFSERV, _CELLS, _FLOWS, _OVERHEAD, _ROUND_TRIP, _NAT, _RAW, _WASH, _LEAST, _INGRESS, _ACKS, _SPLIT = (
    2, 3, 4, 5, 6, 7, 11, 12, 13, 14, 15, 16, 17
)  # fmt: skip
_ISOLATIONS = ("flowblind", "srchost", "dsthost", "hosts", "flows", "dual-srchost", "dual-dsthost", "triple-isolate")
_DIFFSERVS = ("diffserv3", "diffserv4", "diffserv8", "besteffort", "precedence")
_ALL_CELLS = ("noatm", "atm", "ptm")
_ALL_ACKS = ("no-ack-filter", "ack-filter", "ack-filter-aggressive")
_SWITCHES: Mapping[int, tuple[str, str]] = {_NAT: ("nonat", "nat"), _WASH: ("nowash", "wash"), _SPLIT: ("no-split-gso", "split-gso")}
_LACKING = frozenset({ENOENT, EOPNOTSUPP, EAFNOSUPPORT})


def write_shaper(shaper: UplinkShaper | None) -> None:
    """Make the kernel have this shaper and no other of ours; None: no shaper. Raises TableError; it may be there in part then."""
    with TrafficControl() as control:
        _remove_others(control, shaper)
        if shaper:
            present = _read(control, shaper.interface)
            devices = _prepare_devices(control, shaper)
            for device in build_cakes(shaper):
                _set_queue(control, shaper, device, devices[device], present)
            if shaper.shaping.down and present.get(name_arrivals(shaper.interface)) != f"to {HALF_UPLINK}":
                _redirect(control, devices[shaper.interface], devices[HALF_UPLINK])


def check_shaper(shaper: UplinkShaper) -> None:
    """Raise ShaperRefusedError if the kernel lacks what the shaper needs. Tried on a device of its own, which no packet passes."""
    with TrafficControl() as control:
        devices = control.list_devices()
        _check_interface(shaper, devices)
        if TRIAL_DEVICE in devices:
            control.delete_device(devices[TRIAL_DEVICE])
        _create_ifb(control, TRIAL_DEVICE)
        trial = control.list_devices()[TRIAL_DEVICE]
        try:
            for device in build_cakes(shaper):
                _set_queue(control, shaper, device, trial, {})
        finally:
            control.delete_device(trial)


def read_shaper(interface: str) -> dict[str, str]:
    """Return the kernel settings of this interface that belong to a shaper, as `build_shaper_settings` writes them. Raises TableError."""
    with TrafficControl() as control:
        return _read(control, interface)


def pack_cake(cake: Cake) -> bytes:
    """Return the attributes of a CAKE."""
    values = {
        _DIFFSERV: 3,
        _FLOWS: _ISOLATIONS.index(cake.isolation),
        _ROUND_TRIP: cake.round_trip * 1_000,
        _NAT: 1,
        _WASH: 0,
        _ACKS: 0,
        _SPLIT: 1,
    }
    values[_INGRESS] = int(cake.counts_drops)
    if cake.framing is None:
        values[_RAW] = 0
    else:
        values |= {_OVERHEAD: cake.framing.overhead, _LEAST: cake.framing.least, _CELLS: _ALL_CELLS.index(cake.framing.cells)}
    rate = pack_attribute(_RATE, cake.rate.to_bytes(8, sys.byteorder))
    return rate + b"".join(pack_attribute(kind, value.to_bytes(4, sys.byteorder)) for kind, value in values.items())


def parse_cake(options: Mapping[int, bytes]) -> Cake:
    """Return a CAKE from the attributes that the kernel lists."""
    given = {kind: int.from_bytes(value, sys.byteorder) for kind, value in options.items()}
    cells = _ALL_CELLS[given.get(_CELLS, 0)]
    framing = None if _RAW in given else FramingCost(given.get(_OVERHEAD, 0), given.get(_LEAST, 0), cells)
    nat, wash, split = (words[min(given.get(kind, 0), 1)] for kind, words in _SWITCHES.items())
    others = (_DIFFSERVS[given.get(_DIFFSERV, 0)], nat, wash, _ALL_ACKS[given.get(_ACKS, 0)], split)
    isolation = _ISOLATIONS[given.get(_FLOWS, 0) & 7]
    return Cake(given.get(_RATE, 0), isolation, framing, bool(given.get(_INGRESS)), others, given.get(_ROUND_TRIP, 0) // 1_000)


def _prepare_devices(control: TrafficControl, shaper: UplinkShaper) -> dict[str, int]:
    """Return the devices by name, with the IFB if one is needed."""
    devices = control.list_devices()
    _check_interface(shaper, devices)
    if shaper.shaping.down and HALF_UPLINK not in devices:
        _create_ifb(control, HALF_UPLINK)
        return control.list_devices()
    return devices


def _check_interface(shaper: UplinkShaper, devices: Mapping[str, int]) -> None:
    if shaper.interface not in devices:
        raise ShaperRefusedError(f"there is no interface {shaper.interface} whose queue could be set")


def _set_queue(control: TrafficControl, shaper: UplinkShaper, device: str, index: int, present: Mapping[str, str]) -> None:
    """Set the CAKE that is meant for `device`, and its filter, on the device with this index, unless they are present."""
    wanted, cake = build_shaper_settings(shaper), build_cakes(shaper)[device]
    if present.get(name_queue(device)) != wanted[name_queue(device)]:
        with _explaining("CAKE", "sch_cake"):
            control.replace_root(index, _HANDLE, "cake", pack_cake(cake))
    if present.get(name_hosts(device)) != wanted[name_hosts(device)]:
        with _explaining("filters of BPF", "cls_bpf"):
            control.replace_filter(index, _HANDLE, MARK, build_host_program(Isolation(cake.isolation), shaper.length))


def _create_ifb(control: TrafficControl, name: str) -> None:
    with _explaining("devices in which arriving packets can wait", "ifb"):
        control.create_ifb(name)


def _redirect(control: TrafficControl, interface: int, ifb: int) -> None:
    """Send what arrives at the interface through the IFB."""
    if not _has_ingress(control, interface):
        with _explaining("filters of arriving packets", "sch_ingress"):
            control.add_ingress(interface)
    if _has_our_filter(control, interface):
        control.delete_filters(interface, INGRESS_PARENT, MARK)
    with _explaining("redirection", "act_mirred"):
        control.replace_filter(interface, INGRESS_PARENT, MARK, ALL_PACKETS, redirect_to=ifb)


@contextmanager
def _explaining(what: str, module: str) -> Iterator[None]:
    """Turn the kernel's refusal into a sentence that says what it lacks."""
    try:
        yield
    except TrafficControlError as error:
        if error.code in _LACKING:
            where = f"module {module}; Debian: in the package linux-image-amd64 or linux-image-arm64"
            raise ShaperRefusedError(f"the kernel has no {what} ({where}): boot one that has it, or switch the fair queues off") from error
        raise ShaperRefusedError(f"the kernel refuses {what}: {error}") from error


def _has_ingress(control: TrafficControl, device: int) -> bool:
    return any(each.device == device and each.parent == INGRESS_OWNER for each in control.list_queues())


def _has_our_filter(control: TrafficControl, device: int) -> bool:
    return any(each.priority == MARK for each in control.list_filters(device, INGRESS_PARENT))


def _remove_others(control: TrafficControl, shaper: UplinkShaper | None) -> None:
    """Remove all that has our mark and is not this shaper's. The redirection goes first: without its target it would drop packets."""
    devices = control.list_devices()
    kept = {devices.get(name) for name in build_cakes(shaper)} if shaper else set()
    redirecting = devices.get(shaper.interface) if shaper and shaper.shaping.down else None
    queues = control.list_queues()
    for each in queues:
        if each.parent == INGRESS_OWNER and each.device != redirecting and _has_our_filter(control, each.device):
            _stop_redirecting(control, each.device)
    for each in queues:
        if each.handle == _HANDLE and each.parent == ROOT and each.device not in kept:
            control.delete_root(each.device, _HANDLE)
    if HALF_UPLINK in devices and devices[HALF_UPLINK] not in kept:
        control.delete_device(devices[HALF_UPLINK])


def _stop_redirecting(control: TrafficControl, device: int) -> None:
    """Delete our filter, and what held it unless it holds filters of others."""
    control.delete_filters(device, INGRESS_PARENT, MARK)
    if not (control.list_filters(device, INGRESS_PARENT) or control.list_filters(device, EGRESS_PARENT)):
        control.delete_ingress(device)


def _read(control: TrafficControl, interface: str) -> dict[str, str]:
    devices, queues = control.list_devices(), control.list_queues()
    found: dict[str, str] = {}
    for name in (interface, HALF_UPLINK):
        roots = [each for each in queues if each.device == devices.get(name) and each.parent == ROOT]
        found |= {text: value for root in roots for text, value in _describe_queue(control, name, root)}
    if interface in devices:
        names = {index: name for name, index in devices.items()}
        ours = [each for each in control.list_filters(devices[interface], INGRESS_PARENT) if each.priority == MARK]
        found |= {name_arrivals(interface): _describe_target(each, names) for each in ours}
    return found


def _describe_queue(control: TrafficControl, device: str, root: Queue) -> Iterator[tuple[str, str]]:
    yield name_queue(device), parse_cake(parse_attributes(root.options)).render() if root.kind == "cake" else root.kind
    for each in control.list_filters(root.device, root.handle) if root.handle else ():
        yield name_hosts(device), _describe_program(each.program) if each.priority == MARK else f"as a filter says ({each.kind})"


def _describe_target(arrivals: TrafficFilter, names: Mapping[int, str]) -> str:
    return f"to {names[arrivals.target]}" if arrivals.target in names and arrivals.program == pack_program(ALL_PACKETS) else "elsewhere"


@cache
def _list_host_programs() -> Mapping[bytes, int]:
    """Return the length for which each program tells the hosts of IPv6 apart."""
    lengths = range(1, WHOLE_ADDRESS + 1)
    return {pack_program(build_host_program(isolation, length)): length for isolation in Isolation for length in lengths}


def _describe_program(program: bytes) -> str:
    length = _list_host_programs().get(program)
    return describe_hosts(length) if length else "by another program"
