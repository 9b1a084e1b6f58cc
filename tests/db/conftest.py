"""Database tests run on PostgreSQL; nudges are kept instead of sent, where a test does not run a broker."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import LazySettings

from tests import rows


@pytest.fixture(autouse=True)
def _no_broker(settings: LazySettings, tmp_path: Path) -> None:
    """A broker that is not there: no save may fail or wait for it."""
    settings.REDIS_URL = f"unix://{tmp_path}/nobody.sock"


@pytest.fixture
def network(db: None) -> Iterator[rows.Network]:
    """The lab's network as rows."""
    yield rows.network()
