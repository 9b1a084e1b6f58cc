"""Parser of API requests: JSON (RFC 8259) with numbers and texts that a database can store. Raises ParseError."""

import json
from collections.abc import Mapping
from typing import IO, Any

from django.utils.translation import gettext as _
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser, JSONParser


class StrictJsonParser(JSONParser):
    """REST framework's JSON parser, except that it refuses values that Python reads but cannot write again.

    These are lone surrogates (`"\\ud800"`) and numbers beyond the range of floats (`1e999`).
    """

    def parse(self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None) -> dict[str, Any]:
        try:
            found: dict[str, Any] = super().parse(stream, media_type, parser_context)
            json.dumps(found, ensure_ascii=False, allow_nan=False).encode()
        except RecursionError as error:
            raise ParseError(_("This JSON is nested too deeply.")) from error
        except ValueError as error:
            raise ParseError(_("This JSON contains an invalid number or text: %(why)s.") % {"why": error}) from error
        return found


class LargeJsonParser(BaseParser):
    """The same for requests beyond DATA_UPLOAD_MAX_MEMORY_SIZE, which REST framework asks Django to enforce for its own JSON parser only.

    A view set with this parser declares `largest_body`, which is enforced before.
    """

    media_type = JSONParser.media_type

    def parse(self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None) -> dict[str, Any]:
        return StrictJsonParser().parse(stream, media_type, parser_context)
