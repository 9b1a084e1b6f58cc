"""Approvals: which removals wait for a second person, who may approve them, and what approval or refusal does."""
