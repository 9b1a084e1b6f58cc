"""Mutants of port forwards and IPv6 pinholes."""

from tests.mutants.mutant import Mutant

HAIRPIN = "tests/whole/test_hairpin.py"
STALE = "tests/whole/test_stale_flows.py"
PINHOLES = "tests/whole/test_pinholes.py"

FORWARDED = (
    Mutant(
        "a forward one port too long",
        "firewall/elements/forwards.py",
        "return range(forward.public_port, forward.public_port + forward.ports)",
        "return range(forward.public_port, forward.public_port + forward.ports + (forward.ports > 1))",
        "tests/unit/test_compile.py::test_a_range_of_ports_is_an_element_for_each_shifted_alike",
    ),
    Mutant(
        "a forward shifted by one",
        "firewall/elements/forwards.py",
        "away = forward.private_port - forward.public_port",
        "away = forward.private_port - forward.public_port + 1",
        f"{HAIRPIN}::test_a_range_begins_and_ends_where_it_says",
    ),
    Mutant(
        "a pinhole one port too long",
        "firewall/elements/pinholes.py",
        "for each in range(port, port + ports):",
        "for each in range(port, port + ports + 1):",
        f"{PINHOLES}::test_beside_the_pinholes_everything_is_refused",
    ),
    Mutant(
        "forget the hairpin of who has no public address",
        "firewall/chains/postrouting.py",
        ', make_rule(Masquerade(), comment="no public address")',
        "",
        f"{HAIRPIN}::test_a_member_reaches_his_own_forward_and_those_of_others",
    ),
    Mutant(
        "silence at a port without a forward",
        "firewall/chains/dstnat.py",
        "forwards, *refusal)",
        "forwards,)",
        f"{HAIRPIN}::test_a_port_without_a_forward_is_refused_and_not_silent",
    ),
    Mutant(
        "refusals to whoever is no member",
        "firewall/chains/dstnat.py",
        '    yield make_rule(nobody, Count("spoofed"), DROP, comment="not a member\'s source")\n',
        "",
        f"{HAIRPIN}::test_whoever_is_no_member_hears_nothing",
    ),
    Mutant(
        "leave what stands in the way of a forward",
        "firewall/flows.py",
        "                self._opened.note(change)\n",
        "",
        f"{STALE}::test_a_sender_that_another_member_talked_to_by_that_port_gets_through_once_it_is_confirmed",
    ),
    Mutant(
        "look for it the wrong way only",
        "firewall/flows.py",
        "there | {each._replace(reply=True) for each in there if each.protocol == _UDP}",
        "there",
        f"{STALE}::test_a_sender_that_another_member_talked_to_by_that_port_gets_through_once_it_is_confirmed",
    ),
    Mutant(
        "cut members' TCP connections for a forward",
        "firewall/flows.py",
        "        if flow.protocol != _UDP:\n            return False\n",
        "",
        "tests/unit/test_flows.py::test_a_tcp_forward_that_comes_leaves_the_connections_of_members",
    ),
    Mutant(
        "leave what came in by a pinhole that went",
        "firewall/flows.py",
        "                self._closed.note(change)\n",
        "                del change\n",
        "tests/whole/test_opened.py::test_a_pinhole_lets_in_and_what_came_in_by_it_ends_with_it",
    ),
    Mutant(
        "node information from outside",
        "firewall/chains/new.py",
        "            icmp6.build_new_icmp6_rule(),\n",
        "",
        f"{PINHOLES}::test_what_belongs_to_one_link_or_to_nobody_passes_not_even_where_everything_is_open",
    ),
    Mutant(
        "errors of any type for a known connection",
        "firewall/chains/icmp6.py",
        'Chain("related", (errors,))',
        'Chain("related", (errors,)[:0])',
        f"{PINHOLES}::test_an_error_passes_with_the_connection_that_it_quotes_if_it_is_a_defined_one",
    ),
    Mutant(
        "no answer to a switch that asks who listens",
        "firewall/chains/input.py",
        '        make_rule(both, Match(Field.ICMPV6_TYPE, ("mld-listener-query",)), *_FROM_THE_LINK, ACCEPT, comment="RFC 4890, 4.4.1"),\n',
        "",
        f"{PINHOLES}::test_a_gateway_hears_a_switch_that_asks_who_listens",
    ),
    Mutant(
        "pinholes stay behind when the prefix changes",
        "apps/nat/pinholes/services.py",
        "        if follow:\n",
        "        if not follow:\n",
        "tests/db/test_pinholes.py::test_pinholes_follow_to_another_prefix_under_the_same_interface_ids",
    ),
    Mutant(
        "touch only the first port of a range",
        "apps/deployments/rule_kinds/forwards.py",
        "range(int(first), int(first) + int(count))",
        "range(int(first), int(first) + 1)",
        "tests/db/test_forward_ranges.py::test_a_change_touches_every_port_before_and_after",
    ),
)
