"""Versions of the protocol between portal and agent: which are spoken, and what each added to the one before.

Names of classes, fields and members, and nothing else: `firewall.codec` leaves them out towards a peer of an older version, and fills
in defaults for what such a peer did not send. An entry of ADDED is never removed: rulesets on a gateway's disk may be as old.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

VERSION = 9
SPOKEN = (VERSION - 1, VERSION)
"""Each side answers in the version of the request. The portal begins with the highest."""


class WhenSet(Enum):
    """Treatment of an added field whose value is not its default, towards a peer that does not know the field."""

    OMIT = auto()  # it only tells more: a portal of the release before does without it
    REFUSE = auto()  # without it the message would mean something else


@dataclass(frozen=True, slots=True)
class Additions:
    """Names that were added: classes, fields of older classes (each needs a default), and members of older enumerations."""

    classes: frozenset[str] = frozenset()
    fields: Mapping[str, Mapping[str, WhenSet]] = field(default_factory=dict)
    members: Mapping[str, frozenset[str]] = field(default_factory=dict)


NO_ADDITIONS = Additions()

ADDED: Mapping[int, Additions] = {
    9: Additions(
        classes=frozenset(
            {
                "InwardSeen",
                "QueueCounters",
                *("SampleConnection", "AddKey"),
                *("ReadElements", "ElementsAre"),
                *("ReadProgram", "StoreProgram", "TryProgram", "KeepProgram", "DropProgram", "ProgramIs"),
                *("UplinkShaper", "Shaping", "Framing", "ShaperChange"),
            }
        ),
        fields={
            "ReadProbes": {"responder_port": WhenSet.REFUSE},
            "TargetSeen": {"inward": WhenSet.OMIT},
            "LinkQueues": {"counted": WhenSet.OMIT},
            "GaugesAre": {"unshaped": WhenSet.OMIT},
            "Ruleset": {"shaper": WhenSet.REFUSE},
            "Delta": {"shaper": WhenSet.REFUSE},
        },
    ),
}
"""What each version added to the one before it. Version 8 is the first that neighbours speak."""


def merge_additions(several: Iterable[Additions]) -> Additions:
    """Return all of them together."""
    classes: frozenset[str] = frozenset()
    fields: dict[str, dict[str, WhenSet]] = {}
    members: dict[str, frozenset[str]] = {}
    for each in several:
        classes |= each.classes
        for name, added in each.fields.items():
            fields[name] = fields.get(name, {}) | dict(added)
        for name, more in each.members.items():
            members[name] = members.get(name, frozenset()) | more
    return Additions(classes, fields, members)


LACKING: dict[int, Additions] = {
    spoken: merge_additions(added for version, added in ADDED.items() if version > spoken) for spoken in (min(ADDED) - 1, *ADDED)
}
"""What a peer of each version does not know."""


def list_added_fields(name: str) -> frozenset[str]:
    """Return the fields that were ever added to this class: whatever was written before then lacks them."""
    return frozenset(LACKING[min(LACKING)].fields.get(name, {}))
