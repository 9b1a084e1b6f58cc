import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Arrival",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("arrived", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("way", models.CharField(choices=[("pipe", "pipe"), ("lmtp", "LMTP"), ("imap", "IMAP")], max_length=4)),
                ("sender", models.CharField(max_length=320, null=True)),
                (
                    "recipients",
                    django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=320), blank=True, default=list),
                ),
                ("octets", models.BinaryField(null=True)),
                ("size", models.PositiveIntegerField()),
                ("sha256", models.BinaryField(max_length=32)),
                ("message_id", models.CharField(blank=True, max_length=250)),
                ("place", models.CharField(max_length=500, null=True, unique=True)),
                ("times", models.PositiveIntegerField(default=1)),
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "waiting"), ("taken", "taken"), ("quarantined", "in quarantine"), ("deleted", "deleted")],
                        default="waiting",
                        max_length=11,
                    ),
                ),
                ("tries", models.PositiveIntegerField(default=0)),
                ("claimed_until", models.DateTimeField(null=True)),
                ("ended", models.DateTimeField(null=True)),
                ("reason", models.CharField(blank=True, max_length=200)),
                ("detail", models.CharField(blank=True, max_length=500)),
                (
                    "ended_by",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [
                    models.Index(condition=models.Q(("state", "waiting")), fields=["id"], name="inbound_waiting"),
                    models.Index(fields=["state", "-id"], name="inbound_by_state"),
                    models.Index(condition=models.Q(("octets__isnull", False)), fields=["ended"], name="inbound_to_be_erased"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        models.F("message_id"),
                        models.F("sha256"),
                        condition=models.Q(("message_id", ""), _negated=True),
                        name="inbound_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["waiting", "taken", "quarantined", "deleted"])), name="inbound_state"
                    ),
                    models.CheckConstraint(condition=models.Q(("way__in", ["pipe", "lmtp", "imap"])), name="inbound_way"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("ended", None), ("state", "waiting")),
                            models.Q(models.Q(("state", "waiting"), _negated=True), ("ended__isnull", False)),
                            _connector="OR",
                        ),
                        name="inbound_ended",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("octets__isnull", False), ("state__in", ["taken", "deleted"]), _connector="OR"),
                        name="inbound_kept_until_read",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "quarantined"), _negated=True), models.Q(("reason", ""), _negated=True), _connector="OR"
                        ),
                        name="inbound_quarantine_says_why",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("claimed_until", None), models.Q(("state", "waiting"), ("tries__gt", 0)), _connector="OR"),
                        name="inbound_claimed_is_a_try",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("place", None), models.Q(("place", ""), _negated=True), _connector="OR"), name="inbound_place"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Mailbox",
            fields=[
                ("id", models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False)),
                ("place", models.CharField(max_length=700)),
                ("tried", models.DateTimeField()),
                ("succeeded", models.DateTimeField(null=True)),
                ("failing", models.DateTimeField(null=True)),
                ("error", models.CharField(blank=True, max_length=500)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("id", 1)), name="inbound_one_mailbox"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("error", ""), ("failing", None)),
                            models.Q(("failing__isnull", False), models.Q(("error", ""), _negated=True)),
                            _connector="OR",
                        ),
                        name="inbound_failing_says_why",
                    ),
                ],
            },
        ),
    ]
