"""Cache of bounded size: a fixed number of slots, in Redis, or in this process while Redis is unavailable.

It holds what may be forgotten: counts of attempts, codes that were used, and sizes. Each key has one slot, found by a keyed hash,
so an attacker cannot choose which slot to overwrite; two keys with the same slot overwrite each other. Values are JSON: a writer to
Redis can change a count, but cannot run code.
"""

import hashlib
import json
import time
from collections.abc import Callable
from typing import Any, Final

import structlog
from django.conf import settings
from django.core.cache.backends.base import DEFAULT_TIMEOUT, BaseCache
from redis import Redis, RedisError

SLOTS: Final = 65_536
LONGEST: Final = 4_096  # characters of a value
AWAY: Final = 5.0  # seconds until Redis is tried again after a failure
ANSWERS_WITHIN: Final = 0.2  # seconds
log = structlog.get_logger()


class BoundedCache(BaseCache):
    """Django's cache interface over the slots. `LOCATION` is the prefix of the slots' names."""

    def __init__(self, location: str, params: dict[str, Any]) -> None:
        super().__init__(params)
        self._prefix = location
        self._local: dict[str, tuple[float, str]] = {}
        self._redis: Redis | None = None
        self._url = ""
        self._away_until = 0.0

    def add(self, key: str, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        """Store the value unless the key exists already. A slot that holds another key counts as free."""
        slot, digest = self._locate_slot(key, version)
        text, seconds = self._encode_value(digest, value), self._compute_milliseconds(timeout)

        def add_in_redis(redis: Redis) -> bool:
            if redis.set(slot, text, px=seconds, nx=True):
                return True
            return self._decode_value(redis.get(slot), digest) is None and bool(redis.set(slot, text, px=seconds))

        def add_locally() -> bool:
            return self._decode_value(self._read(slot), digest) is None and self._write(slot, text, seconds)

        return self._run_or_fall_back(add_in_redis, add_locally)

    def get(self, key: str, default: Any = None, version: int | None = None) -> Any:
        slot, digest = self._locate_slot(key, version)
        found = self._decode_value(self._run_or_fall_back(lambda redis: redis.get(slot), lambda: self._read(slot)), digest)
        return default if found is None else found[0]

    def set(self, key: str, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> None:
        slot, digest = self._locate_slot(key, version)
        text, seconds = self._encode_value(digest, value), self._compute_milliseconds(timeout)
        self._run_or_fall_back(lambda redis: bool(redis.set(slot, text, px=seconds)), lambda: self._write(slot, text, seconds))

    def delete(self, key: str, version: int | None = None) -> bool:
        slot, digest = self._locate_slot(key, version)
        if self._decode_value(self._run_or_fall_back(lambda redis: redis.get(slot), lambda: self._read(slot)), digest) is None:
            return False
        self._run_or_fall_back(lambda redis: bool(redis.delete(slot)), lambda: self._local.pop(slot, None) is not None)
        return True

    def clear(self) -> None:
        """Clear this process's slots; those in Redis expire by themselves."""
        self._local.clear()

    def _locate_slot(self, key: str, version: int | None) -> tuple[str, str]:
        """Return the name of the key's slot, and the digest by which the slot recognises the key."""
        full = self.make_and_validate_key(key, version=version)
        digest = hashlib.blake2b(full.encode(), key=settings.SECRET_KEY.encode()[:64], digest_size=16).hexdigest()
        return f"{self._prefix}:{int(digest[:8], 16) % SLOTS}", digest

    def _encode_value(self, digest: str, value: Any) -> str:
        text = json.dumps([digest, value])
        if len(text) > LONGEST:
            raise ValueError(f"a value of {len(text)} characters does not fit into a slot of {LONGEST}")
        return text

    def _decode_value(self, text: Any, digest: str) -> list[Any] | None:
        """Return the slot's value for this key as a list of one, or None if the slot is empty or holds another key."""
        found = json.loads(text) if text else None
        return [found[1]] if found and found[0] == digest else None

    def _compute_milliseconds(self, timeout: Any) -> int:
        """Return the timeout in milliseconds, at least one."""
        given = self.default_timeout if timeout is DEFAULT_TIMEOUT else timeout
        return max(1, int((300 if given is None else given) * 1000))

    def _run_or_fall_back[T](self, run_in_redis: Callable[[Redis], T], run_locally: Callable[[], T]) -> T:
        """Use Redis, or this process's slots while Redis is unavailable: then each process counts for itself."""
        if time.monotonic() < self._away_until:
            return run_locally()
        try:
            return run_in_redis(self._connect())
        except (RedisError, OSError) as error:
            self._away_until = time.monotonic() + AWAY
            log.warning("rate limits count in this process only", error=str(error))
            return run_locally()

    def _connect(self) -> Redis:
        if self._redis is None or self._url != settings.REDIS_URL:
            self._url = settings.REDIS_URL
            self._redis = Redis.from_url(
                self._url, socket_timeout=ANSWERS_WITHIN, socket_connect_timeout=ANSWERS_WITHIN, decode_responses=True, retry=None
            )
        return self._redis

    def _read(self, slot: str) -> str | None:
        ends, text = self._local.get(slot, (0.0, ""))
        return text if ends > time.monotonic() else None

    def _write(self, slot: str, text: str, milliseconds: int) -> bool:
        self._local[slot] = time.monotonic() + milliseconds / 1000, text
        return True
