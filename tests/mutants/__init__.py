"""Faults put into a copy of the code on purpose: a test, known by name, has to see each of them (`script/test --mutants`)."""
