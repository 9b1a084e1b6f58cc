"""Checks NETZWART_BROKER_URL: one address of Redis, or one or several of the nodes of a RabbitMQ, with semicolons between them."""

from typing import Final
from urllib.parse import urlsplit

REDIS: Final = ("redis", "rediss", "unix")
RABBITMQ: Final = ("amqp", "amqps")
EXAMPLE: Final = "amqp://USER:PASSWORD@HOST:5672/VHOST"


def parse_broker_addresses(text: str) -> str:
    """Return the addresses, without space around them. Raises ValueError with a sentence for people, which repeats no password."""
    addresses = [part for each in text.split(";") if (part := each.strip())]
    schemes = {_check_address(each) for each in addresses}
    if len(schemes) > 1:
        raise ValueError(f"All addresses must begin alike, not with {' and '.join(f'{each}://' for each in sorted(schemes))}.")
    if len(addresses) > 1 and schemes != {"amqp"}:
        raise ValueError("Only amqp:// may have several addresses. With amqps://, let one name lead to all nodes.")
    return ";".join(addresses)


def _check_address(address: str) -> str:
    """Return the scheme of one address."""
    try:
        parts = urlsplit(address)
        is_whole = bool(parts.hostname) and parts.port != 0 if parts.scheme != "unix" else bool(parts.path)
    except ValueError:
        raise ValueError(f"Write each address like {EXAMPLE}; / @ : ; in a password are %2F %40 %3A %3B.") from None
    if parts.scheme not in REDIS + RABBITMQ:
        raise ValueError(f"Each address must begin with amqp://, amqps://, redis://, rediss:// or unix://, like {EXAMPLE}.")
    if not is_whole:
        raise ValueError(f"An address has no host: write it like {EXAMPLE}.")
    return parts.scheme
