"""Members' devices for RADIUS authentication by MAC address, as FreeRADIUS's `users` file (users(5), rlm_files).

User name and password are the MAC address as switches and access points send it (RFC 3580, section 3.21: with hyphens, upper
case). The file contains no text that people wrote.
"""

from collections.abc import Iterable, Iterator, Mapping

from apps.desk.exports.device_addresses import ExportDevice
from apps.lib.fields import Prefix


def iter_radius_entries(
    cards: Iterable[tuple[int, ExportDevice]], addresses: Mapping[str, Prefix], prefixes: Mapping[str, Prefix]
) -> Iterator[str]:
    """Yield an entry for each device, with its member's number as Class, which comes back in accounting (RFC 2865, section 5.25).

    addresses, prefixes: the device's address or prefix by MAC address; the first where there are several.
    """
    for member, card in cards:
        user = card.mac.replace(":", "-").upper()
        replies = [f'Class := "M-{member}"']
        if address := addresses.get(card.mac):
            replies.append(f"Framed-IP-Address := {address.network_address}")
        if prefix := prefixes.get(card.mac):
            replies.append(f"Delegated-IPv6-Prefix := {prefix}")
        yield f'{user} Cleartext-Password := "{user}"\n' + ",\n".join(f"\t{reply}" for reply in replies) + "\n\n"
