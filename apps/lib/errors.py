"""What services raise when they do not do what was asked: sentences for people, with the field they concern."""

from dataclasses import dataclass, field

from django.utils.functional import Promise


@dataclass
class Problem(Exception):  # noqa: N818 - not an error of the program
    """What was asked cannot be. `text` says what is wrong and what to do; `fieldname` where ("" for the whole).

    offer: a value that would do instead; culprit: the object that stands in the way. A sentence that names a person has the culprit that
    this person holds, and in `unnamed` the same sentence for those who may not know who that is.
    """

    text: str | Promise
    fieldname: str = ""
    offer: str = ""
    culprit: object = field(default=None, repr=False)
    unnamed: str | Promise = ""

    def __str__(self) -> str:
        return str(self.text)


class Conflict(Problem):
    """Somebody else changed the row since it was read."""


class Unprocessable(Problem):
    """The database can never hold this, whatever else there is."""
