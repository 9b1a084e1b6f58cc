"""Static files: an address names its content, is kept for a year, and comes compressed; pages come compressed too."""

import gzip
import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from django.conf import LazySettings, settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse, StreamingHttpResponse
from django.templatetags.static import static
from django.test import Client, RequestFactory

from apps.lib.web.page_compression import PageCompressionMiddleware

SOURCES = settings.ROOT / "static"
NAMES = sorted(str(path.relative_to(SOURCES)) for path in SOURCES.rglob("*") if path.suffix in (".css", ".js", ".svg"))
ID = "X-Request-ID"
TEXT = "A page with some words that come again and again. " * 100


@pytest.fixture
def client() -> Client:
    return Client(headers={"host": "localhost", "accept-encoding": "gzip, br"})


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_at_an_address_that_names_its_content_and_is_kept_for_a_year(name: str, client: Client) -> None:
    content = (SOURCES / name).read_bytes()
    address = static(name)
    assert sha256(content).hexdigest()[:12] in address
    plain = client.get(address, headers={"accept-encoding": "identity"})
    assert plain.status_code == 200 and plain.content == content
    assert plain["Cache-Control"] == "public, max-age=31536000, immutable"
    assert "Content-Encoding" not in plain


@pytest.mark.parametrize("name", [name for name in NAMES if (SOURCES / name).stat().st_size > 500])
def test_a_file_is_compressed_for_who_accepts_it(name: str, client: Client) -> None:
    response = client.get(static(name))
    assert (response["Content-Encoding"], response["Vary"]) == ("gzip", "Accept-Encoding")
    assert gzip.decompress(response.content) == (SOURCES / name).read_bytes()
    assert len(response.content) < 0.7 * (SOURCES / name).stat().st_size
    assert int(response["Content-Length"]) == len(response.content)


def test_a_head_request_gets_the_same_fields_and_no_content(client: Client) -> None:
    whole, head = client.get(static("icons.svg")), client.head(static("icons.svg"))
    assert head.content == b"" and {**head.headers, ID: ""} == {**whole.headers, ID: ""}


def test_an_address_of_another_release_gets_the_present_file_and_nobody_keeps_it(client: Client) -> None:
    response = client.get("/static/netzwart/page.0123456789ab.css")
    assert gzip.decompress(response.content) == (SOURCES / "netzwart/page.css").read_bytes()
    assert response["Cache-Control"] == "no-cache"


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["netzwart/none.0123456789ab.css", "../manage.0123456789ab.py", "netzwart/../../manage.0123456789ab.py"])
def test_what_is_no_static_file_is_not_found(path: str, client: Client) -> None:
    assert client.get(f"/static/{path}").status_code == 404


def test_a_template_that_names_a_file_which_is_not_there_fails() -> None:
    with pytest.raises(ValueError, match=r"no static file netzwart/nothing\.css"):
        static("netzwart/nothing.css")


def test_while_debugging_addresses_stay_as_the_files_are_called(settings: LazySettings) -> None:
    settings.DEBUG = True
    assert static("netzwart/page.css") == "/static/netzwart/page.css"


def iter_texts(directory: Path, *suffixes: str) -> Iterator[str]:
    return (path.read_text() for path in directory.rglob("*") if path.suffix in suffixes)


def test_no_file_and_no_template_names_a_static_file_itself() -> None:
    styles = "".join(iter_texts(SOURCES, ".css"))
    assert set(re.findall(r"url\(\s*[\"']?(data:|#)?", styles)) == {"data:"} and "@import" not in styles
    everything = [*iter_texts(SOURCES / "netzwart", ".js"), *iter_texts(settings.ROOT / "templates", ".html")]
    assert not any("/static/" in text for text in everything)


def compress(response: HttpResponseBase, accepted: str = "gzip") -> HttpResponseBase:
    def view(_request: HttpRequest) -> HttpResponseBase:
        return response

    answer = PageCompressionMiddleware(view)(RequestFactory(headers={"accept-encoding": accepted}).get("/"))
    assert isinstance(answer, HttpResponseBase)
    return answer


def test_a_page_is_compressed_and_its_length_says_little() -> None:
    compressed = [b"".join(compress(HttpResponse(TEXT))) for _each in range(20)]
    assert all(gzip.decompress(each).decode() == TEXT and len(each) < 400 for each in compressed)
    assert len(set(map(len, compressed))) > 1


def test_what_is_no_page_and_who_does_not_accept_it_gets_it_as_it_is() -> None:
    given: list[HttpResponseBase] = [
        JsonResponse({"text": TEXT}),
        StreamingHttpResponse([TEXT]),
        HttpResponse(TEXT, content_type="text/csv"),
    ]
    assert not any("Content-Encoding" in compress(each).headers for each in given)
    assert "Content-Encoding" not in compress(HttpResponse(TEXT), accepted="identity").headers
