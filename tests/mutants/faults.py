"""The faults, one for each promise: what somebody might get wrong in a busy night."""

from tests.mutants.mutant import Mutant

PROMISES = "tests/whole/test_promises.py"
DEPLOY = "tests/whole/test_deploy.py"

MUTANTS = (
    Mutant(
        "drop the anti-spoofing rule",
        "firewall/chains/spoofed.py",
        'rule(outside, Match(Field.IP_SADDR, PRIVATE), *drop, comment="private source from outside"),',
        "",
        f"{PROMISES}::test_a_private_source_from_outside_reaches_no_forward",
    ),
    Mutant(
        "let in sources that nobody holds",
        "firewall/chains/new.py",
        'rule(jump("spoofed")),',
        "",
        f"{PROMISES}::test_a_source_that_nobody_holds_gets_nowhere_and_is_counted",
    ),
    Mutant(
        "swap up and down",
        "firewall/chains/forward.py",
        '(names.lan, names.wan), "up"), ((names.wan, names.lan), "down")',
        '(names.lan, names.wan), "down"), ((names.wan, names.lan), "up")',
        f"{PROMISES}::test_what_goes_each_way_is_counted_to_the_octet",
    ),
    Mutant(
        "swap the addresses of the SNAT map",
        "firewall/chains/postrouting.py",
        'Snat((Field.IP_SADDR,), "snat4", fully_random=True)',
        'Snat((Field.IP_DADDR,), "snat4", fully_random=True)',
        f"{DEPLOY}::test_members_reach_the_internet_over_both_families",
    ),
    Mutant(
        "forget the fail-closed chain",
        "firewall/chains/__init__.py",
        "        postrouting.fail_closed(gateway),\n",
        "",
        f"{PROMISES}::test_a_connection_that_was_let_out_without_nat_is_stopped_once_the_door_is_shut",
    ),
    Mutant(
        "put the fail-closed rule inside srcnat",
        "firewall/chains/postrouting.py",
        'return Chain("fail_closed", (shut,), Hook("filter", "postrouting", Priority.AFTER_SRCNAT))',
        'return Chain("fail_closed", (shut,), Hook("nat", "postrouting", Priority.AFTER_SRCNAT))',
        f"{PROMISES}::test_a_connection_that_was_let_out_without_nat_is_stopped_once_the_door_is_shut",
    ),
    Mutant(
        "be off by one in a prefix length",
        "firewall/chains/parts.py",
        "None if length == whole else length,",
        "None if length == whole else length - 1,",
        "tests/whole/test_counters.py::test_a_banned_host_is_dropped_and_the_hit_is_counted",
    ),
    Mutant(
        "forget IPv6",
        "firewall/chains/members.py",
        'rules += [rule(in_prefixes(Field.IP6_SADDR, "up6", length), ACCEPT) for length in used.lengths("up6")]',
        "",
        f"{DEPLOY}::test_members_reach_the_internet_over_both_families",
    ),
    Mutant(
        "ignore expiry",
        "firewall/elements/bans.py",
        "expires=ban.expires",
        "expires=0",
        "tests/unit/test_render.py::test_the_text_is_the_one_that_was_reviewed[bans]",
    ),
    Mutant(
        "ignore that a forward is off",
        "apps/deployments/reading/nat.py",
        " AND f.enabled",
        "",
        "tests/db/test_snapshot.py::test_a_forward_that_is_off_or_removed_is_left_out",
    ),
    Mutant(
        "accept invalid packets",
        "firewall/chains/forward.py",
        '(("invalid",), DROP)',
        '(("invalid",), ACCEPT)',
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
        '            rule(*hairpin, Snat((Field.IP_SADDR,), "snat4"), comment="hairpin"),\n',
        "",
        f"{PROMISES}::test_members_reach_a_forward_from_inside_even_their_own",
    ),
    Mutant(
        "forward to the wrong member",
        "firewall/elements/forwards.py",
        "Element(forward.private.packed + ",
        "Element((forward.private + 1).packed + ",
        f"{DEPLOY}::test_a_forward_lets_the_internet_reach_a_members_host_until_it_is_removed",
    ),
    Mutant(
        "count a packet twice",
        "firewall/chains/members.py",
        'rules = [rule(Lookup((Field.IP_SADDR,), "up4"), ACCEPT)]',
        'rules = [rule(Lookup((Field.IP_SADDR,), "up4")), rule(Lookup((Field.IP_SADDR,), "up4"), ACCEPT)]',
        f"{PROMISES}::test_what_goes_each_way_is_counted_to_the_octet",
    ),
    Mutant(
        "do not count replies",
        "firewall/chains/members.py",
        'rules = [rule(Lookup((Field.IP_DADDR,), "down4"), ACCEPT)]',
        "rules = [rule(ACCEPT)]",
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
        "keep a stale element in a delta",
        "firewall/diff.py",
        "return dict(sorted(gone)), dict(sorted(come))",
        "return {}, dict(sorted(come))",
        "tests/unit/test_diff.py::test_applying_the_difference_leads_to_what_is_wanted",
    ),
    Mutant(
        "ban only one direction",
        "firewall/chains/bans.py",
        "for field in fields]",
        "for field in fields[:1]]",
        f"{PROMISES}::test_nobody_connects_to_a_banned_host",
    ),
)
