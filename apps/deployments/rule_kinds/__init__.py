"""Kinds of objects that reach the gateways. Each has a module that says how its rows are read, named, traced back and restored."""
