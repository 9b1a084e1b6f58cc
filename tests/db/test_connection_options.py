"""Options of every connection to PostgreSQL."""

import pytest
from django.db import connection

from portal.settings import NO_COMPILING, parse_database_url


@pytest.mark.django_db
def test_postgresql_does_not_compile_the_portals_queries() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SHOW jit")
        assert cursor.fetchone() == ("off",)


def test_options_of_the_address_come_last_so_that_they_count() -> None:
    options = parse_database_url("postgresql:///n?options=-c%20jit%3Don")["OPTIONS"]
    assert isinstance(options, dict)
    assert options["options"] == f"{NO_COMPILING} -c jit=on"
