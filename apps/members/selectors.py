"""Reading members."""

from ipaddress import ip_address

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Lower, Now

from apps.lib.fields import MacField
from apps.members.models import Device, Member, Room, Tariff

MOST_ROOMS = 1000


def search(members: QuerySet[Member], text: str) -> QuerySet[Member]:
    """Members whom the text may mean: a part of the name, `M-2207`, a room such as `B-214`, an address they hold now, a MAC address."""
    text = text.strip().replace("\0", "")
    if not text:
        return members
    if _is_address(text):
        return members.filter(holdings__prefix__covers=text, holdings__valid__contains=Now()).distinct()
    mac = _mac(text)  # after addresses: 2001:db8:a0:10::5 has twelve digits too
    if mac:
        return members.filter(Exists(Device.objects.filter(member=OuterRef("pk"), mac=mac)))
    return members.alias(lower_name=Lower("name")).filter(_by_words(text))


def _by_words(text: str) -> Q:
    """Each alternative is a question to one index of the table itself, so that the database can join their answers."""
    found = Q(lower_name__contains=text.lower())
    digits = text.upper().removeprefix("M-")
    if digits.isascii() and digits.isdigit() and len(digits) < 10:
        found |= Q(number=int(digits))
    site, dash, room = text.partition("-")
    if dash and site and room:
        rooms = Room.objects.filter(site__code__iexact=site, name__istartswith=room)
        found |= Q(room__in=list(rooms.values_list("pk", flat=True)[:MOST_ROOMS]))
    return found


def _mac(text: str) -> str | None:
    try:
        return MacField().parse(text)
    except ValueError:
        return None


def _is_address(text: str) -> bool:
    try:
        return "%" not in text and bool(ip_address(text))
    except ValueError:
        return False


def with_address(email: str) -> list[Member]:
    """Members who have not left and have this address for mail; two at most, because of several nobody knows who wrote."""
    return list(Member.objects.filter(email__iexact=email).exclude(state=Member.State.LEFT).order_by("pk")[:2]) if email else []


def having(tariff: Tariff) -> int:
    """How many members who have not left have this tariff."""
    return Member.objects.filter(tariff=tariff).exclude(state=Member.State.LEFT).count()


def tariffs_with_members() -> QuerySet[Tariff]:
    """All tariffs by name, each with the `number` of its members who have not left."""
    staying = Count("member", filter=~Q(member__state=Member.State.LEFT))
    return Tariff.objects.annotate(number=staying).order_by("name")
