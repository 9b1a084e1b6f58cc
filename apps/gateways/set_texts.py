"""Names of the dynamic sets in people's words, in the current language."""

from django.utils.translation import gettext as _

from firewall.limit_sets import LimitKind, find_limit_kind_of_set, is_over_set


def describe_set(name: str) -> str:
    """Return what the set of this name counts; the name itself if it is not a set of limits."""
    limited = find_limit_kind_of_set(name)
    if limited is None:
        return name
    family = "IPv4" if name.startswith(f"{limited}4") else "IPv6"
    over = {
        LimitKind.MEMBER_OPEN: _("Members over the limit of open connections, %(family)s"),
        LimitKind.SOURCE_OPEN: _("External addresses over the limit of open connections, %(family)s"),
    }
    words = {
        LimitKind.MEMBER_RATE: _("Members with new connections, %(family)s"),
        LimitKind.MEMBER_OPEN: _("Members with open connections, %(family)s"),
        LimitKind.SOURCE_RATE: _("External addresses with new connections, %(family)s"),
        LimitKind.SOURCE_OPEN: _("External addresses with open connections, %(family)s"),
        LimitKind.MAIL: _("Members who send mail, %(family)s"),
    }
    return (over if is_over_set(name) else words)[limited] % {"family": family}
