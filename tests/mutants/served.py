"""Mutants of blocked members, the network's own servers, and protection."""

from tests.mutants.mutant import Mutant

BLOCKS, LISTENERS = "tests/whole/test_blocks.py", "tests/whole/test_listeners.py"
GUARDS = "tests/whole/test_guards.py"
PROFILE = "tests/agent/test_profile.py"
LIMITS, PROTECTION = "tests/whole/test_limits.py", "tests/whole/test_protection.py"

SERVED = (
    Mutant(
        "block without the notice page",
        "firewall/chains/dstnat.py",
        "*blocks.iter_notice_redirects(gateway, used), ",
        "",
        f"{BLOCKS}::test_a_blocked_members_http_reaches_the_notice_host_which_sees_whom_to_tell",
    ),
    Mutant(
        "let blocked members be reached",
        "firewall/chains/blocks.py",
        '    yield from (make_rule(inward, destination, make_jump("blocked")) for destination in lookups)\n',
        "",
        f"{BLOCKS}::test_nobody_reaches_a_blocked_member",
    ),
    Mutant(
        "leave connections of who is blocked",
        "firewall/flows.py",
        "if self._blocked and (flow.source in self._blocked or flow.reply_source in self._blocked):",
        "if False:",
        f"{BLOCKS}::test_open_connections_end_with_the_block_and_those_of_others_go_on",
    ),
    Mutant(
        "accept untracked from outside",
        "firewall/chains/listeners.py",
        'rule(Count("untracked"), DROP),',
        'rule(Count("untracked"), ACCEPT),',
        f"{LISTENERS}::test_nothing_else_that_is_untracked_passes",
    ),
    Mutant(
        "guard without notrack",
        "firewall/chains/raw.py",
        "*listeners.iter_untracked_rules(used), *guards.iter_untracked_rules(used)",
        "*listeners.iter_untracked_rules(used),",
        f"{GUARDS}::test_a_flood_of_syns_reaches_no_server_while_clients_come_and_stay_and_bans_hold",
    ),
    Mutant(
        "drop what is invalid before its cookie is seen",
        "firewall/chains/forward.py",
        '(("invalid",), guards.get_verdict(used))',
        '(("invalid",), Verdict(VerdictAction.DROP))',
        f"{GUARDS}::test_a_flood_of_syns_reaches_no_server_while_clients_come_and_stay_and_bans_hold",
    ),
    Mutant(
        "limit who is exempt",
        "firewall/chains/limits.py",
        "(*_build_exempt_rules(gateway), *rules)",
        "(*rules,)",
        f"{LIMITS}::test_an_exempt_source_is_not_limited",
    ),
    Mutant(
        "limit by address who has a prefix",
        "firewall/chains/limits.py",
        "_list_conditions(meter, Field.IP6_SADDR, only, each)",
        "_list_conditions(meter, Field.IP6_SADDR, only, 128)",
        f"{LIMITS}::test_a_member_is_limited_by_ipv6_prefix_whatever_address_he_takes",
    ),
    Mutant(
        "forget bogons",
        "firewall/chains/new.py",
        '            *((make_rule(make_jump("bogons")),) if gateway.settings.protection.bogons else ()),\n',
        "",
        f"{PROTECTION}::test_a_bogon_reaches_no_forward_and_what_is_our_own_does",
    ),
    Mutant(
        "boot without the profile",
        "gateway/restore.py",
        "untuned = apply_profile(table, state, wanted.profile)",
        "untuned: SysctlErrors = {}",
        f"{PROFILE}::test_at_boot_the_kernel_is_set_as_it_was_confirmed[kernel]",
    ),
    Mutant(
        "keep what was tried first",
        "gateway/restore.py",
        "    apply_profile(table, state, None)\n",
        "",
        f"{PROFILE}::test_sysctls_of_a_first_trial_are_reverted_also_after_a_crash[kernel]",
    ),
    Mutant(
        "overlook what was set by hand",
        "gateway/table_state.py",
        "profile = None if list_altered_sysctls(self._table, committed.profile, self.untuned) else committed.profile",
        "profile = committed.profile",
        f"{PROFILE}::test_what_was_set_by_hand_is_told_and_put_right_by_the_whole_ruleset[kernel]",
    ),
)
