"""The workers: Celery carries ids and speed, PostgreSQL holds the truth. `celery -A workers worker` and `celery -A workers beat`."""

from workers.app import app

__all__ = ["app"]
