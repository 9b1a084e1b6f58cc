"""The fencing token: each worker that changes a gateway has a higher one, so that a worker that was replaced changes nothing any more."""

from firewall import wire
from firewall.codec import WireError
from gateway.persistent_state import StateDirectory
from gateway.refusals import OperationRefusedError

_MOST_TOKEN = 1 << 63


def claim_token(state: StateDirectory, token: int) -> None:
    """Check the token, and store it if it is higher than the last. Raises WireError, OperationRefusedError or StateError.

    A lower token belongs to a worker that was replaced. A token far above the highest is refused because it would leave no
    higher ones.
    """
    if not 0 <= token < _MOST_TOKEN:
        raise WireError(f"request.token: {token} is out of range")
    if state.token and token > state.token + wire.LEAP_OBEYED:
        raise OperationRefusedError(
            "token", f"token {token} is more than {wire.LEAP_OBEYED} higher than {state.token}, so it cannot be genuine"
        )
    if token < state.token:
        raise OperationRefusedError("token", f"token {token} is older than {state.token}: another worker has taken over")
    if token > state.token:
        state.raise_token(token)
