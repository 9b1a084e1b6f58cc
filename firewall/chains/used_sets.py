"""Which sets a ruleset has: chains are built around those, so that no rule stands for what nobody uses."""

from dataclasses import dataclass

from firewall.sets import parse_length


@dataclass(frozen=True, slots=True)
class UsedSets:
    """The names of the sets that a ruleset has."""

    names: frozenset[str]

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def lengths(self, family: str) -> tuple[int, ...]:
        """The prefix lengths in use of one family, ascending."""
        return tuple(sorted(parse_length(name) for name in self.names if name.startswith(f"{family}_")))
