"""The Celery workers: Celery transports ids and saves time, PostgreSQL holds the truth.

Run as `celery -A workers worker` and `celery -A workers beat`.
"""

from workers.app import app

__all__ = ["app"]
