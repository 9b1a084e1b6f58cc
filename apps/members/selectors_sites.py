"""Queries about sites and their rooms."""

from dataclasses import dataclass

from django.db.models import Count, Prefetch, Q, QuerySet

from apps.members.models import Member, Room, Site


def list_sites() -> QuerySet[Site]:
    """Return all sites by code, each with `room_number`, `free_number` (rooms in which no member lives) and `member_number`."""
    rooms, lived_in = Count("rooms", distinct=True), Count("rooms", distinct=True, filter=Q(rooms__members__isnull=False))
    counted = Site.objects.annotate(room_number=rooms, free_number=rooms - lived_in, member_number=Count("rooms__members"))
    return counted.order_by("code")


@dataclass(frozen=True, slots=True)
class Floor:
    """A floor of a site, with its numbers of rooms and of members who live there."""

    number: int
    rooms: int
    members: int


def list_floors(site: Site) -> list[Floor]:
    """Return the floors of the site that have rooms, the lowest first."""
    counted = Room.objects.filter(site=site).order_by("floor").values_list("floor")
    return [Floor(*row) for row in counted.annotate(rooms=Count("pk", distinct=True), residents=Count("members"))]


def list_residents(site: Site, floor: int) -> list[Room]:
    """Return the rooms of a floor by name, with their members."""
    living = Prefetch("members", Member.objects.only("name", "state", "room").order_by("name", "pk"))
    rooms = list(Room.objects.filter(site=site, floor=floor).order_by("name").prefetch_related(living))
    for room in rooms:
        room.site = site
    return rooms
