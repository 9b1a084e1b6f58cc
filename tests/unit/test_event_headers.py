"""Conversion of a request's header fields to WSGI variables."""

from apps.events.wsgi_environ import build_variables


def test_fields_become_variables_and_a_repeated_one_is_told_with_commas() -> None:
    given = [(b"x-forwarded-for", b"192.0.2.1"), (b"x-forwarded-for", b"10.0.0.1"), (b"cookie", b"a=1"), (b"cookie", b"b=2")]
    assert build_variables(given) == {"HTTP_X_FORWARDED_FOR": "192.0.2.1,10.0.0.1", "HTTP_COOKIE": "a=1; b=2"}


def test_a_name_with_an_underscore_does_not_pass_for_one_that_a_proxy_wrote() -> None:
    assert build_variables([(b"x_forwarded_for", b"172.31.0.1"), (b"x-forwarded-for", b"192.0.2.1")]) == {
        "HTTP_X_FORWARDED_FOR": "192.0.2.1"
    }
