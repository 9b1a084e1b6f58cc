"""The error that ends a start: a sentence that says what is wrong, where, and what to do."""


class StackError(Exception):
    """Shown to the operator as it is, without a traceback."""
