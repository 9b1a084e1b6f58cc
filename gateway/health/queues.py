"""Receive queues of network cards, and the cores that work for them. Reads /sys and /proc/irq; starts no program.

Layouts: the kernel's Documentation/networking/scaling.rst (rps_cpus) and core-api/irq/irq-affinity.rst. A card is an interface with a
device; tunnels, bridges and VLANs have none.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import islice
from pathlib import Path

from firewall.health import MOST_CORES, LinkQueues, QueueCounters
from gateway.health.queue_counters import read_queue_counters

_MOST_FILES = 32  # of each kind for each card: 1 ms
_MOST_CARDS = 4
_NO_PACKETS = ("config", "output", "async", "cmd", "misc", "ptp", "-tx-")  # parts of names of interrupts that no received packet causes


def read_queues(
    names: Iterable[str],
    net: Path = Path("/sys/class/net"),
    irq: Path = Path("/proc/irq"),
    count: Callable[[str], tuple[QueueCounters, ...]] = read_queue_counters,
) -> tuple[LinkQueues, ...]:
    """Return the queues of those of the interfaces that are cards, by name. What cannot be read is left out."""
    cards = islice((name for name in sorted(names) if (net / name / "device").exists()), _MOST_CARDS)
    return tuple(_read_card(name, net / name, irq, count(name)) for name in cards)


def _read_card(name: str, card: Path, irq: Path, counted: tuple[QueueCounters, ...]) -> LinkQueues:
    queues = [each.name for each in _list_directory(card / "queues")]
    receiving = sorted(each for each in queues if each.startswith("rx-"))
    masks = (_read_text(card / "queues" / each / "rps_cpus") for each in receiving[:_MOST_FILES])
    steered = frozenset[int]().union(*map(parse_core_mask, masks))
    cores = _limit(steered), _limit(_read_interrupts(name, card, irq))
    return LinkQueues(name, len(receiving), len(queues) - len(receiving), *cores, counted)


def _read_interrupts(name: str, card: Path, irq: Path) -> frozenset[int]:
    """Return the cores that the card interrupts for received packets; none if the kernel does not tell."""
    device = (card / "device").resolve()
    numbers = [each.name for place in (device, device.parent) for each in _list_directory(place / "msi_irqs")]
    found = [(number, _find_action(irq / number)) for number in sorted(numbers, key=_as_number)[:_MOST_FILES]]
    of_packets = [number for number, action in found if action not in ("", name) and not any(each in action for each in _NO_PACKETS)]
    used = of_packets or [number for number, action in found if action]
    return frozenset[int]().union(*(parse_core_list(_read_text(irq / number / "effective_affinity_list")) for number in used))


def _find_action(place: Path) -> str:
    """Return the name of the interrupt's handler, which the kernel makes a directory of; "" without one."""
    return next((each.name for each in _list_directory(place) if each.is_dir()), "")


def parse_core_mask(text: str) -> frozenset[int]:
    """Parse a bitmap of cores such as "00000000,0000000f": hexadecimal, 32 cores each, the last ones first."""
    digits = text.strip().replace(",", "")
    try:
        mask = int(digits, 16) if digits else 0
    except ValueError:
        return frozenset()
    return frozenset(core for core in range(min(mask.bit_length(), MOST_CORES)) if mask >> core & 1)


def parse_core_list(text: str) -> frozenset[int]:
    """Parse a list of cores such as "0-3,8"."""
    return frozenset(_iter_cores(text.strip().split(",")))


def _iter_cores(parts: Iterable[str]) -> Iterator[int]:
    for part in parts:
        first, _, last = part.partition("-")
        if first.isdecimal() and (last or first).isdecimal():
            yield from range(int(first), min(int(last or first), MOST_CORES) + 1)


def _limit(cores: Collection[int]) -> tuple[int, ...]:
    return tuple(sorted(cores)[:MOST_CORES])


def _as_number(text: str) -> int:
    return int(text) if text.isdecimal() else 0


def _list_directory(place: Path) -> list[Path]:
    try:
        return list(place.iterdir())
    except OSError:
        return []


def _read_text(file: Path) -> str:
    try:
        return file.read_text()
    except OSError:
        return ""
