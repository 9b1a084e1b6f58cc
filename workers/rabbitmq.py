"""RabbitMQ for workers: quorum queues, and nothing that they do not need.

A quorum queue is kept by a majority of the nodes, each on its disk. A worker that dies closes its connection, and RabbitMQ gives what
it had in work to another one at once.
"""

from typing import Any, Final

from celery.worker.consumer import Consumer

from apps.lib import message_broker

HEARTBEAT: Final = 20  # seconds after which RabbitMQ takes a worker for dead whose machine is gone
ANSWER_SECONDS: Final = 10.0


class TaskConsumer(Consumer):
    """Consumer without delayed delivery, for which Celery would make 28 more queues: no task has a time at which it begins."""

    class Blueprint(Consumer.Blueprint):  # type: ignore[misc, valid-type]  # celery's types take it for a variable
        default_steps = [each for each in Consumer.Blueprint.default_steps if not each.endswith(":DelayedDelivery")]


def build_settings() -> dict[str, Any]:
    """Return what Celery has to be told of RabbitMQ."""
    return {
        "broker_transport_options": {"confirm_publish": True},
        "broker_use_ssl": message_broker.build_tls_options(),
        "broker_connection_timeout": ANSWER_SECONDS,
        "broker_heartbeat": HEARTBEAT,
        "broker_connection_max_retries": None,  # for ever: a worker waits for its broker
        "worker_consumer": f"{__name__}:TaskConsumer",
        "worker_enable_remote_control": False,  # its queues are transient ones, which RabbitMQ is about to give up
        "worker_cancel_long_running_tasks_on_connection_loss": False,  # a rollout goes on; the database says who does it
    }
