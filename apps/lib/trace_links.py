"""Requests whose changes no rollout has brought yet, by their traces: a rollout that brings several links to each of them.

A list in Redis, only used while traces are on. A request is noted after its commit and before its task is sent, and looked up before
the database is read: so a rollout never links to a request whose change it lacks. What Redis loses is a link, no change.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import Final, cast

from django.conf import settings
from redis import Redis, RedisError
from redis.backoff import NoBackoff
from redis.retry import Retry

from apps.lib import trace_timing

KEY: Final = "netzwart:trace-links"
MOST_LINKS: Final = 100  # older ones are forgotten; a span of OpenTelemetry has at most 128
KEEP_SECONDS: Final = 600
REDIS_SECONDS: Final = 0.1  # for connecting and for the answer: a dead Redis delays a save by so much more


@dataclass
class WaitingRequests:
    """The requests that one task has found, as W3C traceparents, each followed by a blank and the group if it concerns only one.

    group: the only one that the task looks at. Requests that concern every group are linked to, but stay for their own task.
    """

    found: Sequence[str]
    group: int | None = None
    claimed: Sequence[str] | None = None  # by the first rollout that the task opens; its other groups link to the same
    left: bool = False  # to a later rollout, because another worker is busy with a group


_waiting: ContextVar[WaitingRequests | None] = ContextVar("waiting_requests", default=None)


@cache
def _connect(url: str) -> Redis:
    once = Retry(NoBackoff(), 0)  # redis-py would try four times, with pauses
    return Redis.from_url(url, socket_timeout=REDIS_SECONDS, socket_connect_timeout=REDIS_SECONDS, retry=once, decode_responses=True)


def note_request(group: int | None = None) -> None:
    """Note the current request, if it is traced. Call it after the commit. group: the only one that it concerns."""
    if not (traceparent := trace_timing.get_traceparent()):
        return
    try:
        with _connect(settings.REDIS_URL).pipeline() as pipeline:
            pipeline.rpush(KEY, traceparent if group is None else f"{traceparent} {group}")
            pipeline.ltrim(KEY, -MOST_LINKS, -1)
            pipeline.expire(KEY, KEEP_SECONDS)
            pipeline.execute()
    except (RedisError, OSError):
        return  # the task that is sent next finds the same, and logs it


@contextmanager
def find_waiting_requests(group: int | None = None) -> Iterator[Sequence[str]]:
    """Find the noted requests, for the rollouts that are opened inside. Call it before the database is read. group: the only one looked at.

    At the end they are forgotten, unless they were left: the gateways already run their changes, or never will.
    """
    noted = _read() if trace_timing.are_traces_on() else ()
    waiting = WaitingRequests([each for each in noted if group is None or _get_group(each) in ("", str(group))], group)
    token = _waiting.set(waiting)
    try:
        yield waiting.found
    finally:
        _waiting.reset(token)
    if waiting.claimed is None and not waiting.left:
        _claim(waiting)


def _get_group(noted: str) -> str:
    return noted.partition(" ")[2]


def _read() -> Sequence[str]:
    try:
        return cast("list[str]", _connect(settings.REDIS_URL).lrange(KEY, 0, -1))
    except (RedisError, OSError):
        return ()


def _claim(waiting: WaitingRequests) -> Sequence[str]:
    """Remove the requests from the list; return the traceparents of those that no other worker had removed."""
    staying = [each for each in waiting.found if waiting.group is not None and not _get_group(each)]
    claimed = [each for each in waiting.found if each not in staying]
    if not claimed:
        return staying
    try:
        with _connect(settings.REDIS_URL).pipeline() as pipeline:
            for each in claimed:
                pipeline.lrem(KEY, 1, each)
            removed = [each.partition(" ")[0] for each, number in zip(claimed, pipeline.execute(), strict=True) if number]
    except (RedisError, OSError):
        return ()
    return [*staying, *removed]


def link_waiting_requests() -> None:
    """Link the current span to the requests whose changes the rollout brings. Call it when the rollout is opened."""
    if waiting := _waiting.get():
        if waiting.claimed is None:
            waiting.claimed = _claim(waiting)
        trace_timing.add_links(waiting.claimed)


def leave_waiting_requests() -> None:
    """Leave the requests to a later rollout, because this worker cannot bring their changes to every group now."""
    if waiting := _waiting.get():
        waiting.left = True
