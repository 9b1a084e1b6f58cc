"""The files that make a bare Debian one of the lab's gateways."""

from pathlib import Path

from lab.machines.files import ROUTES, build_mac, render_files
from lab.machines.image import build_bootstrap_command
from lab.topology import load_topology

FILES = render_files(load_topology().get_node("nat-1"), 1)


def test_each_card_is_named_by_its_hardware_address() -> None:
    assert FILES["etc/systemd/network/10-lan0.link"] == "[Match]\nMACAddress=52:54:00:0a:01:01\n[Link]\nName=lan0\n"
    assert build_mac(2, 3) == "52:54:00:0a:02:03"


def test_each_address_of_the_topology_is_configured_with_its_length() -> None:
    interfaces = FILES["etc/network/interfaces"]
    for card in load_topology().get_node("nat-1").interfaces:
        assert f"auto {card.name}\n" in interfaces
        for address in card.addresses:
            family = "inet" if address.version == 4 else "inet6"
            assert f"iface {card.name} {family} static\n    address {address}\n" in interfaces


def test_routes_are_set_behind_the_last_card_and_lead_where_the_topology_says() -> None:
    assert FILES["etc/network/interfaces"].endswith(f"    post-up sh /{ROUTES}\n")
    routes = FILES[ROUTES].splitlines()
    assert "ip route replace 0.0.0.0/0 via 192.0.2.1" in routes
    assert "ip route replace ::/0 via 2001:db8:fe::1" in routes
    assert "ip route replace blackhole 198.51.100.0/24" in routes
    assert "ip route replace 2001:db8:a0::/44 dev lan0" in routes


def test_an_image_is_made_of_the_suite_alone_and_has_nothing_of_ours(tmp_path: Path) -> None:
    command = build_bootstrap_command("bookworm", tmp_path)
    assert command[0] == "mmdebstrap"
    assert command[-2:] == ("bookworm", str(tmp_path))
    assert not any("netzwart" in word for word in command[:-1])


def test_the_packages_of_a_gateway_are_installed_only_in_a_prepared_image(tmp_path: Path) -> None:
    bare, prepared = (build_bootstrap_command("trixie", tmp_path, prepared=each) for each in (False, True))
    [included], [more] = ([word for word in command if word.startswith("--include=")] for command in (bare, prepared))
    assert "nftables" not in included
    assert {"nftables", "python3", "conntrack"} <= set(more.removeprefix("--include=").split(","))
