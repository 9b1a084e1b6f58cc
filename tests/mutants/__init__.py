"""Mutation tests: faults put into a copy of the code on purpose; a named test must catch each one (`script/test --mutants`)."""
