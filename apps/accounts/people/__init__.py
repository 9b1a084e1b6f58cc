"""Accounts as those see them who give roles: who has which, with which second factor, signed in where."""
