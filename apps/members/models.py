"""Members, tariffs, sites, rooms, devices, memberships, departures, invitations, and uploaded tables of people with their columns."""

from django.conf import settings
from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import ArrayField, DateTimeRangeField, RangeOperators
from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models.functions import Lower, Upper
from django.utils.translation import gettext_lazy as _

from apps.lib.database.history import track_history
from apps.lib.database.unaccent import make_unaccented_expression
from apps.lib.fields import MacField, make_mac_digits_expression
from apps.lib.models import Versioned
from apps.members.membership_triggers import build_left_at_trigger, build_membership_insert_trigger, build_membership_update_trigger

LOWEST_KBIT, HIGHEST_KBIT = 64, 10_000_000  # limits of a rate, kbit/s


class RateProperties:
    """Mixin for rows with a rate in each direction, None for no rate."""

    up_kbit: int | None
    down_kbit: int | None

    @property
    def up_bits(self) -> int | None:
        """The rate from the member, bit/s."""
        return self.up_kbit and self.up_kbit * 1000

    @property
    def down_bits(self) -> int | None:
        """The rate to the member, bit/s."""
        return self.down_kbit and self.down_kbit * 1000


@track_history()
class Tariff(RateProperties, Versioned):
    """Allowance of members. up_kbit, down_kbit: the rate through the uplink from and to the member, kbit/s; None: unlimited.

    offered: False once no further member shall get it; members who have it keep it.
    """

    name = models.CharField(_("name"), max_length=60, unique=True)
    most_forwards = models.PositiveSmallIntegerField(_("port forwards, at most"), default=8)
    most_devices = models.PositiveSmallIntegerField(_("devices, at most"), default=8, db_default=8)
    trial = models.BooleanField(_("trial tariff"), default=False)
    offered = models.BooleanField(_("offered"), default=True, db_default=True)
    up_kbit = models.PositiveIntegerField(_("upload rate"), null=True, blank=True)
    down_kbit = models.PositiveIntegerField(_("download rate"), null=True, blank=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(up_kbit=None) | models.Q(up_kbit__range=(LOWEST_KBIT, HIGHEST_KBIT)), name="tariff_up_kbit"
            ),
            models.CheckConstraint(
                condition=models.Q(down_kbit=None) | models.Q(down_kbit__range=(LOWEST_KBIT, HIGHEST_KBIT)), name="tariff_down_kbit"
            ),
        ]

    def __str__(self) -> str:
        return self.name


@track_history()
class Site(Versioned):
    """A building with rooms. Its code begins the names of rooms: B-214."""

    name = models.CharField(_("name"), max_length=60, unique=True)
    code = models.CharField(_("code"), max_length=8)

    class Meta:
        ordering = ["code"]
        constraints = [
            models.UniqueConstraint(Lower("code"), name="site_code_once"),
            models.CheckConstraint(condition=models.Q(code__regex=r"^\w+$"), name="site_code_is_a_word"),
            models.CheckConstraint(condition=models.Q(name__regex=r"^\S(.*\S)?$"), name="site_name_trimmed"),
        ]

    def __str__(self) -> str:
        return self.name


@track_history()
class Room(Versioned):
    """A room of a site; `name` is what is written on its door, unique within the site."""

    site = models.ForeignKey(Site, models.PROTECT, related_name="rooms", verbose_name=_("site"))
    floor = models.SmallIntegerField(_("floor"))
    name = models.CharField(_("name"), max_length=20)

    class Meta:
        ordering = ["site__code", "name"]
        constraints = [
            models.UniqueConstraint("site", Lower("name"), name="room_name_once_per_site"),
            models.CheckConstraint(condition=models.Q(name__regex=r"^\S(.*\S)?$"), name="room_name_trimmed"),
        ]

    def __str__(self) -> str:
        return f"{self.site.code}-{self.name}"


@track_history(exclude=["left_at", "erased_at"])
class Member(Versioned):
    """A person who uses the network. Database triggers record when they left, and from when to when they were active."""

    class State(models.TextChoices):
        PENDING = "pending", _("not yet active")
        ACTIVE = "active", _("active")
        LEFT = "left", _("left")

    number = models.PositiveIntegerField(_("number"), unique=True)
    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="member")
    name = models.CharField(_("name"), max_length=120)
    email = models.EmailField(_("e-mail"), blank=True)
    language = models.CharField(_("language"), max_length=2, choices=settings.LANGUAGES, default="en")
    state = models.CharField(_("state"), max_length=8, choices=State, default=State.PENDING)
    tariff = models.ForeignKey(Tariff, models.PROTECT, verbose_name=_("tariff"))
    room = models.ForeignKey(Room, models.PROTECT, null=True, blank=True, verbose_name=_("room"), related_name="members")
    since = models.DateField(_("member since"))
    paid_until = models.DateField(_("paid until"), null=True, blank=True)
    note = models.TextField(_("note"), blank=True)
    left_at = models.DateTimeField(_("left"), null=True, blank=True, editable=False)
    erased_at = models.DateTimeField(_("personal data erased"), null=True, blank=True, editable=False)

    class Meta:
        ordering = ["name", "id"]
        triggers = [build_left_at_trigger(), build_membership_insert_trigger(), build_membership_update_trigger()]
        indexes = [
            models.Index(fields=["left_at"], condition=models.Q(erased_at=None), name="member_left_and_not_erased"),
            models.Index(fields=["name", "id"], name="member_by_name"),
            GinIndex(OpClass(make_unaccented_expression("name"), "gin_trgm_ops"), name="member_name_search"),
            models.Index(fields=["state", "name", "id"], name="member_by_state_and_name"),
            models.Index(fields=["paid_until", "name", "id"], name="member_by_end_of_payment"),
            models.Index(fields=["state", "tariff"], name="member_counted"),
        ]
        constraints = [
            models.CheckConstraint(condition=~models.Q(name=""), name="member_has_a_name"),
            models.CheckConstraint(condition=models.Q(state__in=["pending", "active", "left"]), name="member_state_known"),
            models.CheckConstraint(
                condition=models.Q(state="left", left_at__isnull=False) | ~models.Q(state="left") & models.Q(left_at=None),
                name="member_left_at_some_time",
            ),
            models.CheckConstraint(condition=models.Q(erased_at=None) | models.Q(state="left"), name="member_erased_has_left"),
        ]

    def __str__(self) -> str:
        return self.name


@track_history()
class Device(models.Model):
    """A member's device on the network."""

    member = models.ForeignKey(Member, models.CASCADE, related_name="devices")
    name = models.CharField(_("name"), max_length=60)
    mac = MacField(_("MAC address"), unique=True)

    class Meta:
        ordering = ["name", "id"]
        indexes = [
            GinIndex(OpClass(Upper("name"), "gin_trgm_ops"), name="device_name_search"),
            GinIndex(OpClass(make_mac_digits_expression("mac"), "gin_trgm_ops"), name="device_mac_search"),
        ]

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """A period in which a member was active.

    Triggers on the member's state maintain it, however the state is changed (membership_triggers.py).
    """

    member = models.ForeignKey(Member, models.CASCADE, related_name="memberships")
    valid = DateTimeRangeField(_("valid"))

    class Meta:
        ordering = ["valid"]
        constraints = [
            ExclusionConstraint(name="membership_once_at_a_time", expressions=[("member", "="), ("valid", RangeOperators.OVERLAPS)]),
            models.CheckConstraint(condition=models.Q(valid__isempty=False), name="membership_some_time"),
        ]

    def __str__(self) -> str:
        return f"{self.member}: {self.valid}"


@track_history()
class Departure(models.Model):
    """A member's planned leaving at the beginning of a day, in the site's zone. A worker carries it out; until then it can be cancelled."""

    class State(models.TextChoices):
        PLANNED = "planned", _("planned")
        DONE = "done", _("done")
        DROPPED = "dropped", _("dropped")

    member = models.ForeignKey(Member, models.CASCADE, related_name="departures")
    on = models.DateField(_("on"))
    state = models.CharField(_("state"), max_length=8, choices=State, default=State.PLANNED)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", verbose_name=_("planned by"))
    planned = models.DateTimeField(_("planned"), auto_now_add=True)

    class Meta:
        ordering = ["on", "id"]
        constraints = [
            models.UniqueConstraint(fields=["member"], condition=models.Q(state="planned"), name="departure_one_planned"),
            models.CheckConstraint(condition=models.Q(state__in=["planned", "done", "dropped"]), name="departure_state"),
        ]

    def __str__(self) -> str:
        return str(self.on)


@track_history()
class MemberInvitation(models.Model):
    """A link that connects an account with a membership, once.

    The address it went to is part of the signed link (invitation_services.py).
    """

    member = models.ForeignKey(Member, models.CASCADE, related_name="invitations")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", verbose_name=_("invited by"))
    made = models.DateTimeField(_("invited"), auto_now_add=True)
    expires = models.DateTimeField(_("link ends"))
    taken = models.DateTimeField(_("accepted"), null=True)
    withdrawn = models.DateTimeField(_("withdrawn"), null=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["member"], condition=models.Q(taken=None, withdrawn=None), name="memberinvitation_one_open"),
            models.CheckConstraint(condition=models.Q(taken=None) | models.Q(withdrawn=None), name="memberinvitation_taken_or_withdrawn"),
        ]

    def __str__(self) -> str:
        return str(self.member)


class PeopleUpload(models.Model):
    """An uploaded table of people between its check and its import, with what its columns mean. A worker checks and imports large ones.

    by_worker: the table is large. state: OPEN: a page checks it while it answers. task: what the worker does, or did last. report: of
    the last check or import. problem: why the worker gave up. The content is empty once the table is imported. lines: of the table,
    once they were counted. done: lines that were checked, or `of` rows that were written. claim: token of the worker that holds the
    lease, until claimed_until. language: of the report. header_key: hash of the headers; as_last_time: the meanings were remembered.
    """

    class State(models.TextChoices):
        OPEN = "open", _("uploaded")
        WAITING = "waiting", _("waits for a worker")
        RUNNING = "running", _("running")
        CHECKED = "checked", _("checked")
        IMPORTED = "imported", _("imported")
        CANCELLED = "cancelled", _("cancelled")
        FAILED = "failed", _("failed")

    class Task(models.TextChoices):
        CHECK = "check", _("check")
        IMPORT = "import", _("import")

    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    created = models.DateTimeField(auto_now_add=True)
    name = models.CharField(max_length=200)
    content = models.BinaryField()
    meanings = ArrayField(models.CharField(max_length=20))
    create_rooms = models.BooleanField(default=False)
    report = models.JSONField(null=True)
    by_worker = models.BooleanField(default=False, db_default=False)
    state = models.CharField(max_length=9, choices=State, default=State.OPEN, db_default="open")
    task = models.CharField(max_length=6, choices=Task, default=Task.CHECK, db_default="check")
    language = models.CharField(max_length=10, blank=True, default="", db_default="")
    problem = models.TextField(blank=True, default="", db_default="")
    header_key = models.CharField(max_length=64, blank=True, default="", db_default="")
    as_last_time = models.BooleanField(default=False, db_default=False)
    lines = models.PositiveIntegerField(null=True)
    done = models.PositiveIntegerField(default=0, db_default=0)
    of = models.PositiveIntegerField(null=True)
    tries = models.PositiveSmallIntegerField(default=0, db_default=0)
    claim = models.UUIDField(null=True)
    claimed_until = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state__in=["open", "waiting", "running", "checked", "imported", "cancelled", "failed"]),
                name="peopleupload_state",
            ),
            models.CheckConstraint(condition=models.Q(task__in=["check", "import"]), name="peopleupload_task"),
            models.CheckConstraint(
                condition=models.Q(state="running", claim__isnull=False, claimed_until__isnull=False)
                | ~models.Q(state="running") & models.Q(claim=None, claimed_until=None),
                name="peopleupload_claimed_while_running",
            ),
            models.CheckConstraint(
                condition=~models.Q(state__in=["checked", "imported"]) | models.Q(report__isnull=False), name="peopleupload_has_a_report"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_dry_run(self) -> bool:
        """True if the table is checked only."""
        return self.task == self.Task.CHECK

    @property
    def is_working(self) -> bool:
        """True while a worker has the table, or is to take it."""
        return self.state in (self.State.WAITING, self.State.RUNNING)


class RememberedColumns(models.Model):
    """The meanings that somebody chose for a table with these headers. key: a hash of the headers."""

    key = models.CharField(max_length=64, unique=True)
    meanings = ArrayField(models.CharField(max_length=20))
    chosen = models.DateTimeField()

    def __str__(self) -> str:
        return ", ".join(self.meanings)
