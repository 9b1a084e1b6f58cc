"""Tickets: what people ask, what is answered, and what belongs to it."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVector, SearchVectorField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Left, Now
from django.utils.translation import gettext_lazy as _

from apps.lib.history import tracked
from apps.lib.models import Versioned
from apps.members.models import Member

FOUND_BY = 20_000  # characters of a text that the search knows: a tsvector holds 1 MiB at most
LANGUAGES = ("german", "english", "simple")  # simple: names, and beginnings of words


def _words(field: str) -> models.GeneratedField:
    """The words of a text in both languages, kept by the database."""
    german, english, simple = (SearchVector(Left(field, FOUND_BY), config=each) for each in LANGUAGES)
    return models.GeneratedField(expression=german + english + simple, output_field=SearchVectorField(), db_persist=True)


@tracked(exclude=["touched_at", "first_answered_at", "search"])
class Ticket(Versioned):
    """A question and its thread; its id is the number that people say.

    member: whose it is, None where nobody knows; address: where answers go then. touched_at: when anything was last written or changed.
    first_answered_at: when staff first wrote to whoever asked.
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
    search = _words("subject")

    class Meta:
        ordering = ["-touched_at", "-id"]
        indexes = [
            models.Index(F("touched_at").desc(), F("id").desc(), name="ticket_by_time"),
            models.Index(F("state"), F("touched_at").desc(), F("id").desc(), name="ticket_by_state"),
            models.Index(F("assignee"), F("touched_at").desc(), F("id").desc(), name="ticket_by_assignee"),
            models.Index(F("member"), F("touched_at").desc(), F("id").desc(), name="ticket_by_member"),
            models.Index(F("priority").desc(), F("touched_at"), F("id"), condition=Q(state__in=["open", "reopened"]), name="ticket_ours"),
            models.Index(fields=["state", "assignee"], condition=~Q(state="solved"), name="ticket_unsolved"),
            models.Index(fields=["opened_at"], name="ticket_by_opening"),
            GinIndex(fields=["tags"], name="ticket_tags"),
            GinIndex(fields=["search"], name="ticket_search"),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(state__in=["open", "waiting", "solved", "reopened"]), name="ticket_state"),
            models.CheckConstraint(condition=Q(priority__range=(1, 4)), name="ticket_priority"),
            models.CheckConstraint(condition=~Q(subject=""), name="ticket_has_a_subject"),
            models.CheckConstraint(condition=Q(tags__len__lte=10) & ~Q(tags__contains=[""]), name="ticket_tags_some"),
            models.CheckConstraint(
                condition=Q(first_answered_at=None) | Q(first_answered_at__gte=F("opened_at")), name="ticket_answered_after_opening"
            ),
        ]

    def __str__(self) -> str:
        return f"#{self.pk} {self.subject}"

    @property
    def is_ours(self) -> bool:
        """Whether staff has to do something."""
        return self.state in (self.State.OPEN, self.State.REOPENED)


class Message(models.Model):
    """One entry of the thread. author: who wrote it, signed in; sender: the address it came from, which proves nothing.

    verified: it came from whoever asked, as far as one can tell. message_id: of the mail that it left as, or came as; came_as: of the
    mail of staff that became this answer.
    """

    class Kind(models.TextChoices):
        MEMBER = "member", _("from who asks")
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
    search = _words("text")

    class Meta:
        ordering = ["id"]
        indexes = [
            GinIndex(fields=["search"], name="ticket_message_search"),
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


class Attachment(models.Model):
    """A file that came with a message; what is in it lies in a table of its own."""

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
    """What a ticket is about: a row of a kind that `links.py` knows."""

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


@tracked()
class Canned(Versioned):
    """An answer that is kept, in both languages, with the placeholders of `canned.py`."""

    name = models.CharField(_("name"), max_length=80, unique=True)
    text_de = models.TextField(_("German text"))
    text_en = models.TextField(_("English text"))

    class Meta:
        ordering = ["name"]
        constraints = [models.CheckConstraint(condition=~Q(name="") & ~Q(text_de="") & ~Q(text_en=""), name="canned_says_something")]

    def __str__(self) -> str:
        return self.name
