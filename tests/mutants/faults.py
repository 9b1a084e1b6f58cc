"""Mutants, one for each promise: likely mistakes in the code."""

from tests.mutants.forwarded import FORWARDED
from tests.mutants.handed import HANDED
from tests.mutants.limited import LIMITED
from tests.mutants.mutant import Mutant
from tests.mutants.served import SERVED
from tests.mutants.worked import WORKED

PROMISES = "tests/whole/test_promises.py"
SNAT = "tests/whole/test_snat.py"
LANES = "tests/unit/test_lanes.py"
BANS = "tests/whole/test_bans.py"
DEPLOY = "tests/whole/test_deploy.py"
UNBILLED = "tests/unit/test_tracing_promises.py::test_a_packet_that_is_not_forwarded_counts_for_no_member"

MUTANTS = (
    Mutant(
        "drop the anti-spoofing rule",
        "firewall/chains/spoofed.py",
        'make_rule(outside, _match_own_and_private(gateway), *_DROP_SPOOFED, comment="private or our own source from outside"),',
        "",
        f"{PROMISES}::test_a_private_source_from_outside_reaches_no_forward",
    ),
    Mutant(
        "let in sources that nobody holds",
        "firewall/chains/new.py",
        'make_rule(make_jump("spoofed")),',
        "",
        f"{PROMISES}::test_a_source_that_nobody_holds_gets_nowhere_and_is_counted",
    ),
    Mutant(
        "let who is exempt from limits past all that follows",
        "firewall/chains/specialize.py",
        " and not self._can_return(made):",
        ":",
        f"{LANES}::test_a_first_packet_fares_in_its_lane_as_in_the_chain_for_all",
    ),
    Mutant(
        "swap up and down",
        "firewall/chains/forward.py",
        'UP, DOWN = make_jump("up"), make_jump("down")',
        'DOWN, UP = make_jump("up"), make_jump("down")',
        f"{PROMISES}::test_what_goes_each_way_is_counted_to_the_octet",
    ),
    Mutant(
        "swap the addresses of the SNAT map",
        "firewall/chains/postrouting.py",
        "Snat((Field.IP_SADDR,), name, first_port",
        "Snat((Field.IP_DADDR,), name, first_port",
        f"{DEPLOY}::test_members_reach_the_internet_over_both_families",
    ),
    Mutant(
        "make a port block one too wide",
        "firewall/elements/mappings.py",
        "for port in (first, last))",
        "for port in (first, last + 1))",
        f"{SNAT}::test_thousands_of_connections_never_use_a_port_outside_their_block",
    ),
    Mutant(
        "let out of a block what has no ports",
        "firewall/chains/new.py",
        "rule(*way, WITH_PORTS, block, RETURN,",
        "rule(*way, block, RETURN,",
        f"{SNAT}::test_what_a_block_has_no_ports_for_is_refused_and_the_sender_told",
    ),
    Mutant(
        "say nothing to who has no public address",
        "firewall/chains/new.py",
        'Lookup((Field.IP_SADDR,), "out4"), RETURN',
        "RETURN",
        f"{SNAT}::test_who_has_no_public_address_is_told_so_at_once_and_reaches_what_is_inside",
    ),
    Mutant(
        "draw another port for each connection",
        "firewall/chains/postrouting.py",
        "first_port=first, last_port=last)",
        "first_port=first, last_port=last, fully_random=True)",
        "tests/whole/test_punching.py::test_two_behind_different_gateways_reach_each_other_however_they_leave",
    ),
    Mutant(
        "keep the ports of a shared address",
        "firewall/chains/postrouting.py",
        '_snat("snat4", *SHARED_PORTS), comment="ports',
        '_snat("snat4"), comment="ports',
        "tests/whole/test_snat_race.py::test_a_shared_address_loses_no_more_than_two_equal_draws_of_its_ports",
    ),
    Mutant(
        "leave a flow its port outside the new block",
        "firewall/flows.py",
        "return flow.protocol in (_TCP, _UDP) and first <= flow.reply_destination_port <= last",
        "return first <= last",
        "tests/unit/test_flows.py::test_who_shares_his_address_otherwise_keeps_the_flows_that_still_fit",
    ),
    Mutant(
        "forget the fail-closed chain",
        "firewall/chains/__init__.py",
        "        postrouting.build_leak_drop_chain(gateway),\n",
        "",
        f"{PROMISES}::test_a_connection_that_was_let_out_without_nat_is_stopped_once_the_door_is_shut",
    ),
    Mutant(
        "put the fail-closed rule inside srcnat",
        "firewall/chains/postrouting.py",
        'shut), Hook("filter", "postrouting"',
        'shut), Hook("nat", "postrouting"',
        f"{PROMISES}::test_a_connection_that_was_let_out_without_nat_is_stopped_once_the_door_is_shut",
    ),
    Mutant(
        "take a private source for a public one",
        "firewall/chains/rule_helpers.py",
        "for prefix in PRIVATE)",
        "for prefix in PRIVATE[1:])",
        f"{PROMISES}::test_a_connection_that_was_let_out_without_nat_is_stopped_once_the_door_is_shut",
    ),
    Mutant(
        "take a connection that is not translated for one that is",
        "firewall/chains/postrouting.py",
        'Match(Field.CT_STATUS, ("snat",)), ACCEPT',
        'Match(Field.CT_STATUS, ("snat",), negated=True), ACCEPT',
        f"{PROMISES}::test_a_connection_that_was_let_out_without_nat_is_stopped_once_the_door_is_shut",
    ),
    Mutant(
        "take a refusal for a packet of the connection that it refuses",
        "firewall/chains/postrouting.py",
        'make_rule(known, Match(Field.CT_STATUS, ("snat",))',
        'make_rule(Match(Field.CT_STATUS, ("snat",))',
        "tests/packets/test_agrees.py::test_the_kernel_does_to_every_packet_what_the_trace_says",
    ),
    Mutant(
        "compare a bit that must not be set as one that must",
        "firewall/render.py",
        'on = " | ".join(bit for bit, is_on in bits if is_on)',
        'on = " | ".join(bit for bit, _is_on in bits)',
        "tests/unit/test_render.py::test_neighbouring_bits_of_a_connections_status_are_one_comparison",
    ),
    Mutant(
        "be off by one in a prefix length",
        "firewall/chains/rule_helpers.py",
        "None if length == whole else length,",
        "None if length == whole else length - 1,",
        "tests/whole/test_counters.py::test_a_banned_host_is_dropped_and_the_hit_is_counted",
    ),
    Mutant(
        "forget IPv6",
        "firewall/chains/members.py",
        'rules += [make_rule(match_prefix(Field.IP6_SADDR, "up6", length), ACCEPT) for length in used.list_lengths("up6")]',
        "",
        f"{DEPLOY}::test_members_reach_the_internet_over_both_families",
    ),
    Mutant(
        "ignore expiry",
        "firewall/elements/bans.py",
        "expires=cap_expiry(ban.expires)",
        "expires=0",
        "tests/unit/test_render.py::test_the_text_is_the_one_that_was_reviewed[bans]",
    ),
    Mutant(
        "ignore that a forward is off",
        "apps/deployments/rule_kinds/forwards.py",
        " AND f.enabled",
        "",
        "tests/db/test_snapshot.py::test_a_forward_that_is_off_or_removed_is_left_out",
    ),
    Mutant(
        "accept invalid packets",
        "firewall/chains/guards.py",
        'Verdict(VerdictAction.GOTO, "strays") if is_in_use(used) else DROP',
        'Verdict(VerdictAction.GOTO, "strays") if is_in_use(used) else ACCEPT',
        f"{PROMISES}::test_an_invalid_packet_reaches_nobody",
    ),
    Mutant(
        "forget management",
        "firewall/chains/input.py",
        'port, ACCEPT, comment="management"',
        'port, DROP, comment="management"',
        f"{DEPLOY}::test_members_reach_the_internet_over_both_families",
    ),
    Mutant(
        "forget hairpin SNAT",
        "firewall/chains/postrouting.py",
        'Chain("srcnat_hairpin", (*_list_port_rules(), OWN',
        'Chain("srcnat_hairpin", (OWN',
        "tests/whole/test_hairpin.py::test_a_member_reaches_his_own_forward_and_those_of_others",
    ),
    Mutant(
        "forward to the wrong member",
        "firewall/elements/forwards.py",
        "PROTOCOL_KEY[forward.protocol], forward.private.packed",
        "PROTOCOL_KEY[forward.protocol], (forward.private + 1).packed",
        f"{DEPLOY}::test_a_forward_lets_the_internet_reach_a_members_host_until_it_is_removed",
    ),
    Mutant(
        "count a packet twice",
        "firewall/chains/members.py",
        'rules = [make_rule(Lookup((Field.IP_SADDR,), "up4"), ACCEPT)]',
        'rules = [make_rule(Lookup((Field.IP_SADDR,), "up4")), make_rule(Lookup((Field.IP_SADDR,), "up4"), ACCEPT)]',
        f"{PROMISES}::test_what_goes_each_way_is_counted_to_the_octet",
    ),
    Mutant(
        "count what a stranger sends in a member's name",
        "firewall/chains/spoofed.py",
        "        yield make_rule(interface, *unheld, RETURN)\n        yield make_rule(interface, version, *_DROP_SPOOFED, ",
        "        from dataclasses import replace\n"
        "        for each in unheld:\n"
        "            yield make_rule(interface, replace(each, negated=False), *_DROP_SPOOFED, ",
        UNBILLED,
    ),
    Mutant(
        "count what a member sends to no member",
        "firewall/chains/members.py",
        '        make_rule(Lookup((Field.IP_DADDR,), "down4", negated=True), RETURN),\n',
        "",
        UNBILLED,
    ),
    Mutant(
        "do not count replies",
        "firewall/chains/members.py",
        'RECEIVED: Final = (Lookup((Field.IP_DADDR,), "down4"), ACCEPT)',
        "RECEIVED: Final = (ACCEPT,)",
        f"{PROMISES}::test_what_goes_each_way_is_counted_to_the_octet",
    ),
    Mutant(
        "leave a deleted member in one set",
        "firewall/elements/members.py",
        '{"up4": addresses, "down4": addresses}',
        '{"up4": addresses}',
        "tests/unit/test_compile.py::test_compiling_a_change_gives_what_compiling_everything_gives",
    ),
    Mutant(
        "render a comment unescaped",
        "firewall/names.py",
        """_UNSAFE.sub(" ", text.replace('"', "'"))""",
        "text",
        "tests/unit/test_render.py::test_no_comment_breaks_out_of_its_quotes",
    ),
    Mutant(
        "believe an elder note though somebody has committed since",
        "gateway/handover.py",
        """    if table.read_mark() != note.mark:
        return None
    found = table.read(clock(), wanted.elements)
    return found if table.read_mark() == note.mark else None  # nobody has committed anything while the rest was read""",
        """    found = table.read(clock(), wanted.elements)
    return found""",
        "tests/agent/test_handover.py::test_whatever_others_have_committed_meanwhile_is_found",
    ),
    Mutant(
        "read again none of the sets that others have changed",
        "gateway/kernel.py",
        "untouched = () if touched is None else known.keys() - touched",
        "untouched = () if touched is None else known.keys()",
        "tests/agent/test_read_again.py::test_only_what_others_have_changed_is_read_again",
    ),
    Mutant(
        "keep a stale element in a delta",
        "firewall/diff.py",
        "return list_lacking(running, wanted), list_lacking(wanted, running)",
        "return {}, list_lacking(wanted, running)",
        "tests/unit/test_diff.py::test_applying_the_difference_leads_to_what_is_wanted",
    ),
    Mutant(
        "ban only one direction",
        "firewall/chains/bans.py",
        "for way, name, side in sides if side",
        "for way, name, side in sides[:1] if side",
        f"{PROMISES}::test_nobody_connects_to_a_banned_host",
    ),
    *FORWARDED,
    *LIMITED,
    *SERVED,
    *HANDED,
    *WORKED,
    Mutant(
        "let an allow list lose",
        "firewall/chains/bans.py",
        "*returns, *drops))",
        "*drops, *returns))",
        f"{BANS}::test_the_allow_list_wins_over_wider_and_narrower_bans",
    ),
    Mutant(
        "take a banned host for one that is not",
        "firewall/chains/bans.py",
        "length, negated=True) for family",
        "length) for family",
        f"{BANS}::test_the_allow_list_wins_over_wider_and_narrower_bans",
    ),
    Mutant(
        "ban the other direction",
        "firewall/chains/bans.py",
        '("bans", "bans_in")',
        '("bans", "bans_out")',
        f"{BANS}::test_a_ban_drops_connections_in_its_direction_alone",
    ),
    Mutant(
        "cut connections that are allowed",
        "firewall/newly_banned.py",
        "return concerned and address not in self._allowed",
        "return concerned",
        f"{BANS}::test_a_ban_cuts_in_its_direction_and_spares_what_is_allowed",
    ),
    Mutant(
        "leave connections open under an allow entry that goes",
        "firewall/newly_banned.py",
        "address in self._come or (address in self._freed and address in self._banned)",
        "address in self._come",
        f"{BANS}::test_a_ban_cuts_in_its_direction_and_spares_what_is_allowed",
    ),
    Mutant(
        "forget flood mode",
        "firewall/chains/raw.py",
        '    make_rule(make_jump(bans.FROM), comment="flood mode"),\n',
        "",
        f"{BANS}::test_flood_mode_keeps_banned_sources_out_of_connection_tracking",
    ),
    Mutant(
        "let a new comment empty a counter",
        "firewall/digest.py",
        "(value, _comment, expires) in elements.items():\n        hasher = copy()\n",
        "(value, comment, expires) in elements.items():\n        hasher = copy()\n        hasher.update(comment.encode())\n",
        f"{BANS}::test_a_comment_that_is_worded_anew_keeps_the_kernels_counter",
    ),
)
