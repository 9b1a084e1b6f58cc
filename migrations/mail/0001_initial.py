import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

import apps.lib.database.email_lookups


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Message",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("to", models.EmailField(max_length=254)),
                ("language", models.CharField(choices=[("en", "English"), ("de", "Deutsch")], max_length=2)),
                ("template", models.CharField(blank=True, max_length=60)),
                ("notice", models.CharField(blank=True, max_length=20)),
                ("urgent", models.BooleanField(default=False)),
                ("confidential", models.BooleanField(default=False)),
                ("automatic", models.BooleanField(default=True)),
                ("subject", models.CharField(max_length=250)),
                ("text", models.TextField(blank=True)),
                ("html", models.TextField(blank=True)),
                ("sender", models.CharField(max_length=320)),
                ("reply_to", models.CharField(blank=True, max_length=320)),
                ("message_id", models.CharField(max_length=250, unique=True)),
                ("in_reply_to", models.CharField(blank=True, max_length=998)),
                ("references", models.TextField(blank=True)),
                ("unsubscribe", models.CharField(blank=True, max_length=800)),
                ("about_type", models.CharField(blank=True, max_length=60)),
                ("about_id", models.BigIntegerField(null=True)),
                ("key", models.CharField(max_length=120, null=True, unique=True)),
                ("written", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "waiting"), ("sent", "sent"), ("failed", "failed"), ("discarded", "discarded")],
                        default="waiting",
                        max_length=9,
                    ),
                ),
                ("tries", models.PositiveIntegerField(default=0)),
                ("due", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("claimed_until", models.DateTimeField(null=True)),
                ("error", models.CharField(blank=True, max_length=500)),
                ("ended", models.DateTimeField(null=True)),
                ("reason", models.CharField(blank=True, max_length=200)),
                ("erased", models.DateTimeField(null=True)),
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
                    models.Index(
                        models.OrderBy(models.F("urgent"), descending=True),
                        models.F("due"),
                        models.F("id"),
                        condition=models.Q(("state", "waiting")),
                        name="mail_waiting",
                    ),
                    models.Index(fields=["state", "-id"], name="mail_by_state"),
                    models.Index(
                        condition=models.Q(("about_type", ""), _negated=True),
                        fields=["about_type", "about_id"],
                        name="mail_by_what_it_tells",
                    ),
                    models.Index(condition=models.Q(("erased", None)), fields=["ended"], name="mail_to_be_erased"),
                    models.Index(apps.lib.database.email_lookups.AsciiLower("to"), name="mail_by_address"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["waiting", "sent", "failed", "discarded"])), name="mail_state"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("ended", None), ("state", "waiting")),
                            models.Q(models.Q(("state", "waiting"), _negated=True), ("ended__isnull", False)),
                            _connector="OR",
                        ),
                        name="mail_ended",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("claimed_until", None), ("tries__gt", 0), _connector="OR"), name="mail_claimed_is_a_try"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(models.Q(("to", ""), _negated=True), models.Q(("message_id", ""), _negated=True)),
                        name="mail_goes_somewhere",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("key", None), models.Q(("key", ""), _negated=True), _connector="OR"), name="mail_key"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("about_id", None), ("about_type", "")),
                            models.Q(models.Q(("about_type", ""), _negated=True), ("about_id__isnull", False)),
                            _connector="OR",
                        ),
                        name="mail_about",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="SwitchedOff",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("address", models.EmailField(max_length=254)),
                ("notice", models.CharField(max_length=20)),
                ("since", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(models.Q(("address", ""), _negated=True), models.Q(("notice", ""), _negated=True)),
                        name="mail_switched_off_what",
                    ),
                    models.UniqueConstraint(
                        apps.lib.database.email_lookups.AsciiLower("address"), models.F("notice"), name="mail_switched_off_once"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ServerAway",
            fields=[
                ("id", models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False)),
                ("since", models.DateTimeField()),
                ("failures", models.PositiveIntegerField(default=1)),
                ("next_try", models.DateTimeField()),
                ("error", models.CharField(max_length=500)),
            ],
            options={
                "constraints": [models.CheckConstraint(condition=models.Q(("id", 1)), name="mail_one_server")],
            },
        ),
    ]
