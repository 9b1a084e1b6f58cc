"""Malformed mails that attack parsers, each in any size.

Mails within the limits must be parsed in time proportional to their size; parsing any of them must end, successfully or not.
"""

from base64 import encodebytes
from collections.abc import Callable
from io import BytesIO
from random import Random
from zipfile import ZIP_DEFLATED, ZipFile

Letter = Callable[[int], bytes]


def mail(body: bytes | str = "Hello", /, **headers: str) -> bytes:
    """Build a mail with these headers, `_` for `-`; text is encoded as UTF-8."""
    told = {"From": "Selin <selin@lindenhof.example>", "Message_ID": "<one@lindenhof.example>", "Subject": "Hello"} | headers
    head = "".join(f"{name.replace('_', '-')}: {value}\n" for name, value in told.items() if value)
    return f"{head}\n".encode() + (body.encode() if isinstance(body, str) else body)


def html(body: str) -> bytes:
    return mail(body, Content_Type="text/html; charset=utf-8")


def join_parts(parts: bytes) -> bytes:
    """Build a multipart mail with the boundary `--b`."""
    return mail(parts, Content_Type="multipart/mixed; boundary=b")


def deep(levels: int) -> bytes:
    return b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (each, each) for each in range(levels)) + b"\nHello"


def zip_bomb(size: int) -> bytes:
    """Build a mail with a small file that would unpack to `size` zeros."""
    file = BytesIO()
    with ZipFile(file, "w", ZIP_DEFLATED) as packed:
        packed.writestr("zeros", bytes(size))
    return mail(encodebytes(file.getvalue()), Content_Type='application/zip; name="a.zip"', Content_Transfer_Encoding="base64")


# within the limits at 200 and at 3200
GROWING: dict[str, Letter] = {
    "unterminated quotes": lambda n: mail(To='"a@b.example, ' * n),
    "escaped quotes": lambda n: mail(To='"' + '\\"' * 5 * n, Cc='"' * 10 * n),
    "deep comments": lambda n: mail(To="(" * 15 * n + "a@b.example"),
    "closed comments": lambda n: mail(To="(" * 5 * n + ")" * 5 * n + "a@b.example"),
    "angles": lambda n: mail(To="<" * 15 * n + "@" * n),
    "no addresses": lambda n: mail(To="a, " * 5 * n),
    "groups": lambda n: mail(To="g:;" * 5 * n),
    "encoded words": lambda n: mail(Subject="=?utf-8?q?a?= " * n, To="=?utf-8?b?" * n),
    "halves of encoded words": lambda n: mail(Subject="=?" * 5 * n, To="=?utf-8?q?" * n),
    "references": lambda n: mail(References="<a@b> " * n + "<" * n),
    "many headers": lambda n: b"X-A: a\n" * n + mail(),
    "a long header": lambda n: mail(Subject="a " * 5 * n),
    "a folded header": lambda n: b"Subject:" + b" a\n" * 5 * n + mail(Subject=""),
    "boundaries": lambda n: join_parts(b"--b\n" * 20 * n),
    "almost boundaries": lambda n: join_parts(b"--b\n\n" + b"--b x\n" * 20 * n),
    "broken base64": lambda n: mail("a=b%c" * 20 * n, Content_Type="image/png", Content_Transfer_Encoding="base64"),
    "broken quoted-printable": lambda n: mail("=x=\n=" * 20 * n, Content_Transfer_Encoding="quoted-printable"),
    "NULs": lambda n: mail("\0a" * 20 * n, Subject="\0a" * n),
    "lines": lambda n: mail("\n" * 50 * n),
    "carriage returns": lambda n: mail("\r" * 50 * n),
    "punycode": lambda n: mail("x" * 20 * n + "-" + "y" * 20 * n, Content_Type="text/plain; charset=punycode"),
    "open tags": lambda n: html("Hello" + "<b>" * n),
    "tags that end by themselves": lambda n: html("<p><li><td>" * n),
    "half tags": lambda n: html("Hello" + "<a " * n + "<!--" * n),
    "comments in costly HTML": lambda n: html("Hello" + "<div>" * 501 + "<!--" * 20 * n),
    "scripts in costly HTML": lambda n: html("Hello" + "<div>" * 501 + "<script><style " * 5 * n),
    "blanks in costly HTML": lambda n: html("Hello" + "<div>" * 501 + "</title" + " " * 50 * n + "< " * 20 * n),
    "attributes": lambda n: html("<p " + "a " * n + ">"),
    "entities": lambda n: html("&amp;&#x20;" * 5 * n),
    "ampersands": lambda n: html("&" * 50 * n),
    "no-break spaces": lambda n: html("a&nbsp;" * 20 * n),
    "ampersands in an attribute": lambda n: html('<a href="?' + "&amp;" * n + '">a</a>'),
}
# beyond the limits, or only ugly
BREAKING: dict[str, Letter] = {
    "addresses": lambda n: mail(To=", ".join(f"a{each}@b.example" for each in range(n))),
    "a header of octets": lambda n: mail(Subject="a" * 3000 * n),
    "a folded header": lambda n: b"Subject: a\n" + b" a\n" * 100 * n + b"\nHello",
    "deep parts": deep,
    "many parts": lambda n: join_parts(b"--b\n\na\n" * n),
    "parts with endless parameters": lambda n: join_parts((b"--b\nContent-Type: text/plain; x%d=" + b'"a' * 900 + b"\n\na\n") * (n // 10)),
    "comments in a media type": lambda n: mail(Content_Type="text/plain; " + "(" * n),
    "many parameters": lambda n: mail(Content_Type="text/plain; " + "; ".join(f'a{each}*{each}="x"' for each in range(n))),
    "lines": lambda n: b"\n" * 5000 * n,
    "one line": lambda n: mail("a" * 5000 * n),
    "open tags": lambda n: html("<div>" * n),
    "crossed tags": lambda n: html("<a><b><i><p>" * n),
    "half of UTF-16": lambda n: mail(b"\xd8\x00" * n + b"\xd8", Content_Type="text/plain; charset=utf-16-be"),
    "halves by UTF-7": lambda n: mail("+2AA-" * n, Subject="=?utf-7?q?+2AA-?=", Content_Type="text/plain; charset=utf-7"),
    "a charset that is none": lambda n: mail("a", Content_Type=f"text/plain; charset={'x' * n}"),
    "a codec that is no charset": lambda n: mail("a" * n, Content_Type="text/plain; charset=zlib"),
    "random octets": lambda n: Random(n).randbytes(100 * n),
    "random octets in base64": lambda n: mail(encodebytes(Random(n).randbytes(n)), Content_Transfer_Encoding="base64"),
    "a zip bomb": lambda n: zip_bomb(20_000 * n),
    "nothing": lambda n: b" " * (n - 1),
    "headers alone": lambda n: b"Subject: " + b"a" * n,
    "no header": lambda n: b"\n" + b"a" * n,
    "a colon": lambda n: b":" * n,
}
