"""Accounts that can sign in, tokens for scripts, invitations, and changes of roles."""

from typing import Any

from django.apps import apps
from django.contrib.auth.models import AbstractUser, UserManager
from django.contrib.postgres.fields import ArrayField
from django.db import models, transaction
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.accounts.collection_names import get_collection_name
from apps.accounts.last_admin import build_last_admin_trigger
from apps.accounts.roles import STAFF, Role, compute_rights
from apps.accounts.token_limits import list_token_limits
from apps.lib.database.email_lookups import AsciiLower
from apps.lib.database.history import track_history
from apps.lib.email_address import lower_ascii
from apps.lib.fields import PrefixField
from apps.preferences.declarations import DEFAULT_LANGUAGE
from apps.preferences.selectors import read_setting


class AccountManager(UserManager["User"]):
    """Manager of accounts; `manage.py createsuperuser` makes the first one."""

    use_in_migrations = False

    def create_superuser(self, username: str, email: str | None = None, password: str | None = None, **given: Any) -> "User":
        """Create an account that administers the network and approves. Its address counts as confirmed: a shell is more than a link."""
        with transaction.atomic():
            user = self.create_user(username, email, password, roles=[Role.NETWORK_ADMIN.value, Role.APPROVER.value], **given)
            confirmed = apps.get_model("account", "EmailAddress").objects
            if user.email and not confirmed.filter(email=user.email, verified=True).exists():
                confirmed.create(user=user, email=user.email, primary=True, verified=True)
        return user

    def create_user(self, username: str, email: str | None = None, password: str | None = None, **given: Any) -> "User":
        """Create an account; without roles it may use only its own pages. Its address is stored in small letters."""
        user = self.model(username=self.model.normalize_username(username), email=lower_ascii((email or "").strip()), **given)
        user.set_password(password)
        user.save(using=self._db)
        return user


@track_history(exclude=["password", "last_login", "is_staff"])
class User(AbstractUser):
    """An account that can sign in. `roles` alone says what it may do; `is_staff` is computed from them.

    language: chosen by the person; "" for the browser's language. keys: True while single-key shortcuts are on (WCAG 2.1.4).
    """

    language = models.CharField(_("language"), max_length=2, choices=[("en", "English"), ("de", "Deutsch")], blank=True, default="")
    keys = models.BooleanField(_("single-key shortcuts"), default=True, db_default=True)
    roles = ArrayField(models.CharField(max_length=20, choices=Role.choices), default=list, verbose_name=_("roles"))
    is_staff = models.GeneratedField(
        expression=models.Q(roles__overlap=[role.value for role in STAFF]),  # type: ignore[arg-type]  # the stubs lack conditions here
        output_field=models.BooleanField(),
        db_persist=True,
    )
    is_superuser = None  # rights come from roles alone
    groups = None  # type: ignore[assignment]
    user_permissions = None  # type: ignore[assignment]

    objects = AccountManager()  # type: ignore[misc]

    class Meta(AbstractUser.Meta):
        triggers = [build_last_admin_trigger()]
        indexes = [models.Index(AsciiLower("email"), name="user_by_address")]
        constraints = [
            models.UniqueConstraint(models.functions.Lower("username"), name="user_username_unique_without_case"),
            models.CheckConstraint(condition=models.Q(roles__contained_by=[role.value for role in Role]), name="user_roles_are_known"),
        ]

    @property
    def name(self) -> str:
        """The name to show to others."""
        return self.get_full_name() or self.username

    @property
    def mail_language(self) -> str:
        """The language for mails to this person, where no browser names one."""
        return self.language or read_setting(DEFAULT_LANGUAGE)


@track_history(exclude=["last_used"])
class ApiToken(models.Model):
    """A script's key to the API. Only its SHA-256 is kept: the key itself is shown once. It allows at most what its owner may do now.

    scopes: collections of the API as "forward:read" or "forward:write", which includes reading, and "*:read" for all of them; None:
    everything.
    member_id, group_id, site_id: only the things of this member, of this gateway group, or of the members who live in this house;
    all None: no such limit.
    networks: only requests from these networks are accepted; empty: from anywhere.
    """

    user = models.ForeignKey(User, models.CASCADE, related_name="tokens")
    name = models.CharField(_("purpose"), max_length=80)
    start = models.CharField(max_length=8, blank=True, default="")
    scopes = ArrayField(models.CharField(max_length=40), null=True)
    member_id = models.BigIntegerField(null=True)
    group_id = models.BigIntegerField(null=True)
    site_id = models.BigIntegerField(null=True)
    networks = ArrayField(PrefixField(), default=list)
    sha256 = models.CharField(max_length=64, unique=True)
    created = models.DateTimeField(auto_now_add=True)
    last_used = models.DateTimeField(null=True)
    expires = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(member_id=None, group_id=None)
                | models.Q(member_id=None, site_id=None)
                | models.Q(group_id=None, site_id=None),
                name="apitoken_one_limit_at_most",
            ),
        ]

    @property
    def scopes_in_words(self) -> list[tuple[str, list[Any]]]:
        """The scopes in words: "reads and writes" and "reads", each with the collections' names; empty if the token may do
        everything, or nothing.
        """
        words = {"write": gettext("reads and writes"), "read": gettext("reads")}
        chosen = [scope.partition(":") for scope in self.scopes or ()]
        found = [(word, [get_collection_name(name) for name, _sep, what in chosen if what == which]) for which, word in words.items()]
        return [(word, names) for word, names in found if names]

    @property
    def limit_in_words(self) -> str:
        """The member, gateway group or house to which the token is limited, in words; "" without such a limit.

        A name appears only if the owner may see all names of its kind, else the id.
        """
        for limit in list_token_limits():
            pk = getattr(self, f"{limit.name}_id")
            if pk is not None and limit.right in compute_rights(self.user.roles, by_token=True) and (words := limit.called(pk)):
                return gettext("only %(things)s") % {"things": words}
        texts = {
            "member_id": gettext("only for the member with the id %(id)d"),
            "group_id": gettext("only for the gateway group with the id %(id)d"),
            "site_id": gettext("only for the house with the id %(id)d"),
        }
        return next((text % {"id": pk} for name, text in texts.items() if (pk := getattr(self, name)) is not None), "")

    @property
    def sources(self) -> str:
        """The networks as one text, separated by commas."""
        return ", ".join(map(str, self.networks))


@track_history()
class Invitation(models.Model):
    """An invitation for an e-mail address to become an account with these roles."""

    email = models.EmailField(_("e-mail address"))
    roles = ArrayField(models.CharField(max_length=20, choices=Role.choices), default=list, verbose_name=_("roles"))
    by = models.ForeignKey(User, models.PROTECT, related_name="+")
    made = models.DateTimeField(auto_now_add=True)
    expires = models.DateTimeField()
    taken = models.DateTimeField(null=True)
    withdrawn = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["email"], condition=models.Q(taken=None, withdrawn=None), name="invitation_one_open_for_an_address"
            ),
        ]


@track_history()
class RoleChange(models.Model):
    """A change of an account's roles, with its reason: done at once, or after a second person's approval (role_changes.py)."""

    class State(models.TextChoices):
        WAITING = "waiting", _("waits for a second person")
        DONE = "done", _("done")
        DROPPED = "dropped", _("dropped")

    user = models.ForeignKey(User, models.CASCADE, related_name="role_changes", verbose_name=_("account"))
    old = ArrayField(models.CharField(max_length=20, choices=Role.choices), default=list, verbose_name=_("roles before"))
    new = ArrayField(models.CharField(max_length=20, choices=Role.choices), default=list, verbose_name=_("roles after"))
    reason = models.CharField(_("reason"), max_length=200)
    state = models.CharField(_("state"), max_length=8, choices=State)
    by = models.ForeignKey(User, models.PROTECT, related_name="+", verbose_name=_("requested by"))
    asked = models.DateTimeField(_("requested"), auto_now_add=True)
    decided_by = models.ForeignKey(User, models.PROTECT, related_name="+", null=True, verbose_name=_("decided by"))
    decided = models.DateTimeField(_("decided"), null=True)

    class Meta:
        ordering = ["-asked", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["user"], condition=models.Q(state="waiting"), name="rolechange_one_waits"),
            models.CheckConstraint(condition=models.Q(state__in=["waiting", "done", "dropped"]), name="rolechange_state"),
            models.CheckConstraint(condition=~models.Q(reason=""), name="rolechange_has_a_reason"),
            models.CheckConstraint(condition=~models.Q(user=models.F("by")), name="rolechange_not_of_oneself"),
            models.CheckConstraint(
                condition=~models.Q(state="done") | models.Q(decided_by=None) | ~models.Q(decided_by=models.F("by")),
                name="rolechange_agreed_by_another",
            ),
        ]

    @property
    def added_roles(self) -> list[str]:
        """The roles that the account gets."""
        return [role for role in self.new if role not in self.old]

    @property
    def removed_roles(self) -> list[str]:
        """The roles that the account loses."""
        return [role for role in self.old if role not in self.new]

    @property
    def added_role_names(self) -> list[str]:
        """The labels of the added roles."""
        return [str(Role(role).label) for role in self.added_roles]

    @property
    def removed_role_names(self) -> list[str]:
        """The labels of the removed roles."""
        return [str(Role(role).label) for role in self.removed_roles]
