"""Queues of network cards, read from directories as the kernel makes them."""

from pathlib import Path

import pytest

from firewall.health import LinkQueues, QueueCounters
from gateway.health.queue_counters import parse_driver_statistics, read_queue_counters
from gateway.health.queues import parse_core_list, parse_core_mask, read_queues


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


class CardsOnDisk:
    """A /sys and /proc/irq with cards, below a directory."""

    def __init__(self, root: Path) -> None:
        self.net, self.irq, self._devices = root / "net", root / "irq", root / "devices"

    def add_card(self, name: str, masks: list[str], interrupts: dict[int, tuple[str, str]], *, virtio: bool = False) -> None:
        """Add a card. masks: rps_cpus of each receive queue; interrupts: name and cores by number, "" for one without a handler."""
        bus = self._devices / name
        device = bus / "virtio1" if virtio else bus
        device.mkdir(parents=True)
        for number, (action, cores) in interrupts.items():
            write(bus / "msi_irqs" / str(number), "msix\n")
            write(self.irq / str(number) / "effective_affinity_list", f"{cores}\n")
            if action:
                (self.irq / str(number) / action).mkdir()
        for at, mask in enumerate(masks):
            write(self.net / name / "queues" / f"rx-{at}" / "rps_cpus", f"{mask}\n")
            (self.net / name / "queues" / f"tx-{at}").mkdir()
        (self.net / name / "device").symlink_to(device)

    def read(self, *names: str) -> tuple[LinkQueues, ...]:
        return read_queues(names, self.net, self.irq, lambda _: ())


@pytest.fixture
def machine(tmp_path: Path) -> CardsOnDisk:
    return CardsOnDisk(tmp_path)


def test_a_card_with_several_queues_tells_the_cores_of_each(machine: CardsOnDisk) -> None:
    machine.add_card("eth0", ["0", "0"], {40: ("eth0", "7"), 41: ("eth0-TxRx-0", "0"), 42: ("eth0-TxRx-1", "2-3")})
    assert machine.read("eth0") == (LinkQueues("eth0", 2, 2, (), (0, 2, 3)),)


def test_interrupts_that_no_received_packet_causes_do_not_count(machine: CardsOnDisk) -> None:
    named = {24: ("virtio1-config", "3"), 25: ("virtio1-input.0", "1"), 26: ("virtio1-output.0", "2"), 27: ("", "0")}
    machine.add_card("eth0", ["0"], named, virtio=True)
    assert machine.read("eth0") == (LinkQueues("eth0", 1, 1, (), (1,)),)


def test_a_card_with_one_interrupt_of_its_own_name_uses_that(machine: CardsOnDisk) -> None:
    machine.add_card("eth0", ["0"], {30: ("eth0", "2")})
    assert machine.read("eth0")[0].interrupts == (2,)


def test_rps_tells_the_cores_of_all_queues_together(machine: CardsOnDisk) -> None:
    machine.add_card("eth0", ["00000001,00000003", "0,4"], {})
    assert machine.read("eth0") == (LinkQueues("eth0", 2, 2, (0, 1, 2, 32), ()),)


def test_an_interface_without_a_device_is_no_card_and_a_vanished_one_is_left_out(machine: CardsOnDisk) -> None:
    machine.add_card("eth1", ["0"], {})
    write(machine.net / "br0" / "queues" / "rx-0" / "rps_cpus", "0\n")
    assert [each.name for each in machine.read("gone", "br0", "eth1")] == ["eth1"]


@pytest.mark.parametrize(("text", "cores"), [("0-3,8\n", {0, 1, 2, 3, 8}), ("", set()), ("x,2-,5", {2, 5}), ("0-99999", set(range(1025)))])
def test_lists_of_cores_are_read(text: str, cores: set[int]) -> None:
    assert parse_core_list(text) == cores


@pytest.mark.parametrize(("text", "cores"), [("0", set()), ("f\n", {0, 1, 2, 3}), ("1,00000000", {32}), ("nonsense", set()), ("", set())])
def test_masks_of_cores_are_read(text: str, cores: set[int]) -> None:
    assert parse_core_mask(text) == cores


@pytest.mark.parametrize(
    "names",
    [
        ("rx_queue_{}_packets", "rx_queue_{}_drops"),  # igb, ixgbe, igc, ice, virtio_net before Linux 6.11
        ("rx{}_packets", "rx{}_dropped"),  # mlx4, mlx5
        ("rx-{}.packets", "rx-{}.dropped"),  # i40e
        ("rx-{}.rx_packets", ""),  # i40e of older kernels
        ("[{}]: rx_ucast_packets", "[{}]: rx_discards"),  # bnxt_en, bnx2x
        ("queue_{}_rx_cnt", ""),  # ena
        ("rx_packets[{}]", ""),  # gve
    ],
)
def test_receive_queues_are_found_by_the_names_that_drivers_give_them(names: tuple[str, str]) -> None:
    packets, drops = names
    statistics = {"rx_packets": 99, "tx_queue_0_packets": 7, "tx0_packets": 7, "rx_queue_0_bytes": 5, "rx_missed_errors": 3}
    statistics |= {packets.format(queue): 100 + queue for queue in (10, 2, 0)}
    statistics |= {drops.format(queue): queue for queue in (10, 2)} if drops else {}
    dropped = (0, 2, 10) if drops else (0, 0, 0)
    assert parse_driver_statistics(statistics) == tuple(
        QueueCounters(queue, 100 + queue, dropped[at]) for at, queue in enumerate((0, 2, 10))
    )


def test_a_card_that_counts_as_a_whole_has_no_queues() -> None:
    assert parse_driver_statistics({"rx_packets": 99, "tx_packets": 7, "rx_dropped": 1}) == ()
    assert read_queue_counters("lo") == read_queue_counters("no-such-card") == ()


def test_the_queues_of_a_card_count_what_the_card_counts() -> None:
    """With the cards of this machine; a driver that counts by queue does not let a packet count in none."""
    counted = {each.name: read_queue_counters(each.name) for each in Path("/sys/class/net").iterdir()}
    if not any(counted.values()):
        pytest.skip("no network card here counts by queue")
    for name, queues in counted.items():
        received = int(Path(f"/sys/class/net/{name}/statistics/rx_packets").read_text())
        assert sum(each.packets for each in queues) <= received
        assert [each.queue for each in queues] == sorted({each.queue for each in queues})
