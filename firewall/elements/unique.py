"""Check that no two objects of a policy are the same element: the kernel would keep only one of them."""

from collections.abc import Iterable, Sized

from firewall.policy import PolicyError


def check_unique(kind: str, objects: Iterable[object], keys: Sized) -> None:
    """Raise PolicyError, naming the object that is given twice, when there are fewer keys than objects."""
    listed = list(objects)
    if len(listed) == len(keys):
        return
    seen: set[object] = set()
    for each in listed:
        if each in seen:
            raise PolicyError(f"{kind} {each} is given twice")
        seen.add(each)
