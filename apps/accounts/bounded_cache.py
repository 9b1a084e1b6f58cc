"""Cache of bounded size: a fixed number of slots, in Redis, or in this process while Redis is unavailable.

It holds what may be forgotten: counts of attempts, codes that were used, and sizes. Each key may use either of two slots, found by a
keyed hash, so an attacker cannot choose which slots to overwrite; a key overwrites another one only where both its slots hold other
keys (two-way set-associative). Values are JSON: a writer to Redis can change a count, but cannot run code.
"""

import hashlib
import json
import time
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import structlog
from django.conf import settings
from django.core.cache import caches
from django.core.cache.backends.base import DEFAULT_TIMEOUT, BaseCache
from redis import Redis, RedisError

from apps.accounts.cache_slots import PROCESS_SLOTS, CacheSlotStore, RedisCacheSlots

SLOTS: Final = 65_536
LONGEST: Final = 4_096  # characters of a value
AWAY: Final = 5.0  # seconds until Redis is tried again after a failure
ANSWERS_WITHIN: Final = 0.2  # seconds
log = structlog.get_logger()


class CandidateSlots(NamedTuple):
    """The two slots that a key may use, what they hold, and the digest by which a slot recognises the key."""

    names: tuple[str, str]
    texts: list[str | None]
    digest: str

    def find(self) -> tuple[str, Any] | None:
        """Return the name of the slot that holds the key, and its value; None if neither holds it."""
        for name, text in zip(self.names, self.texts, strict=True):
            digest, value = json.loads(text) if text else ("", None)
            if digest == self.digest:
                return name, value
        return None

    def choose_slot_to_fill(self) -> tuple[str, bool]:
        """Return the slot for a key that neither holds: an empty one, else the first; and whether it is empty."""
        empty = [name for name, text in zip(self.names, self.texts, strict=True) if text is None]
        return (empty[0], True) if empty else (self.names[0], False)


class BoundedCache(BaseCache):
    """Django's cache interface over the slots. `LOCATION` is the prefix of the slots' names."""

    def __init__(self, location: str, params: dict[str, Any]) -> None:
        super().__init__(params)
        self._prefix = location
        self._redis: Redis | None = None
        self._url = ""
        self._away_until = 0.0

    def add(self, key: str, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        """Store the value unless the key exists already. Also returns False if an empty slot was taken between reading and writing."""

        def add(store: CacheSlotStore) -> bool:
            found = self._read_candidates(store, key, version)
            if found.find():
                return False
            name, empty = found.choose_slot_to_fill()
            return store.write(name, self._encode_value(found.digest, value), self._compute_milliseconds(timeout), only_if_empty=empty)

        return self._run_or_fall_back(add)

    def get(self, key: str, default: Any = None, version: int | None = None) -> Any:
        found = self._run_or_fall_back(lambda store: self._read_candidates(store, key, version)).find()
        return found[1] if found else default

    def set(self, key: str, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> None:
        self.change(key, lambda _held: (value, timeout), version)

    def change(self, key: str, compute: Callable[[Any], tuple[Any, Any] | None], version: int | None = None) -> None:
        """Store what `compute` makes of the value (None: there is none): another one and its timeout, or None to leave it as it is.

        In one reading and one writing, between which another process may write.
        """

        def write(store: CacheSlotStore) -> None:
            found = self._read_candidates(store, key, version)
            held = found.find()
            if changed := compute(held[1] if held else None):
                name = held[0] if held else found.choose_slot_to_fill()[0]
                store.write(name, self._encode_value(found.digest, changed[0]), self._compute_milliseconds(changed[1]))

        self._run_or_fall_back(write)

    def delete(self, key: str, version: int | None = None) -> bool:
        def delete(store: CacheSlotStore) -> bool:
            held = self._read_candidates(store, key, version).find()
            if held:
                store.delete(held[0])
            return held is not None

        return self._run_or_fall_back(delete)

    def clear(self) -> None:
        """Clear this process's slots; those in Redis expire by themselves."""
        PROCESS_SLOTS.clear()

    def _read_candidates(self, store: CacheSlotStore, key: str, version: int | None) -> CandidateSlots:
        full = self.make_and_validate_key(key, version=version)
        digest = hashlib.blake2b(full.encode(), key=settings.SECRET_KEY.encode()[:64], digest_size=16).hexdigest()
        names = f"{self._prefix}:{int(digest[:8], 16) % SLOTS}", f"{self._prefix}:{int(digest[8:16], 16) % SLOTS}"
        return CandidateSlots(names, store.read(names), digest)

    def _encode_value(self, digest: str, value: Any) -> str:
        text = json.dumps([digest, value])
        if len(text) > LONGEST:
            raise ValueError(f"a value of {len(text)} characters does not fit into a slot of {LONGEST}")
        return text

    def _compute_milliseconds(self, timeout: Any) -> int:
        """Return the timeout in milliseconds, at least one."""
        given = self.default_timeout if timeout is DEFAULT_TIMEOUT else timeout
        return max(1, int((300 if given is None else given) * 1000))

    def _run_or_fall_back[T](self, run: Callable[[CacheSlotStore], T]) -> T:
        """Use Redis, or this process's slots while Redis is unavailable: then each process counts for itself."""
        if time.monotonic() < self._away_until:
            return run(PROCESS_SLOTS)
        try:
            return run(RedisCacheSlots(self._connect()))
        except (RedisError, OSError) as error:
            self._away_until = time.monotonic() + AWAY
            log.warning("rate limits count in this process only", error=str(error))
            return run(PROCESS_SLOTS)

    def _connect(self) -> Redis:
        if self._redis is None or self._url != settings.REDIS_URL:
            self._url = settings.REDIS_URL
            self._redis = Redis.from_url(
                self._url, socket_timeout=ANSWERS_WITHIN, socket_connect_timeout=ANSWERS_WITHIN, decode_responses=True, retry=None
            )
        return self._redis


def get_bounded_cache() -> BoundedCache:
    """Return the cache of this thread."""
    found = caches["default"]
    if not isinstance(found, BoundedCache):
        raise TypeError(f"the cache “default” is {type(found)}, which does not bound its size")
    return found
