"""Two objects of a policy must not be the same element: the kernel would keep one of them."""

from collections.abc import Iterable, Sized

from firewall.policy import PolicyError


def check_unique(kind: str, objects: Iterable[object], keys: Sized) -> None:
    """Raises PolicyError, naming the one that is given twice, when the objects became fewer keys than they are."""
    listed = list(objects)
    if len(listed) == len(keys):
        return
    seen: set[object] = set()
    for each in listed:
        if each in seen:
            raise PolicyError(f"{kind} {each} is given twice")
        seen.add(each)
