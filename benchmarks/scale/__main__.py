"""Process of one part of `script/bench scale`: prints its measurements as JSON, on the last line. Arguments: the part, and its options."""

import json
import sys
from collections.abc import Callable

import django

django.setup()

from benchmarks.scale import groups, million  # noqa: E402 - they import models

PARTS: dict[str, Callable[..., dict[str, float]]] = {"million": million.measure, "groups": groups.measure}

if __name__ == "__main__":
    print(json.dumps(PARTS[sys.argv[1]](**json.loads(sys.argv[2]))))
