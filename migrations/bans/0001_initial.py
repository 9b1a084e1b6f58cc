import django.contrib.postgres.constraints
import django.contrib.postgres.fields.ranges
import django.contrib.postgres.indexes
import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.datetime
import django.db.models.functions.text
import django.db.models.lookups
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models

import apps.lib.fields

# A listener's packets are not tracked, so what is its own can be nobody else's. Whoever writes a listener waits for those who write
# forwards and pools, and they for him; among themselves they do not wait. `ports`: how many ports a forward has, where it can have several.
APART = """
CREATE FUNCTION bans_listener_apart() RETURNS trigger LANGUAGE plpgsql AS $apart$
DECLARE
    culprit text;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('bans_listener', 0));
    SELECT p.name || ' (' || p.prefix || ')' INTO culprit FROM network_pool p
        WHERE p.kind IN ('private4', 'prefix6') AND p.prefix >>= NEW.address LIMIT 1;
    IF FOUND THEN
        RAISE exclusion_violation USING MESSAGE = 'listener ' || NEW.name || ' lies in the pool ' || culprit,
            CONSTRAINT = 'listener_outside_pools', DETAIL = culprit;
    END IF;
    SELECT f.id INTO culprit FROM nat_portforward f
        WHERE f.public = NEW.address AND f.protocol = NEW.protocol AND f.public_port <= NEW.port
            AND NEW.port < f.public_port + coalesce((to_jsonb(f) ->> 'ports')::int, 1)
            AND (upper_inf(f.valid) OR upper(f.valid) > statement_timestamp()) LIMIT 1;
    IF FOUND THEN
        RAISE exclusion_violation USING MESSAGE = 'listener ' || NEW.name || ' is the public side of forward ' || culprit,
            CONSTRAINT = 'listener_beside_forwards', DETAIL = culprit;
    END IF;
    RETURN NEW;
END
$apart$;
CREATE FUNCTION bans_listener_beside_forward() RETURNS trigger LANGUAGE plpgsql AS $apart$
DECLARE
    culprit text;
BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('bans_listener', 0));
    SELECT l.name INTO culprit FROM bans_listener l
        WHERE l.address = NEW.public AND l.protocol = NEW.protocol AND l.port >= NEW.public_port
            AND l.port < NEW.public_port + coalesce((to_jsonb(NEW) ->> 'ports')::int, 1)
            AND (upper_inf(NEW.valid) OR upper(NEW.valid) > statement_timestamp()) LIMIT 1;
    IF FOUND THEN
        RAISE exclusion_violation USING MESSAGE = 'forward from ' || host(NEW.public) || ' is where ' || culprit || ' listens',
            CONSTRAINT = 'listener_beside_forwards', DETAIL = culprit;
    END IF;
    RETURN NEW;
END
$apart$;
CREATE FUNCTION bans_listener_outside_pool() RETURNS trigger LANGUAGE plpgsql AS $apart$
DECLARE
    culprit text;
BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('bans_listener', 0));
    SELECT l.name || ' (' || host(l.address) || ')' INTO culprit FROM bans_listener l
        WHERE NEW.kind IN ('private4', 'prefix6') AND NEW.prefix >>= l.address LIMIT 1;
    IF FOUND THEN
        RAISE exclusion_violation USING MESSAGE = 'pool ' || NEW.prefix || ' holds the listener ' || culprit,
            CONSTRAINT = 'listener_outside_pools', DETAIL = culprit;
    END IF;
    RETURN NEW;
END
$apart$;
CREATE TRIGGER listener_apart BEFORE INSERT OR UPDATE ON bans_listener
    FOR EACH ROW EXECUTE FUNCTION bans_listener_apart();
CREATE TRIGGER listener_apart BEFORE INSERT OR UPDATE ON nat_portforward
    FOR EACH ROW EXECUTE FUNCTION bans_listener_beside_forward();
CREATE TRIGGER listener_apart BEFORE INSERT OR UPDATE ON network_pool
    FOR EACH ROW EXECUTE FUNCTION bans_listener_outside_pool();
"""
TOGETHER = """
DROP FUNCTION bans_listener_apart CASCADE;
DROP FUNCTION bans_listener_beside_forward CASCADE;
DROP FUNCTION bans_listener_outside_pool CASCADE;
"""


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("lib", "0001_initial"),
        ("members", "0001_initial"),
        ("nat", "0001_initial"),
        ("network", "0001_initial"),
        ("pghistory", "0007_auto_20250421_0444"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Block",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                (
                    "changed_in",
                    apps.lib.fields.TransactionIdField(
                        db_default=django.db.models.expressions.RawSQL("pg_current_xact_id()", ()), editable=False
                    ),
                ),
                ("changed_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                (
                    "reason",
                    models.CharField(
                        choices=[
                            ("abuse", "complaint about abuse"),
                            ("infected", "infected device"),
                            ("unpaid", "fees not paid"),
                            ("rules", "against the rules of use"),
                            ("other", "other reason"),
                        ],
                        max_length=8,
                        verbose_name="reason",
                    ),
                ),
                ("message", models.CharField(blank=True, max_length=500, verbose_name="message to the member")),
                ("note", models.TextField(blank=True, verbose_name="internal note")),
                ("valid", django.contrib.postgres.fields.ranges.DateTimeRangeField(verbose_name="valid")),
                (
                    "author",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "lifted_by",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("member", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="blocks", to="members.member")),
            ],
            options={
                "ordering": ["-id"],
                "constraints": [
                    django.contrib.postgres.constraints.ExclusionConstraint(
                        expressions=[("member", "="), ("valid", "&&")], name="block_one_at_a_time"
                    ),
                    models.CheckConstraint(condition=models.Q(("valid__isempty", False)), name="block_valid_some_time"),
                    models.CheckConstraint(
                        condition=models.Q(("reason__in", ["abuse", "infected", "unpaid", "rules", "other"])), name="block_reason"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="BlockEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                (
                    "reason",
                    models.CharField(
                        choices=[
                            ("abuse", "complaint about abuse"),
                            ("infected", "infected device"),
                            ("unpaid", "fees not paid"),
                            ("rules", "against the rules of use"),
                            ("other", "other reason"),
                        ],
                        max_length=8,
                        verbose_name="reason",
                    ),
                ),
                ("message", models.CharField(blank=True, max_length=500, verbose_name="message to the member")),
                ("note", models.TextField(blank=True, verbose_name="internal note")),
                ("valid", django.contrib.postgres.fields.ranges.DateTimeRangeField(verbose_name="valid")),
                (
                    "author",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "lifted_by",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "member",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="members.member",
                    ),
                ),
                (
                    "pgh_context",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="pghistory.context",
                    ),
                ),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="events", to="bans.block"
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Notice",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("ipv4", apps.lib.fields.AddressField(blank=True, null=True, verbose_name="IPv4 address of the notice page")),
                ("ipv6", apps.lib.fields.AddressField(blank=True, null=True, verbose_name="IPv6 address of the notice page")),
                ("port", models.PositiveIntegerField(default=80, verbose_name="TCP port of the notice page")),
                ("contact", models.CharField(blank=True, max_length=200, verbose_name="contact")),
                (
                    "group",
                    models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name="notice", to="network.gatewaygroup"),
                ),
            ],
            options={
                "ordering": ["group"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            django.db.models.lookups.Exact(
                                models.Func(models.F("ipv4"), function="family", output_field=models.IntegerField()), 4
                            )
                        ),
                        name="notice_ipv4_is_ipv4",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            django.db.models.lookups.Exact(
                                models.Func(models.F("ipv6"), function="family", output_field=models.IntegerField()), 6
                            )
                        ),
                        name="notice_ipv6_is_ipv6",
                    ),
                    models.CheckConstraint(condition=models.Q(("port__range", (1, 65535))), name="notice_port"),
                ],
            },
        ),
        migrations.CreateModel(
            name="NoticeEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("ipv4", apps.lib.fields.AddressField(blank=True, null=True, verbose_name="IPv4 address of the notice page")),
                ("ipv6", apps.lib.fields.AddressField(blank=True, null=True, verbose_name="IPv6 address of the notice page")),
                ("port", models.PositiveIntegerField(default=80, verbose_name="TCP port of the notice page")),
                ("contact", models.CharField(blank=True, max_length=200, verbose_name="contact")),
                (
                    "group",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="network.gatewaygroup",
                    ),
                ),
                (
                    "pgh_context",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="pghistory.context",
                    ),
                ),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="events", to="bans.notice"
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Reachable",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=60, verbose_name="name")),
                ("address", apps.lib.fields.AddressField(verbose_name="address")),
                ("protocol", models.CharField(choices=[("tcp", "TCP"), ("udp", "UDP")], max_length=3, verbose_name="protocol")),
                ("port", models.PositiveIntegerField(verbose_name="port")),
                ("notice", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="reachable", to="bans.notice")),
            ],
            options={
                "ordering": ["name", "id"],
                "constraints": [
                    models.UniqueConstraint(fields=("notice", "address", "protocol", "port"), name="reachable_once"),
                    models.CheckConstraint(condition=models.Q(("protocol__in", ["tcp", "udp"])), name="reachable_protocol"),
                    models.CheckConstraint(condition=models.Q(("port__range", (1, 65535))), name="reachable_port"),
                ],
            },
        ),
        migrations.CreateModel(
            name="ReachableEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("name", models.CharField(max_length=60, verbose_name="name")),
                ("address", apps.lib.fields.AddressField(verbose_name="address")),
                ("protocol", models.CharField(choices=[("tcp", "TCP"), ("udp", "UDP")], max_length=3, verbose_name="protocol")),
                ("port", models.PositiveIntegerField(verbose_name="port")),
                (
                    "notice",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="bans.notice",
                    ),
                ),
                (
                    "pgh_context",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="pghistory.context",
                    ),
                ),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="events", to="bans.reachable"
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Listener",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                (
                    "changed_in",
                    apps.lib.fields.TransactionIdField(
                        db_default=django.db.models.expressions.RawSQL("pg_current_xact_id()", ()), editable=False
                    ),
                ),
                ("changed_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ("name", models.CharField(max_length=60, verbose_name="name")),
                ("address", apps.lib.fields.AddressField(verbose_name="address")),
                ("protocol", models.CharField(choices=[("tcp", "TCP"), ("udp", "UDP")], max_length=3, verbose_name="protocol")),
                ("port", models.PositiveIntegerField(verbose_name="port")),
                ("enabled", models.BooleanField(default=True, verbose_name="on")),
                ("note", models.CharField(blank=True, max_length=200, verbose_name="note")),
                (
                    "group",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="listeners", to="network.gatewaygroup"),
                ),
                ("guarded", models.BooleanField(db_default=False, default=False, verbose_name="SYN flood guard")),
                ("window_scale", models.PositiveSmallIntegerField(db_default=7, default=7, verbose_name="window scale")),
            ],
            options={
                "ordering": ["name", "id"],
                "constraints": [
                    models.UniqueConstraint(fields=("address", "protocol", "port"), name="listener_once"),
                    models.CheckConstraint(condition=models.Q(("name", ""), _negated=True), name="listener_has_a_name"),
                    models.CheckConstraint(condition=models.Q(("protocol__in", ["tcp", "udp"])), name="listener_protocol"),
                    models.CheckConstraint(condition=models.Q(("port__range", (1, 65535))), name="listener_port"),
                    models.CheckConstraint(
                        condition=models.Q(("guarded", False), ("protocol", "tcp"), _connector="OR"), name="listener_guard_is_for_tcp"
                    ),
                    models.CheckConstraint(condition=models.Q(("window_scale__lte", 14)), name="listener_window_scale"),
                ],
            },
        ),
        migrations.CreateModel(
            name="ListenerEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("name", models.CharField(max_length=60, verbose_name="name")),
                ("address", apps.lib.fields.AddressField(verbose_name="address")),
                ("protocol", models.CharField(choices=[("tcp", "TCP"), ("udp", "UDP")], max_length=3, verbose_name="protocol")),
                ("port", models.PositiveIntegerField(verbose_name="port")),
                ("enabled", models.BooleanField(default=True, verbose_name="on")),
                ("note", models.CharField(blank=True, max_length=200, verbose_name="note")),
                (
                    "group",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="network.gatewaygroup",
                    ),
                ),
                (
                    "pgh_context",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="pghistory.context",
                    ),
                ),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="events", to="bans.listener"
                    ),
                ),
                ("guarded", models.BooleanField(db_default=False, default=False, verbose_name="SYN flood guard")),
                ("window_scale", models.PositiveSmallIntegerField(db_default=7, default=7, verbose_name="window scale")),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="ServerInterface",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=15, verbose_name="interface for servers")),
                (
                    "gateway",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="server_interface", to="network.gateway"
                    ),
                ),
            ],
            options={
                "constraints": [models.CheckConstraint(condition=models.Q(("name", ""), _negated=True), name="serverinterface_has_a_name")],
            },
        ),
        migrations.CreateModel(
            name="ServerInterfaceEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("name", models.CharField(max_length=15, verbose_name="interface for servers")),
                (
                    "gateway",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="network.gateway",
                    ),
                ),
                (
                    "pgh_context",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="pghistory.context",
                    ),
                ),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="events",
                        to="bans.serverinterface",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="BanList",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("name", models.CharField(max_length=60, unique=True, verbose_name="name")),
                ("description", models.CharField(blank=True, max_length=200, verbose_name="description")),
                ("enabled", models.BooleanField(default=True, verbose_name="on")),
                ("changed_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                (
                    "changed_in",
                    apps.lib.fields.TransactionIdField(
                        db_default=django.db.models.expressions.RawSQL("pg_current_xact_id()", ()), editable=False
                    ),
                ),
            ],
            options={
                "ordering": ["name"],
                "constraints": [models.CheckConstraint(condition=models.Q(("name", ""), _negated=True), name="banlist_has_a_name")],
            },
        ),
        migrations.CreateModel(
            name="BanListEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("name", models.CharField(max_length=60, verbose_name="name")),
                ("description", models.CharField(blank=True, max_length=200, verbose_name="description")),
                ("enabled", models.BooleanField(default=True, verbose_name="on")),
                (
                    "pgh_context",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="pghistory.context",
                    ),
                ),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="events", to="bans.banlist"
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Ban",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                (
                    "changed_in",
                    apps.lib.fields.TransactionIdField(
                        db_default=django.db.models.expressions.RawSQL("pg_current_xact_id()", ()), editable=False
                    ),
                ),
                ("changed_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ("prefix", apps.lib.fields.PrefixField(verbose_name="address or prefix")),
                ("comment", models.CharField(blank=True, max_length=200, verbose_name="comment")),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="since")),
                ("expires", models.DateTimeField(blank=True, null=True, verbose_name="ends")),
                (
                    "author",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("list", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="bans", to="bans.banlist")),
                (
                    "direction",
                    models.CharField(
                        choices=[("both", "both ways"), ("in", "from there"), ("out", "to there")],
                        db_default="both",
                        default="both",
                        max_length=4,
                        verbose_name="direction",
                    ),
                ),
            ],
            options={
                "ordering": ["prefix", "id"],
                "indexes": [
                    models.Index(fields=["prefix"], name="ban_by_prefix"),
                    models.Index(fields=["expires"], name="ban_by_end"),
                    django.contrib.postgres.indexes.GinIndex(
                        django.contrib.postgres.indexes.OpClass(django.db.models.functions.text.Upper("comment"), "gin_trgm_ops"),
                        name="ban_comment_search",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("list", "prefix"), name="ban_once_per_list"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                django.db.models.lookups.Exact(
                                    models.Func(models.F("prefix"), function="family", output_field=models.IntegerField()), 4
                                ),
                                django.db.models.lookups.GreaterThanOrEqual(
                                    models.Func(models.F("prefix"), function="masklen", output_field=models.IntegerField()), 8
                                ),
                            ),
                            models.Q(
                                django.db.models.lookups.Exact(
                                    models.Func(models.F("prefix"), function="family", output_field=models.IntegerField()), 6
                                ),
                                django.db.models.lookups.Range(
                                    models.Func(models.F("prefix"), function="masklen", output_field=models.IntegerField()), (16, 64)
                                ),
                            ),
                            models.Q(
                                django.db.models.lookups.Exact(
                                    models.Func(models.F("prefix"), function="family", output_field=models.IntegerField()), 6
                                ),
                                django.db.models.lookups.Exact(
                                    models.Func(models.F("prefix"), function="masklen", output_field=models.IntegerField()), 128
                                ),
                            ),
                            _connector="OR",
                        ),
                        name="ban_not_too_wide",
                    ),
                    models.CheckConstraint(condition=models.Q(("direction__in", ["both", "in", "out"])), name="ban_has_a_direction"),
                ],
            },
        ),
        migrations.CreateModel(
            name="BanEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("prefix", apps.lib.fields.PrefixField(verbose_name="address or prefix")),
                ("comment", models.CharField(blank=True, max_length=200, verbose_name="comment")),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="since")),
                ("expires", models.DateTimeField(blank=True, null=True, verbose_name="ends")),
                (
                    "author",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "pgh_context",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="pghistory.context",
                    ),
                ),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="events", to="bans.ban"
                    ),
                ),
                (
                    "list",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="bans.banlist",
                    ),
                ),
                (
                    "direction",
                    models.CharField(
                        choices=[("both", "both ways"), ("in", "from there"), ("out", "to there")],
                        db_default="both",
                        default="both",
                        max_length=4,
                        verbose_name="direction",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="AllowEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                (
                    "changed_in",
                    apps.lib.fields.TransactionIdField(
                        db_default=django.db.models.expressions.RawSQL("pg_current_xact_id()", ()), editable=False
                    ),
                ),
                ("changed_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ("prefix", apps.lib.fields.PrefixField(unique=True, verbose_name="address or prefix")),
                ("comment", models.CharField(blank=True, max_length=200, verbose_name="comment")),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="since")),
                ("expires", models.DateTimeField(blank=True, null=True, verbose_name="ends")),
                (
                    "author",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "verbose_name": "allow entry",
                "verbose_name_plural": "allow entries",
                "ordering": ["prefix"],
                "indexes": [models.Index(fields=["expires"], name="allowentry_by_end")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                django.db.models.lookups.Exact(
                                    models.Func(models.F("prefix"), function="family", output_field=models.IntegerField()), 4
                                ),
                                django.db.models.lookups.GreaterThanOrEqual(
                                    models.Func(models.F("prefix"), function="masklen", output_field=models.IntegerField()), 8
                                ),
                            ),
                            models.Q(
                                django.db.models.lookups.Exact(
                                    models.Func(models.F("prefix"), function="family", output_field=models.IntegerField()), 6
                                ),
                                django.db.models.lookups.Range(
                                    models.Func(models.F("prefix"), function="masklen", output_field=models.IntegerField()), (16, 64)
                                ),
                            ),
                            models.Q(
                                django.db.models.lookups.Exact(
                                    models.Func(models.F("prefix"), function="family", output_field=models.IntegerField()), 6
                                ),
                                django.db.models.lookups.Exact(
                                    models.Func(models.F("prefix"), function="masklen", output_field=models.IntegerField()), 128
                                ),
                            ),
                            _connector="OR",
                        ),
                        name="allowentry_not_too_wide",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="AllowEntryEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("prefix", apps.lib.fields.PrefixField(verbose_name="address or prefix")),
                ("comment", models.CharField(blank=True, max_length=200, verbose_name="comment")),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="since")),
                ("expires", models.DateTimeField(blank=True, null=True, verbose_name="ends")),
                (
                    "author",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "pgh_context",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="pghistory.context",
                    ),
                ),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="events", to="bans.allowentry"
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="BanHits",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("prefix", apps.lib.fields.PrefixField()),
                ("packets", models.PositiveBigIntegerField(default=0)),
                ("octets", models.PositiveBigIntegerField(default=0)),
                ("last_hit", models.DateTimeField(null=True)),
                ("gateway", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="network.gateway")),
                (
                    "direction",
                    models.CharField(
                        choices=[("both", "both ways"), ("in", "from there"), ("out", "to there")],
                        db_default="both",
                        default="both",
                        max_length=4,
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["prefix"], name="banhits_by_prefix")],
                "constraints": [models.UniqueConstraint(fields=("gateway", "prefix", "direction"), name="banhits_once_per_element")],
            },
        ),
        migrations.CreateModel(
            name="Upload",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created", models.DateTimeField(auto_now_add=True)),
                ("name", models.CharField(max_length=200)),
                ("content", models.BinaryField()),
                ("keep", models.BooleanField(default=False)),
                ("minimum_count", models.PositiveIntegerField(default=0)),
                ("comment", models.CharField(blank=True, max_length=200)),
                ("expires", models.DateTimeField(null=True)),
                ("by", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("list", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="bans.banlist")),
                (
                    "direction",
                    models.CharField(
                        choices=[("both", "both ways"), ("in", "from there"), ("out", "to there")], default="both", max_length=4
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="BanFeed",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("source", models.CharField(max_length=1000, verbose_name="address or file")),
                ("interval", models.PositiveIntegerField(default=1440, verbose_name="interval in minutes")),
                ("enabled", models.BooleanField(default=True, verbose_name="on")),
                (
                    "direction",
                    models.CharField(
                        choices=[("both", "both ways"), ("in", "from there"), ("out", "to there")],
                        default="both",
                        max_length=4,
                        verbose_name="direction",
                    ),
                ),
                ("minimum_count", models.PositiveIntegerField(default=0, verbose_name="minimum count")),
                ("comment", models.CharField(blank=True, max_length=200, verbose_name="comment for entries without one")),
                ("shrink_limit", models.PositiveSmallIntegerField(default=30, verbose_name="lift at most, in percent")),
                ("due", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("claimed_until", models.DateTimeField(null=True)),
                (
                    "phase",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", "idle"),
                            ("waiting", "waiting for a worker"),
                            ("fetching", "fetching"),
                            ("importing", "reading and importing"),
                        ],
                        default="",
                        max_length=12,
                    ),
                ),
                ("octets", models.PositiveBigIntegerField(default=0)),
                ("checked", models.DateTimeField(null=True)),
                ("refreshed", models.DateTimeField(null=True)),
                ("etag", models.CharField(blank=True, max_length=1000)),
                ("last_modified", models.CharField(blank=True, max_length=200)),
                ("error", models.JSONField(null=True)),
                ("error_since", models.DateTimeField(null=True)),
                ("outcome", models.JSONField(default=dict)),
                ("held", models.BinaryField(null=True)),
                ("held_since", models.DateTimeField(null=True)),
                ("held_removed", models.PositiveIntegerField(default=0)),
                ("held_of", models.PositiveIntegerField(default=0)),
                ("list", models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name="feed", to="bans.banlist")),
                ("claim", models.UUIDField(null=True)),
            ],
            options={
                "verbose_name": "feed",
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("interval__range", (5, 43200))), name="banfeed_interval"),
                    models.CheckConstraint(condition=models.Q(("shrink_limit__lte", 100)), name="banfeed_shrink_limit"),
                    models.CheckConstraint(condition=models.Q(("source", ""), _negated=True), name="banfeed_has_a_source"),
                    models.CheckConstraint(condition=models.Q(("direction__in", ["both", "in", "out"])), name="banfeed_has_a_direction"),
                ],
            },
        ),
        migrations.CreateModel(
            name="BanFeedEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("source", models.CharField(max_length=1000, verbose_name="address or file")),
                ("interval", models.PositiveIntegerField(default=1440, verbose_name="interval in minutes")),
                ("enabled", models.BooleanField(default=True, verbose_name="on")),
                (
                    "direction",
                    models.CharField(
                        choices=[("both", "both ways"), ("in", "from there"), ("out", "to there")],
                        default="both",
                        max_length=4,
                        verbose_name="direction",
                    ),
                ),
                ("minimum_count", models.PositiveIntegerField(default=0, verbose_name="minimum count")),
                ("comment", models.CharField(blank=True, max_length=200, verbose_name="comment for entries without one")),
                ("shrink_limit", models.PositiveSmallIntegerField(default=30, verbose_name="lift at most, in percent")),
                (
                    "list",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="bans.banlist",
                    ),
                ),
                (
                    "pgh_context",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="pghistory.context",
                    ),
                ),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="events", to="bans.banfeed"
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="block",
            trigger=pgtrigger.compiler.Trigger(
                name="stamp_transaction",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."member_id" IS DISTINCT FROM (NEW."member_id") OR OLD."valid" IS DISTINCT FROM (NEW."valid"))',
                    func="NEW.changed_in = pg_current_xact_id(); NEW.changed_at = statement_timestamp(); RETURN NEW;",
                    hash="737f111bfcf4adcda6f764682e5fdc8b2d100c03",
                    operation="UPDATE",
                    pgid="pgtrigger_stamp_transaction_a082c",
                    table="bans_block",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="block",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "bans_blockevent" ("author_id", "id", "lifted_by_id", "member_id", "message", "note", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "valid", "version") SELECT new_values."author_id", new_values."id", new_values."lifted_by_id", new_values."member_id", new_values."message", new_values."note", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."reason", new_values."valid", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="00cb6d31cd7a6aa605a084271bf83e030219445b",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_7e331",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="bans_block",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="block",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."author_id" IS DISTINCT FROM (NEW."author_id") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."lifted_by_id" IS DISTINCT FROM (NEW."lifted_by_id") OR OLD."member_id" IS DISTINCT FROM (NEW."member_id") OR OLD."message" IS DISTINCT FROM (NEW."message") OR OLD."note" IS DISTINCT FROM (NEW."note") OR OLD."reason" IS DISTINCT FROM (NEW."reason") OR OLD."valid" IS DISTINCT FROM (NEW."valid") OR OLD."version" IS DISTINCT FROM (NEW."version"))',
                    func='INSERT INTO "bans_blockevent" ("author_id", "id", "lifted_by_id", "member_id", "message", "note", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "valid", "version") VALUES (NEW."author_id", NEW."id", NEW."lifted_by_id", NEW."member_id", NEW."message", NEW."note", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."reason", NEW."valid", NEW."version"); RETURN NULL;',
                    hash="c57fd335e4494afbbe099acdaa98b4dc3309f2e2",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_28497",
                    table="bans_block",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="block",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "bans_blockevent" ("author_id", "id", "lifted_by_id", "member_id", "message", "note", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "valid", "version") SELECT old_values."author_id", old_values."id", old_values."lifted_by_id", old_values."member_id", old_values."message", old_values."note", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."reason", old_values."valid", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="72c803e57b527719636f748e2dbcebaeba15f720",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_249a1",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="bans_block",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="notice",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "bans_noticeevent" ("contact", "group_id", "id", "ipv4", "ipv6", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "port", "version") SELECT new_values."contact", new_values."group_id", new_values."id", new_values."ipv4", new_values."ipv6", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."port", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="08b3cf02671c399f608d6e874e0fb8eba8a684d2",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_26312",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="bans_notice",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="notice",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "bans_noticeevent" ("contact", "group_id", "id", "ipv4", "ipv6", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "port", "version") VALUES (NEW."contact", NEW."group_id", NEW."id", NEW."ipv4", NEW."ipv6", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."port", NEW."version"); RETURN NULL;',
                    hash="ed6faf13dd6a165b3b82d3e5ac52f87e7f0e07d0",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_c33b6",
                    table="bans_notice",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="notice",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "bans_noticeevent" ("contact", "group_id", "id", "ipv4", "ipv6", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "port", "version") SELECT old_values."contact", old_values."group_id", old_values."id", old_values."ipv4", old_values."ipv6", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."port", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="3669acf043ea6fbe673551f3ac73e2409dabaf4e",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_1fc4a",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="bans_notice",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="reachable",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "bans_reachableevent" ("address", "id", "name", "notice_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "port", "protocol") SELECT new_values."address", new_values."id", new_values."name", new_values."notice_id", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."port", new_values."protocol" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="e2e9b7413ccc84d742f34ed6c21f22c6a331bba6",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_e584a",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="bans_reachable",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="reachable",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "bans_reachableevent" ("address", "id", "name", "notice_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "port", "protocol") VALUES (NEW."address", NEW."id", NEW."name", NEW."notice_id", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."port", NEW."protocol"); RETURN NULL;',
                    hash="c68313b1b506924f886dd4bc7131a8396f1a2fd2",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_de3f1",
                    table="bans_reachable",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="reachable",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "bans_reachableevent" ("address", "id", "name", "notice_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "port", "protocol") SELECT old_values."address", old_values."id", old_values."name", old_values."notice_id", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."port", old_values."protocol" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="1d52fd890423dcda1ded10704ddf60d0a9065c42",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_6fa03",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="bans_reachable",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="listener",
            trigger=pgtrigger.compiler.Trigger(
                name="stamp_transaction",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."address" IS DISTINCT FROM (NEW."address") OR OLD."enabled" IS DISTINCT FROM (NEW."enabled") OR OLD."group_id" IS DISTINCT FROM (NEW."group_id") OR OLD."guarded" IS DISTINCT FROM (NEW."guarded") OR OLD."name" IS DISTINCT FROM (NEW."name") OR OLD."port" IS DISTINCT FROM (NEW."port") OR OLD."protocol" IS DISTINCT FROM (NEW."protocol") OR OLD."window_scale" IS DISTINCT FROM (NEW."window_scale"))',
                    func="NEW.changed_in = pg_current_xact_id(); NEW.changed_at = statement_timestamp(); RETURN NEW;",
                    hash="8544933643724b46339452fdc07fdfb146a4c0f4",
                    operation="UPDATE",
                    pgid="pgtrigger_stamp_transaction_9b50c",
                    table="bans_listener",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="listener",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "bans_listenerevent" ("address", "enabled", "group_id", "guarded", "id", "name", "note", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "port", "protocol", "version", "window_scale") SELECT new_values."address", new_values."enabled", new_values."group_id", new_values."guarded", new_values."id", new_values."name", new_values."note", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."port", new_values."protocol", new_values."version", new_values."window_scale" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="b110a11519c90d53b56f9079e57b077f17d1eb95",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_be2a6",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="bans_listener",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="listener",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."address" IS DISTINCT FROM (NEW."address") OR OLD."enabled" IS DISTINCT FROM (NEW."enabled") OR OLD."group_id" IS DISTINCT FROM (NEW."group_id") OR OLD."guarded" IS DISTINCT FROM (NEW."guarded") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."name" IS DISTINCT FROM (NEW."name") OR OLD."note" IS DISTINCT FROM (NEW."note") OR OLD."port" IS DISTINCT FROM (NEW."port") OR OLD."protocol" IS DISTINCT FROM (NEW."protocol") OR OLD."version" IS DISTINCT FROM (NEW."version") OR OLD."window_scale" IS DISTINCT FROM (NEW."window_scale"))',
                    func='INSERT INTO "bans_listenerevent" ("address", "enabled", "group_id", "guarded", "id", "name", "note", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "port", "protocol", "version", "window_scale") VALUES (NEW."address", NEW."enabled", NEW."group_id", NEW."guarded", NEW."id", NEW."name", NEW."note", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."port", NEW."protocol", NEW."version", NEW."window_scale"); RETURN NULL;',
                    hash="32fb558e216cae41776fa2b75caeb3b8084cd5ee",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_f5910",
                    table="bans_listener",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="listener",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "bans_listenerevent" ("address", "enabled", "group_id", "guarded", "id", "name", "note", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "port", "protocol", "version", "window_scale") SELECT old_values."address", old_values."enabled", old_values."group_id", old_values."guarded", old_values."id", old_values."name", old_values."note", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."port", old_values."protocol", old_values."version", old_values."window_scale" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="57a5117feb6edb29a1e4f9f40a16c374ba021887",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_9537a",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="bans_listener",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="serverinterface",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "bans_serverinterfaceevent" ("gateway_id", "id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id") SELECT new_values."gateway_id", new_values."id", new_values."name", _pgh_attached_context.value, NOW(), \'insert\', new_values."id" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="c9d85277301bb7b5297e9a78ca9ae81bd6ee899f",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_6adf4",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="bans_serverinterface",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="serverinterface",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "bans_serverinterfaceevent" ("gateway_id", "id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id") VALUES (NEW."gateway_id", NEW."id", NEW."name", _pgh_attach_context(), NOW(), \'update\', NEW."id"); RETURN NULL;',
                    hash="b12051bbe61b0f761aec7c7d148cb6362bfb774b",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_3bc25",
                    table="bans_serverinterface",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="serverinterface",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "bans_serverinterfaceevent" ("gateway_id", "id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id") SELECT old_values."gateway_id", old_values."id", old_values."name", _pgh_attached_context.value, NOW(), \'delete\', old_values."id" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="48053087824f2ed1bc2a617a72fd8a837340921d",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_1ce5e",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="bans_serverinterface",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="banlist",
            trigger=pgtrigger.compiler.Trigger(
                name="stamp_transaction",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."enabled" IS DISTINCT FROM (NEW."enabled"))',
                    func="NEW.changed_in = pg_current_xact_id(); NEW.changed_at = statement_timestamp(); RETURN NEW;",
                    hash="056a17cd3dbe9071c0a12ae5fd8631d1c5b69dce",
                    operation="UPDATE",
                    pgid="pgtrigger_stamp_transaction_93ef2",
                    table="bans_banlist",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="banlist",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "bans_banlistevent" ("description", "enabled", "id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "version") SELECT new_values."description", new_values."enabled", new_values."id", new_values."name", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="19d48f2e22094d2462d4c0b4ea9b7629c61f9b2d",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_9dc6a",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="bans_banlist",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="banlist",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."description" IS DISTINCT FROM (NEW."description") OR OLD."enabled" IS DISTINCT FROM (NEW."enabled") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."name" IS DISTINCT FROM (NEW."name") OR OLD."version" IS DISTINCT FROM (NEW."version"))',
                    func='INSERT INTO "bans_banlistevent" ("description", "enabled", "id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "version") VALUES (NEW."description", NEW."enabled", NEW."id", NEW."name", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."version"); RETURN NULL;',
                    hash="fa39155422c887637c802317bfb0caaf91215470",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_c956b",
                    table="bans_banlist",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="banlist",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "bans_banlistevent" ("description", "enabled", "id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "version") SELECT old_values."description", old_values."enabled", old_values."id", old_values."name", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="a6d7fd005ab486485a35ed00151af1fe64172b8a",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_c338b",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="bans_banlist",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="ban",
            trigger=pgtrigger.compiler.Trigger(
                name="stamp_transaction",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="NEW.changed_in = pg_current_xact_id(); NEW.changed_at = statement_timestamp(); RETURN NEW;",
                    hash="56219aa54c9ca612e529e2ab0cd1d8139b178f7c",
                    operation="UPDATE",
                    pgid="pgtrigger_stamp_transaction_ce10e",
                    table="bans_ban",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="ban",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "bans_banevent" ("author_id", "comment", "created", "direction", "expires", "id", "list_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "prefix", "version") SELECT new_values."author_id", new_values."comment", new_values."created", new_values."direction", new_values."expires", new_values."id", new_values."list_id", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."prefix", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="482c258403cb8cdb210f6968e65e494303ad0c03",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_942ba",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="bans_ban",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="ban",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."author_id" IS DISTINCT FROM (NEW."author_id") OR OLD."comment" IS DISTINCT FROM (NEW."comment") OR OLD."created" IS DISTINCT FROM (NEW."created") OR OLD."direction" IS DISTINCT FROM (NEW."direction") OR OLD."expires" IS DISTINCT FROM (NEW."expires") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."list_id" IS DISTINCT FROM (NEW."list_id") OR OLD."prefix" IS DISTINCT FROM (NEW."prefix") OR OLD."version" IS DISTINCT FROM (NEW."version"))',
                    func='INSERT INTO "bans_banevent" ("author_id", "comment", "created", "direction", "expires", "id", "list_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "prefix", "version") VALUES (NEW."author_id", NEW."comment", NEW."created", NEW."direction", NEW."expires", NEW."id", NEW."list_id", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."prefix", NEW."version"); RETURN NULL;',
                    hash="f23fe1cecfd69c803313ce1e839a2b11e5ad0d41",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_31984",
                    table="bans_ban",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="ban",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "bans_banevent" ("author_id", "comment", "created", "direction", "expires", "id", "list_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "prefix", "version") SELECT old_values."author_id", old_values."comment", old_values."created", old_values."direction", old_values."expires", old_values."id", old_values."list_id", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."prefix", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="8fac787eba769932db6562f326072b25863b464e",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_50bfe",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="bans_ban",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="allowentry",
            trigger=pgtrigger.compiler.Trigger(
                name="stamp_transaction",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="NEW.changed_in = pg_current_xact_id(); NEW.changed_at = statement_timestamp(); RETURN NEW;",
                    hash="02955821c76cd5942406f2d4596dd1904c4648bb",
                    operation="UPDATE",
                    pgid="pgtrigger_stamp_transaction_fd686",
                    table="bans_allowentry",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="allowentry",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "bans_allowentryevent" ("author_id", "comment", "created", "expires", "id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "prefix", "version") SELECT new_values."author_id", new_values."comment", new_values."created", new_values."expires", new_values."id", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."prefix", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="973c2b6f8c5dec33435cbd740baede411b4805ca",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_170ba",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="bans_allowentry",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="allowentry",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."author_id" IS DISTINCT FROM (NEW."author_id") OR OLD."comment" IS DISTINCT FROM (NEW."comment") OR OLD."created" IS DISTINCT FROM (NEW."created") OR OLD."expires" IS DISTINCT FROM (NEW."expires") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."prefix" IS DISTINCT FROM (NEW."prefix") OR OLD."version" IS DISTINCT FROM (NEW."version"))',
                    func='INSERT INTO "bans_allowentryevent" ("author_id", "comment", "created", "expires", "id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "prefix", "version") VALUES (NEW."author_id", NEW."comment", NEW."created", NEW."expires", NEW."id", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."prefix", NEW."version"); RETURN NULL;',
                    hash="090ba559938353addabfbf1f3ced4c536cebb356",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_aa425",
                    table="bans_allowentry",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="allowentry",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "bans_allowentryevent" ("author_id", "comment", "created", "expires", "id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "prefix", "version") SELECT old_values."author_id", old_values."comment", old_values."created", old_values."expires", old_values."id", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."prefix", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="a398a30c797f967ac6672399103080b3009a1d5f",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_c6fdf",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="bans_allowentry",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="banfeed",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "bans_banfeedevent" ("comment", "direction", "enabled", "id", "interval", "list_id", "minimum_count", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "shrink_limit", "source", "version") SELECT new_values."comment", new_values."direction", new_values."enabled", new_values."id", new_values."interval", new_values."list_id", new_values."minimum_count", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."shrink_limit", new_values."source", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="0f79a46218fc5dd7e2588d4b35fe5a77be41ddd4",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_f93d1",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="bans_banfeed",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="banfeed",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."comment" IS DISTINCT FROM (NEW."comment") OR OLD."direction" IS DISTINCT FROM (NEW."direction") OR OLD."enabled" IS DISTINCT FROM (NEW."enabled") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."interval" IS DISTINCT FROM (NEW."interval") OR OLD."list_id" IS DISTINCT FROM (NEW."list_id") OR OLD."minimum_count" IS DISTINCT FROM (NEW."minimum_count") OR OLD."shrink_limit" IS DISTINCT FROM (NEW."shrink_limit") OR OLD."source" IS DISTINCT FROM (NEW."source") OR OLD."version" IS DISTINCT FROM (NEW."version"))',
                    func='INSERT INTO "bans_banfeedevent" ("comment", "direction", "enabled", "id", "interval", "list_id", "minimum_count", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "shrink_limit", "source", "version") VALUES (NEW."comment", NEW."direction", NEW."enabled", NEW."id", NEW."interval", NEW."list_id", NEW."minimum_count", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."shrink_limit", NEW."source", NEW."version"); RETURN NULL;',
                    hash="7a45aa11f440acb3654ae7462198b38ba2e0b8c1",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_6f165",
                    table="bans_banfeed",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="banfeed",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "bans_banfeedevent" ("comment", "direction", "enabled", "id", "interval", "list_id", "minimum_count", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "shrink_limit", "source", "version") SELECT old_values."comment", old_values."direction", old_values."enabled", old_values."id", old_values."interval", old_values."list_id", old_values."minimum_count", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."shrink_limit", old_values."source", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="5197e9a643ee14a062fcb107f1e021bf720bac3e",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_64e13",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="bans_banfeed",
                    when="AFTER",
                ),
            ),
        ),
        migrations.RunSQL(APART, TOGETHER),
    ]
