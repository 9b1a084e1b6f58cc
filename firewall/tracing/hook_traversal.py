"""A packet's way through chains: the base chains of a hook by priority, with connection tracking and NAT at theirs, and chains they call.

Source: linux/netfilter_ipv4.h (priorities), man nft, "CHAINS" and "VERDICT STATEMENT".
"""

from collections.abc import Callable, Iterator

from firewall.ruleset import Chain, Rule, Ruleset, Verdict, VerdictAction
from firewall.tracing.packet_in_transit import PacketInTransit
from firewall.tracing.part_effects import apply_part
from firewall.tracing.result import Ending, PartReading, TraceError, TraceStep

_TRACKING, _DESTINATION, _SOURCE = -200, -100, 100  # NF_IP_PRI_CONNTRACK, NF_IP_PRI_NAT_DST, NF_IP_PRI_NAT_SRC
_DEEPEST = 16  # NFT_JUMP_STACK_SIZE
_BEFORE_CHAINS, _CHAIN, _AFTER_CHAINS = range(3)


class HookTraversal:
    """One packet's way through the chains of a ruleset; `steps` are the rules it met."""

    def __init__(self, ruleset: Ruleset, passage: PacketInTransit) -> None:
        self._ruleset, self.passage = ruleset, passage
        self.steps: list[TraceStep] = []

    def run_hook(self, name: str) -> Ending | None:
        """Let the packet meet everything at one hook. Return what ends it, or None when it goes on."""
        for _priority, _order, stage in sorted(self._iter_stages(name), key=lambda each: each[:2]):
            ending = stage()
            if ending and (not isinstance(ending, Verdict) or ending.action is VerdictAction.DROP):
                return ending
        return None

    def _iter_stages(self, name: str) -> Iterator[tuple[int, int, Callable[[], Ending | None]]]:
        if name in ("prerouting", "output"):
            yield _TRACKING, _BEFORE_CHAINS, self.passage.track
            yield _DESTINATION, _AFTER_CHAINS, self.passage.repeat_destination_nat
        if name == "postrouting":
            yield _SOURCE, _AFTER_CHAINS, self.passage.repeat_source_nat
        for chain in self._ruleset.chains.values():
            if chain.hook and chain.hook.hook == name:
                yield int(chain.hook.priority), _CHAIN, self._make_stage(chain)

    def _make_stage(self, chain: Chain) -> Callable[[], Ending | None]:
        return lambda: self._run_base_chain(chain)

    def _run_base_chain(self, chain: Chain) -> Ending | None:
        if chain.hook is None or (chain.hook.kind == "nat" and not self.passage.asks_for_nat):
            return None
        ending = self._run_chain(chain, 0)
        if ending is None:
            ending = Verdict(chain.hook.policy)
            self.steps.append(TraceStep(chain, 0, None, (), ending, self.passage.packet))
        return ending

    def _run_chain(self, chain: Chain, depth: int) -> Ending | None:
        if depth > _DEEPEST:
            raise TraceError(f"chain {chain.name}: jumps are more than {_DEEPEST} deep")
        for number, rule in enumerate(chain.rules, 1):
            verdict = self._run_rule(chain, number, rule)
            match verdict:
                case None:
                    continue
                case Verdict(VerdictAction.RETURN):
                    return None
                case Verdict(VerdictAction.GOTO):
                    return self._run_chain(self._get_chain(verdict.chain), depth + 1)
                case Verdict(VerdictAction.JUMP):
                    ending = self._run_chain(self._get_chain(verdict.chain), depth + 1)
                    if ending is not None:
                        return ending
                case _:
                    return verdict
        return None

    def _get_chain(self, name: str) -> Chain:
        if name not in self._ruleset.chains:
            raise TraceError(f"a rule jumps to the chain {name}, which the ruleset does not have")
        return self._ruleset.chains[name]

    def _run_rule(self, chain: Chain, number: int, rule: Rule) -> Ending | None:
        reads: list[PartReading] = []
        at = len(self.steps)
        packet = self.passage.packet
        for part in rule.parts:
            read = apply_part(self.passage, part)
            reads.append(read)
            if not read.passed or read.verdict:
                break
        verdict = reads[-1].verdict if reads and reads[-1].passed else None
        self.steps.insert(at, TraceStep(chain, number, rule, tuple(reads), verdict, packet))
        return verdict
