"""Exceptions of services that refuse a request: sentences for people, with the field they concern."""

from dataclasses import dataclass, field

from django.utils.functional import Promise


@dataclass
class Problem(Exception):  # noqa: N818 - not an error of the program
    """A refused request. `text` says what is wrong and what to do; `fieldname` names the field ("" for the whole).

    offer: a value that would be accepted. culprit: the object in the way. If `text` names a person, `culprit` is the object that
    this person holds, and `unnamed` the same sentence for readers who may not know the person.
    """

    text: str | Promise
    fieldname: str = ""
    offer: str = ""
    culprit: object = field(default=None, repr=False)
    unnamed: str | Promise = ""

    def __str__(self) -> str:
        return str(self.text)


class Conflict(Problem):
    """The request conflicts with the current state: another request changed the row since it was read, or another object is in the way."""


class Unprocessable(Problem):
    """The database can never store this, whatever else it contains."""
