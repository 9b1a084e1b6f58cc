"""Schema of all messages of the protocol, read from the classes: what a peer of a version can say.

`python -m tests.wire_schema` writes the file of the newest version anew. Those of released versions never change, so it refuses them.
With `--print` it prints the schema, also of the sources of an older release: of ours it imports only `firewall`.
"""

import hashlib
import json
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin, get_type_hints

from firewall import wire
from firewall.codec import encode
from firewall.digest import DIGEST_VERSION

if TYPE_CHECKING:
    from firewall.wire_versions import Additions  # the release before the first neighbours has no such module

SCHEMAS = Path(__file__).parent / "data" / "wire"
RELEASED: Mapping[int, str] = {8: "82682ba6b99ee8c8e9bf81d45519174c9c51b36dcf0c365a71a62613b870db73"}
"""Versions that a released agent speaks, each with the SHA-256 of its schema's file."""


def describe_protocol() -> dict[str, Any]:
    """Return the schema of the newest version, as JSON data."""
    described: dict[str, Any] = {}
    requests, replies = (_describe_type(union, described) for union in (wire.Request, wire.Reply))
    return {"digests": DIGEST_VERSION, "requests": requests, "replies": replies, "classes": dict(sorted(described.items()))}


def list_reachable(hint: Any) -> set[str]:
    """Return the names of all classes that a value of this type may contain."""
    described: dict[str, Any] = {}
    _describe_type(hint, described)
    return set(described)


def _describe_type(hint: Any, described: dict[str, Any]) -> str:
    """Return the type as text, the same in all versions of Python, and add the classes in it to those described."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return f"{_describe_type(inner[0], described)} {inner[1][0]}..{inner[1][-1]}"
    if origin in (Union, UnionType):
        return " | ".join(sorted(_describe_type(each, described) for each in inner))
    if origin is not None:
        parts = ", ".join("..." if each is ... else _describe_type(each, described) for each in inner)
        return f"{origin.__name__}[{parts}]"
    _describe_class(hint, described)
    return str(hint.__name__)


def _describe_class(hint: Any, described: dict[str, Any]) -> None:
    name = hint.__name__
    if name in described:
        return
    if isinstance(hint, type) and issubclass(hint, Enum):
        described[name] = {"members": {each.name: each.value for each in hint}}
    elif is_dataclass(hint):
        found: dict[str, str] = {}
        described[name] = {"fields": found}
        hints = get_type_hints(hint, include_extras=True)
        for each in fields(hint):
            found[each.name] = f"{_describe_type(hints[each.name], described)}{_describe_default(each)}"
    elif hasattr(hint, "_fields"):
        items: dict[str, str] = {}
        described[name] = {"items": items}
        items |= {each: _describe_type(of, described) for each, of in get_type_hints(hint, include_extras=True).items()}


def _describe_default(of: "Field[Any]") -> str:
    default = of.default_factory() if of.default_factory is not MISSING else of.default
    if default is MISSING:
        return ""
    return f" = {type(default).__name__}()" if is_dataclass(default) else f" = {json.dumps(encode(default), sort_keys=True)}"


def subtract_additions(schema: Mapping[str, Any], added: "Additions") -> dict[str, Any]:
    """Return the schema without what was added: that of the version before."""
    classes = {}
    for name, described in schema["classes"].items():
        if name not in added.classes:
            gone = {"fields": added.fields.get(name, {}), "members": added.members.get(name, ())}
            classes[name] = {
                part: {key: _drop_classes(each, added.classes) for key, each in inner.items() if key not in gone.get(part, ())}
                for part, inner in described.items()
            }
    unions = {part: _drop_classes(schema[part], added.classes) for part in ("requests", "replies")}
    return {**schema, **unions, "classes": classes}


def _drop_classes(described: Any, names: Iterable[str]) -> Any:
    """Return a type's text without these members of its unions."""
    for name in names if isinstance(described, str) else ():
        described = re.sub(rf"\b{name} \| | \| {name}\b", "", described)
    return described


def render_schema(schema: Mapping[str, Any]) -> str:
    """Return the schema as the text of its file."""
    return json.dumps(schema, indent=1, sort_keys=True) + "\n"


def get_schema_path(version: int) -> Path:
    """Return the file of this version's schema."""
    return SCHEMAS / f"version-{version}.json"


def hash_schema(version: int) -> str:
    """Return the SHA-256 of the committed file."""
    return hashlib.sha256(get_schema_path(version).read_bytes()).hexdigest()


def main() -> None:
    """Write the schema of the newest version, or print it."""
    if sys.argv[1:] == ["--print"]:
        sys.stdout.write(render_schema(describe_protocol()))
        return
    if wire.VERSION in RELEASED:
        raise SystemExit(f"version {wire.VERSION} is released: raise VERSION in firewall/wire_versions.py, and name there what it adds")
    get_schema_path(wire.VERSION).write_text(render_schema(describe_protocol()))


if __name__ == "__main__":
    main()
