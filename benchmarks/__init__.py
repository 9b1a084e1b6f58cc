"""Benchmarks in one common form. `script/bench --list` names them; `docs/benchmarks.md` holds their figures."""
