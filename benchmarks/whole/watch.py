"""Receives confirmations of steps from the database itself, as any other client would: by NOTIFY, when the worker's transaction
is committed.

The time of a confirmation is when this process receives it, on the same clock as the commits: never earlier than a page could
show it.
"""

import time
from collections import defaultdict

import psycopg

CHANNEL = "step_confirmed"
TRIGGER = f"""
    CREATE OR REPLACE FUNCTION {CHANNEL}() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_notify('{CHANNEL}', NEW.rollout_id || ' ' || NEW.gateway_id); RETURN NULL; END $$;
    CREATE OR REPLACE TRIGGER {CHANNEL} AFTER UPDATE OF state ON deployments_rolloutstep
    FOR EACH ROW WHEN (NEW.state = 'confirmed') EXECUTE FUNCTION {CHANNEL}();
"""
SAW = """
    SELECT pg_visible_in_snapshot(%s::xid8, v.snapshot)
    FROM deployments_rollout r JOIN deployments_revision v ON v.id = r.revision_id WHERE r.id = %s
"""


class Confirmations:
    """Confirmations, received from the moment this object is made."""

    def __init__(self, url: str, gateways: int) -> None:
        self._connection = psycopg.connect(url, autocommit=True)
        self._asking = psycopg.connect(url, autocommit=True)
        self._gateways = gateways
        self._heard: dict[int, dict[int, float]] = defaultdict(dict)
        self._connection.execute(TRIGGER)
        self._connection.execute(f"LISTEN {CHANNEL}")

    def close(self) -> None:
        """Stop listening."""
        self._connection.close()
        self._asking.close()

    def wait(self, xid: str, *, seconds: float = 600) -> tuple[float, int]:
        """Return the Unix time when the last gateway confirmed a revision that saw this transaction, and the id of its rollout."""
        give_up = time.monotonic() + seconds
        self._heard.clear()
        confirmed: dict[int, float] = {}
        while (left := give_up - time.monotonic()) > 0:
            for rollout, gateway in self._receive(left):
                if gateway not in confirmed and self._has_seen(xid, rollout):
                    confirmed[gateway] = self._heard[rollout][gateway]
                if len(confirmed) == self._gateways:
                    return max(confirmed.values()), rollout
        raise SystemExit(f"transaction {xid} was not confirmed by all gateways within {seconds:.0f} s")

    def _receive(self, seconds: float) -> list[tuple[int, int]]:
        pairs = []
        for told in self._connection.notifies(timeout=seconds, stop_after=1):
            now = time.time()
            rollout, gateway = map(int, told.payload.split())
            self._heard[rollout][gateway] = now
            pairs.append((rollout, gateway))
        return pairs

    def _has_seen(self, xid: str, rollout: int) -> bool:
        row = self._asking.execute(SAW, (xid, rollout)).fetchone()
        return bool(row and row[0])
