"""Rulesets name no protocol or service that nft would look up in /etc/protocols or /etc/services, which a minimal machine lacks."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from firewall.compile import compile_policy
from firewall.render import PROTOCOLS, render
from firewall.ruleset import Field, Match, Ruleset, VerdictMap
from tests.packets import scenes
from tests.unit.test_render import CASES, NOW

# Keywords of nft's own grammar (nftables, src/scanner.l); all other protocol names go through getprotobyname(3)
NFTS_OWN = frozenset({"ah", "comp", "dccp", "esp", "gre", "icmp", "icmpv6", "igmp", "sctp", "tcp", "udp", "udplite"})
PORTS = frozenset({Field.TH_DPORT, Field.TH_SPORT, Field.TCP_DPORT, Field.TCP_SPORT, Field.UDP_DPORT})
POLICIES = [*CASES.values(), *(scenes.policy(Random(seed)) for seed in range(60))]

# Both files empty, in mount and network namespaces that end with the process
WITHOUT_NETBASE = "mount --bind /dev/null /etc/protocols; mount --bind /dev/null /etc/services; exec nft -f -"


def iter_compared_values(ruleset: Ruleset) -> Iterator[tuple[Field, str | int]]:
    """Yield each value that a rule compares a field with."""
    for chain in ruleset.chains.values():
        for part in (part for rule in chain.rules for part in rule.parts):
            if isinstance(part, Match):
                yield from ((part.field, value) for value in part.values if isinstance(value, str | int))
            if isinstance(part, VerdictMap):
                yield from ((field, value) for key, _verdict in part.entries for field, value in zip(part.fields, key, strict=True))


def fault(field: Field, value: str | int) -> str:
    if field is Field.L4PROTO and not isinstance(value, int) and value not in NFTS_OWN:
        return f"protocol {value}"
    return f"service {value}" if field in PORTS and not str(value).replace("-", "").isdigit() else ""


def test_every_protocol_and_service_is_a_number_or_a_word_of_nft_itself() -> None:
    found = {each for policy in POLICIES for each in (fault(*pair) for pair in iter_compared_values(compile_policy(policy))) if each}
    assert found == set()


def test_elements_too() -> None:
    assert set(PROTOCOLS.values()) <= NFTS_OWN


@pytest.mark.kernel
@pytest.mark.parametrize("name", CASES)
def test_nft_takes_every_ruleset_where_there_is_no_netbase(name: str) -> None:
    if not shutil.which("unshare") or not Path("/etc/protocols").exists():
        pytest.skip("there is nothing to take away here")
    text = render(compile_policy(CASES[name]), now=NOW)
    command = ["unshare", "--mount", "--net", "sh", "-ec", WITHOUT_NETBASE]
    done = subprocess.run(command, input=text, text=True, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
