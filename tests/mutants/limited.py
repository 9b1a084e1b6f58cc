"""Mutants of rate limits."""

from tests.mutants.mutant import Mutant

RATES = "tests/whole/test_rates.py::test_a_limited_member_gets_his_rate_both_ways_and_nobody_else_is_slowed"

LIMITED = (
    Mutant(
        "swap the rates up and down",
        "firewall/chains/rates.py",
        '_WAYS = {UP: "up", DOWN: "down"}',
        '_WAYS = {UP: "down", DOWN: "up"}',
        RATES,
    ),
    Mutant(
        "forget IPv6 where rates are limited",
        "firewall/chains/rates.py",
        '        yield from (make_rule(match_prefix(six, f"{start}6", length), Count(name), DROP) '
        'for length in used.list_lengths(f"{start}6"))\n',
        "",
        RATES,
    ),
    Mutant(
        "a bucket of ten seconds",
        "gateway/elements.py",
        'pack_attribute(_UNIT, pack(">Q", 1))',
        'pack_attribute(_UNIT, pack(">Q", 10))',
        "tests/agent/test_table.py::test_nft_shows_the_rate_of_an_element_in_octets_a_second",
    ),
)
