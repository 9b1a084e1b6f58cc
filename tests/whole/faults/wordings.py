"""Regular expressions for lines of the dashboard that several faults show."""

from typing import Final

SILENT: Final = r"^IPv4 has no primary that answers: nat-1 has not answered the portal since [^.]*"
NOT_FORWARDED: Final = r"No packet of the probe was forwarded: check the forward chain"


def say_link_down(gateway: str, interface: str) -> str:
    """An interface over which members' packets pass has no carrier."""
    return (
        rf"^An interface of {gateway} is down\. {interface}: no carrier\. No packet of a member passes it\. .*4 active members are affected"
    )


def say_no_packets(gateway: str, family: int, why: str) -> str:
    """The gateway that carries the family passes none of it. why: the end of the prober's sentence."""
    return rf"^No IPv{family} packet comes back through {gateway}\. 4 active members are affected\. .* {why}"


def say_no_packets_on_standby(gateway: str, family: int) -> str:
    """The gateway that would take over the family passes none of it."""
    return rf"^No IPv{family} packet comes back through {gateway}\. It is on standby: if it took over, members would be without"


def say_no_packets_anywhere(family: int) -> str:
    """No gateway passes the family."""
    return rf"^No IPv{family} packet comes back through any gateway\. 4 active members are affected\. The uplink or the probe’s target is"


def say_nothing_known(family: int, why: str) -> str:
    """The probe of nat-1 does not work. why: the end of the sentence."""
    return rf"^Nothing shows whether IPv{family} packets pass nat-1\. .*{why}"
