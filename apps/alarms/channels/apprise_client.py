"""The one place that speaks with apprise, which knows the ways of some hundred services (its documentation lists the addresses).

It is imported when it is used: it takes 0.1 s, which no other page has to wait for.
"""

from typing import Final

from apps.lib.foreign_text import make_printable

LONGEST_ERROR: Final = 300


def mask_target(target: str) -> str:
    """Return the address with its secrets masked; "" if apprise does not know this kind of address."""
    import apprise

    made = apprise.Apprise.instantiate(target, suppress_exceptions=True)
    return "" if made is None else str(made.url(privacy=True)).partition("?")[0][:LONGEST_ERROR]  # type: ignore[no-untyped-call]  # apprise has few types


def send_message(target: str, title: str, text: str) -> str:
    """Send now, which may take as long as the service's own limits. Returns "" if it was taken, else the reason."""
    import apprise

    service = apprise.Apprise()
    if not service.add(target):
        return "apprise does not know this address"
    with apprise.LogCapture(level=apprise.logging.INFO, fmt="%(message)s") as said:  # type: ignore[no-untyped-call]
        done = service.notify(title=title, body=text)
        return "" if done else _find_reason(said.getvalue(), target)


def _find_reason(log: str, target: str) -> str:
    """Return the last line that apprise wrote, without the address, which may hold a password."""
    lines = [line for line in log.splitlines() if line.strip()]
    return make_printable((lines[-1] if lines else "the service did not take it").replace(target, "…"), LONGEST_ERROR)
