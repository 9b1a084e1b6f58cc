"""Models of tickets: threads, attachments, links, moves between tickets, bulk answers, statistics and canned answers."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from apps.lib.database.history import track_history
from apps.lib.models import Versioned
from apps.members.models import Member


@track_history(exclude=["touched_at", "first_answered_at"])
class Ticket(Versioned):
    """A conversation with a member or a stranger; its id is the ticket number.

    member: its owner, None where unknown; address: where answers go then. touched_at: time of the last message or change.
    first_answered_at: time of staff's first message to the asker. merged_into: the ticket that has this one's messages now and receives
    new ones; that ticket is never merged itself (migrations/tickets/0001). split_from: the ticket in which its first messages were
    written.
    """

    class State(models.TextChoices):
        OPEN = "open", _("open")
        WAITING = "waiting", _("waits for an answer")
        SOLVED = "solved", _("solved")
        REOPENED = "reopened", _("reopened")

    class Priority(models.IntegerChoices):
        LOW = 1, _("low")
        NORMAL = 2, _("normal")
        HIGH = 3, _("high")
        URGENT = 4, _("urgent")

    subject = models.CharField(_("subject"), max_length=200)
    member = models.ForeignKey(Member, models.PROTECT, null=True, related_name="tickets", verbose_name=_("member"))
    address = models.EmailField(_("e-mail"), blank=True)
    language = models.CharField(_("language"), max_length=2, choices=settings.LANGUAGES, default="en")
    state = models.CharField(_("state"), max_length=8, choices=State, default=State.OPEN)
    priority = models.PositiveSmallIntegerField(_("priority"), choices=Priority, default=Priority.NORMAL)
    assignee = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="tickets", verbose_name=_("assignee")
    )
    tags = ArrayField(models.CharField(max_length=30), default=list, blank=True, verbose_name=_("tags"))
    opened_at = models.DateTimeField(db_default=Now())
    touched_at = models.DateTimeField(db_default=Now())
    first_answered_at = models.DateTimeField(null=True)
    merged_into = models.ForeignKey("self", models.PROTECT, null=True, editable=False, related_name="merged", verbose_name=_("merged into"))
    split_from = models.ForeignKey("self", models.SET_NULL, null=True, editable=False, related_name="+", verbose_name=_("split from"))

    class Meta:
        ordering = ["-touched_at", "-id"]
        indexes = [
            models.Index(F("touched_at").desc(), F("id").desc(), name="ticket_by_time"),
            models.Index(F("state"), F("touched_at").desc(), F("id").desc(), name="ticket_by_state"),
            models.Index(F("assignee"), F("touched_at").desc(), F("id").desc(), name="ticket_by_assignee"),
            models.Index(F("member"), F("touched_at").desc(), F("id").desc(), name="ticket_by_member"),
            models.Index(F("priority").desc(), F("touched_at"), F("id"), condition=Q(state__in=["open", "reopened"]), name="ticket_ours"),
            models.Index(fields=["state", "assignee"], condition=~Q(state="solved"), name="ticket_unsolved"),
            models.Index(fields=["opened_at"], include=["first_answered_at", "state"], name="ticket_opened_and_answered"),
            models.Index(fields=["first_answered_at"], condition=Q(first_answered_at__isnull=False), name="ticket_by_first_answer"),
            GinIndex(fields=["tags"], name="ticket_tags"),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(state__in=["open", "waiting", "solved", "reopened"]), name="ticket_state"),
            models.CheckConstraint(condition=Q(priority__range=(1, 4)), name="ticket_priority"),
            models.CheckConstraint(condition=~Q(subject=""), name="ticket_has_a_subject"),
            models.CheckConstraint(condition=Q(tags__len__lte=10) & ~Q(tags__contains=[""]), name="ticket_tags_some"),
            models.CheckConstraint(
                condition=Q(first_answered_at=None) | Q(first_answered_at__gte=F("opened_at")), name="ticket_answered_after_opening"
            ),
            models.CheckConstraint(condition=Q(merged_into=None) | Q(state="solved"), name="ticket_merged_is_solved"),
            models.CheckConstraint(condition=~Q(merged_into=F("id")) & ~Q(split_from=F("id")), name="ticket_is_not_its_own"),
        ]

    def __str__(self) -> str:
        return f"#{self.pk} {self.subject}"

    @property
    def is_ours(self) -> bool:
        """True if it is staff's turn."""
        return self.state in (self.State.OPEN, self.State.REOPENED)


class Message(models.Model):
    """One entry of the thread. author: the signed-in writer; sender: the address that it came from, which proves nothing.

    verified: it came from the asker, as far as known. message_id: Message-ID of the mail that it was sent or received as; came_as:
    Message-ID of staff's mail that became this answer.
    """

    class Kind(models.TextChoices):
        MEMBER = "member", _("question")
        ANSWER = "answer", _("answer")
        NOTE = "note", _("internal note")

    class Via(models.TextChoices):
        WEB = "web", _("on the web")
        MAIL = "mail", _("by mail")

    ticket = models.ForeignKey(Ticket, models.CASCADE, related_name="messages")
    kind = models.CharField(max_length=6, choices=Kind)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    sender = models.CharField(max_length=320, blank=True)
    text = models.TextField(blank=True)
    at = models.DateTimeField(db_default=Now())
    via = models.CharField(max_length=4, choices=Via, default=Via.WEB)
    verified = models.BooleanField(default=True)
    message_id = models.CharField(max_length=250, null=True, unique=True)
    came_as = models.CharField(max_length=250, null=True, unique=True)

    class Meta:
        ordering = ["at", "id"]
        indexes = [
            models.Index(fields=["sender", "at"], condition=Q(via="mail"), name="ticket_message_by_sender"),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=["member", "answer", "note"]), name="ticket_message_kind"),
            models.CheckConstraint(condition=Q(via__in=["web", "mail"]), name="ticket_message_via"),
            models.CheckConstraint(condition=Q(author__isnull=False) | Q(via="mail") & ~Q(kind="answer"), name="ticket_message_author"),
            models.CheckConstraint(condition=Q(message_id=None) | ~Q(message_id=""), name="ticket_message_id"),
        ]

    def __str__(self) -> str:
        return f"{self.ticket_id}: {self.kind}"


class Words(models.Model):
    """Search index of a ticket: the words of its subject and of all messages, by three dictionaries (searching.py).

    Only triggers write it (migrations/tickets/0001), beside the ticket, so that neither its version nor its history changes. characters:
    number of characters indexed; what follows the first 20,000 of a message, or 200,000 of a ticket, is not found.
    """

    ticket = models.OneToOneField(Ticket, models.CASCADE, primary_key=True)
    characters = models.PositiveIntegerField()
    search = SearchVectorField()

    class Meta:
        indexes = [GinIndex(fields=["search"], name="ticket_words")]

    def __str__(self) -> str:
        return f"{self.ticket_id}: {self.characters}"


class Attachment(models.Model):
    """A file that came with a message; its octets are in Content."""

    message = models.ForeignKey(Message, models.CASCADE, related_name="attachments")
    name = models.CharField(max_length=200)
    size = models.PositiveIntegerField()

    class Meta:
        ordering = ["id"]
        constraints = [models.CheckConstraint(condition=~Q(name=""), name="ticket_attachment_name")]

    def __str__(self) -> str:
        return self.name


class Content(models.Model):
    """The octets of an attachment: in the database, so that they come and go with their message, and are in its backups."""

    attachment = models.OneToOneField(Attachment, models.CASCADE, primary_key=True)
    octets = models.BinaryField()


class Link(models.Model):
    """Link from a ticket to a row that it is about, of a kind that `links.py` knows."""

    ticket = models.ForeignKey(Ticket, models.CASCADE, related_name="links")
    kind = models.CharField(max_length=40)
    object_id = models.BigIntegerField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["kind", "object_id"], name="ticket_link_by_object")]
        constraints = [models.UniqueConstraint(fields=["ticket", "kind", "object_id"], name="ticket_link_once")]

    def __str__(self) -> str:
        return f"{self.kind} {self.object_id}"


class Move(models.Model):
    """A move from one ticket to another: of everything (merge), or of chosen messages (split).

    messages, links: ids of the moved rows. state: the source's state before the merge; adopted: the merge gave the source the target's
    member, because it had none.
    """

    class Kind(models.TextChoices):
        MERGE = "merge", _("merged")
        SPLIT = "split", _("split")

    kind = models.CharField(max_length=5, choices=Kind)
    source = models.ForeignKey(Ticket, models.CASCADE, related_name="moves_out")
    target = models.ForeignKey(Ticket, models.CASCADE, related_name="moves_in")
    messages = ArrayField(models.BigIntegerField(), default=list)
    links = ArrayField(models.BigIntegerField(), default=list)
    state = models.CharField(max_length=8, choices=Ticket.State, blank=True)
    adopted = models.BooleanField(default=False)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    at = models.DateTimeField(db_default=Now())
    undone_at = models.DateTimeField(null=True)
    undone_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["source"], condition=Q(kind="merge", undone_at=None), name="ticket_merged_once"),
            models.CheckConstraint(
                condition=Q(kind="merge") & ~Q(state="") | Q(kind="split", state="", undone_at=None), name="ticket_move_kind"
            ),
            models.CheckConstraint(condition=~Q(source=F("target")), name="ticket_moves_elsewhere"),
            models.CheckConstraint(condition=Q(undone_at=None, undone_by=None) | Q(undone_at__isnull=False), name="ticket_move_undone"),
        ]

    def __str__(self) -> str:
        return f"#{self.source_id} → #{self.target_id}"


class Bulk(models.Model):
    """One answer to many tickets. key: from the form, so that a second click sends nothing twice. state: the tickets' state afterwards."""

    key = models.UUIDField(unique=True)
    text_de = models.TextField(blank=True)
    text_en = models.TextField(blank=True)
    state = models.CharField(max_length=8, choices=Ticket.State, default=Ticket.State.WAITING)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(condition=~Q(text_de="") | ~Q(text_en=""), name="ticket_bulk_says_something"),
            models.CheckConstraint(condition=Q(state__in=["waiting", "solved"]), name="ticket_bulk_state"),
        ]

    def __str__(self) -> str:
        return f"{self.pk}"


class BulkItem(models.Model):
    """One ticket of a bulk answer. done_at: when it was answered or left out; why: reason for leaving it out; message: the answer."""

    bulk = models.ForeignKey(Bulk, models.CASCADE, related_name="items")
    ticket = models.ForeignKey(Ticket, models.CASCADE, related_name="+")
    message = models.ForeignKey(Message, models.SET_NULL, null=True, related_name="+")
    done_at = models.DateTimeField(null=True)
    why = models.CharField(max_length=300, blank=True)

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["id"], condition=Q(done_at=None), name="ticket_bulk_left")]
        constraints = [
            models.UniqueConstraint(fields=["bulk", "ticket"], name="ticket_bulk_once"),
            models.CheckConstraint(condition=Q(done_at__isnull=False) | Q(why="", message=None), name="ticket_bulk_done"),
        ]

    def __str__(self) -> str:
        return f"{self.bulk_id}: #{self.ticket_id}"


class Period(models.Model):
    """Numbers of tickets opened, solved, reopened and first answered in a past day or week (from Monday).

    median: seconds until the first answer, over the tickets first answered in it. Only `period_counts.py` writes these rows.
    """

    class Unit(models.TextChoices):
        DAY = "day"
        WEEK = "week"

    unit = models.CharField(max_length=4, choices=Unit)
    begins = models.DateField()
    opened = models.PositiveIntegerField()
    solved = models.PositiveIntegerField()
    reopened = models.PositiveIntegerField()
    answered = models.PositiveIntegerField()
    median = models.FloatField(null=True)

    class Meta:
        ordering = ["unit", "begins"]
        constraints = [
            models.UniqueConstraint(fields=["unit", "begins"], name="ticket_period_once"),
            models.CheckConstraint(condition=Q(unit="day") | Q(unit="week", begins__iso_week_day=1), name="ticket_period_unit"),
            models.CheckConstraint(condition=Q(answered=0, median=None) | Q(answered__gt=0, median__gte=0), name="ticket_period_median"),
        ]

    def __str__(self) -> str:
        return f"{self.unit} {self.begins}"


@track_history()
class Canned(Versioned):
    """A canned answer in both languages, with the placeholders of `canned.py`."""

    name = models.CharField(_("name"), max_length=80, unique=True)
    text_de = models.TextField(_("German text"))
    text_en = models.TextField(_("English text"))

    class Meta:
        ordering = ["name"]
        constraints = [models.CheckConstraint(condition=~Q(name="") & ~Q(text_de="") & ~Q(text_en=""), name="canned_says_something")]

    def __str__(self) -> str:
        return self.name
