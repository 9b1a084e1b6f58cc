"""Stores of the bounded cache's slots: Redis, and the memory of this process. Both read, write and delete texts by a slot's name."""

import time
from collections.abc import Sequence
from threading import Lock
from typing import Final, Protocol, cast

from redis import Redis


class CacheSlotStore(Protocol):
    """Texts by names of slots; each text expires."""

    def read(self, names: Sequence[str]) -> list[str | None]:
        """Return the texts of the slots, None for an empty slot."""

    def write(self, name: str, text: str, milliseconds: int, *, only_if_empty: bool = False) -> bool:
        """Write the slot, and return whether it was written."""

    def delete(self, name: str) -> None:
        """Empty the slot."""


class RedisCacheSlots:
    """Slots in Redis, shared by all processes. Raises redis.RedisError and OSError while it is unavailable."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    def read(self, names: Sequence[str]) -> list[str | None]:
        return cast("list[str | None]", self._redis.mget(names))  # decode_responses makes them text

    def write(self, name: str, text: str, milliseconds: int, *, only_if_empty: bool = False) -> bool:
        return bool(self._redis.set(name, text, px=milliseconds, nx=only_if_empty))

    def delete(self, name: str) -> None:
        self._redis.delete(name)


class ProcessCacheSlots:
    """Slots in the memory of this process, shared by its threads."""

    def __init__(self) -> None:
        self._texts: dict[str, tuple[float, str]] = {}
        self._lock = Lock()

    def read(self, names: Sequence[str]) -> list[str | None]:
        return [self._read(name) for name in names]

    def write(self, name: str, text: str, milliseconds: int, *, only_if_empty: bool = False) -> bool:
        with self._lock:
            if only_if_empty and self._read(name) is not None:
                return False
            self._texts[name] = time.monotonic() + milliseconds / 1000, text
            return True

    def delete(self, name: str) -> None:
        self._texts.pop(name, None)

    def clear(self) -> None:
        """Empty all slots."""
        self._texts.clear()

    def list_texts(self) -> list[str]:
        """Return the texts of all slots, including expired ones: what this store keeps in memory."""
        return [text for _ends, text in self._texts.values()]

    def _read(self, name: str) -> str | None:
        ends, text = self._texts.get(name, (0.0, ""))
        return text if ends > time.monotonic() else None


PROCESS_SLOTS: Final = ProcessCacheSlots()
