"""Benchmarks: one form for all. `script/bench --list` names them, `docs/benchmarks.md` keeps their figures."""
