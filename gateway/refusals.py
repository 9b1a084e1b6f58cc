"""Why the agent refuses a request, as firewall/wire.py tells it to the portal: an error comes in, a Refused goes out."""

from firewall import wire
from firewall.codec import WireError
from firewall.policy import PolicyError
from gateway.persistent_state import StateError
from gateway.table import CommitRefusedError, TableError


class OperationRefusedError(Exception):
    """The agent answers `Refused` with this reason."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason


REFUSALS = (OperationRefusedError, WireError, PolicyError, TableError, StateError, OSError)
"""The errors that are told as a refusal. Any other is an error in the agent itself."""


def build_refused(error: Exception) -> wire.Refused:
    """Build the reply. The text is cut, because nft quotes what it did not accept, and that may be long."""
    return wire.Refused(_choose_reason(error), str(error)[: wire.LONGEST_TEXT].replace("\0", ""))


def _choose_reason(error: Exception) -> str:
    match error:
        case OperationRefusedError():
            return error.reason
        case CommitRefusedError():
            return "nft"
        case WireError() | PolicyError():
            return "malformed"
        case _:
            return "state"
