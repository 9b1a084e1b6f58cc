"""The broker of tasks: RabbitMQ (`NETZWART_BROKER_URL`) or, if that is not set, the Redis that also counts attempts to sign in.

What both need to be told lies here; queues and workers are configured in `workers.app`.
"""

import ssl
from typing import Any, Final

from django.conf import settings

QUORUM: Final = {"x-queue-type": "quorum"}
"""Arguments of a queue that a majority of RabbitMQ's nodes keeps on their disks."""


def is_rabbitmq() -> bool:
    """True if the broker is RabbitMQ."""
    return str(settings.BROKER_URL).startswith("amqp")


def get_broker_name() -> str:
    """Return the name of the broker's program."""
    return "RabbitMQ" if is_rabbitmq() else "Redis"


def get_broker_url() -> str:
    """Return the broker's addresses in Celery's form."""
    return build_broker_url(settings.BROKER_URL or settings.REDIS_URL)


def build_broker_url(url: str) -> str:
    """Return Celery's form of addresses: a unix socket of Redis has the scheme `redis+socket`."""
    return url.replace("unix://", "redis+socket://", 1)


def build_tls_options() -> dict[str, Any] | bool:
    """Return kombu's `ssl`. Without it, kombu would take any certificate; the authorities are those of the machine (SSL_CERT_FILE)."""
    if not str(settings.BROKER_URL).startswith("amqps"):
        return False
    return {"cert_reqs": ssl.CERT_REQUIRED, "server_hostname": None}  # None: kombu puts the host of the address there


def build_rabbitmq_options(seconds: float) -> dict[str, Any]:
    """Return kombu's options: a message counts as sent when RabbitMQ has it safe; seconds: for each answer."""
    return {"confirm_publish": True, "read_timeout": seconds, "write_timeout": seconds}
