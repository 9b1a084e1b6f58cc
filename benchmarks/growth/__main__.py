"""`python -m benchmarks.growth MEMBERS`: what `in_kernel` measures, as JSON, in this process and its network namespace."""

import json
import sys

from benchmarks.growth import in_kernel

print(json.dumps(in_kernel.measure(int(sys.argv[1]))))
