"""The sets that a ruleset has: chains are built around these, so that no rule stands for an unused set."""

from dataclasses import dataclass

from firewall.sets import parse_prefix_length


@dataclass(frozen=True, slots=True)
class UsedSets:
    """The names of the sets that a ruleset has."""

    names: frozenset[str]

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def list_lengths(self, family: str) -> tuple[int, ...]:
        """Return the prefix lengths of one family in use, ascending."""
        return tuple(sorted(parse_prefix_length(name) for name in self.names if name.startswith(f"{family}_")))
