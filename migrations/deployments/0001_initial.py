import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models

import apps.lib.fields
from migrations.deployments._touched import times, triggers

# Which objects each transaction touched of what reaches the gateways, whoever wrote: ORM, raw SQL, COPY, cascade.
TABLE = """
CREATE TABLE deployments_touched (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    at timestamptz NOT NULL DEFAULT statement_timestamp(),
    kind text NOT NULL,
    key text NOT NULL DEFAULT ''
);
CREATE INDEX touched_by_transaction ON deployments_touched (xid);
"""
# Of each table what reaches the gateways, and which objects a row touches.
TABLES = {
    "network_holding": (
        "id, prefix, group_id, kind, member_id, valid",
        "('holding', r.id::text), ('address', r.prefix::text)",
    ),
    "nat_natmapping": ("id, holding_id, public, sharing, block, valid", "('holding', r.holding_id::text)"),
    # Its whole range of ports, before and after.
    "nat_portforward": (
        "id, holding_id, public, protocol, public_port, private_port, ports, valid, enabled",
        "('forward', r.protocol || ' ' || host(r.public) || ' ' || r.public_port || ' ' || r.ports)",
    ),
    "nat_pinhole": (
        "id, holding_id, address, protocol, port, ports, valid, enabled",
        "('pinhole', host(r.address) || ' ' || r.protocol || ' ' || r.port || ' ' || r.ports)",
    ),
    "bans_ban": ("id, list_id, prefix, expires, direction", "('ban', r.prefix::text)"),
    "bans_banlist": ("id, enabled", "('list', r.id::text)"),
    "bans_allowentry": ("id, prefix, expires", "('allowed', r.prefix::text)"),
    # Blocks and rate limits touch all that their member holds, and so does another tariff.
    "bans_block": ("id, member_id, valid", "('member', r.member_id::text)"),
    "bans_listener": (
        "id, group_id, name, address, protocol, port, guarded, window_scale, enabled",
        "('listener', r.protocol || ' ' || host(r.address) || ' ' || r.port)",
    ),
    "traffic_ratelimit": ("id, member_id, up_kbit, down_kbit, valid", "('member', r.member_id::text)"),
    "members_member": ("id, state, tariff_id", "('member', r.id::text)"),
    # One with other rates touches everybody who has it.
    "members_tariff": ("id, up_kbit, down_kbit", "('tariff', r.id::text)"),
    # The mapping of its probe; that of no probe is nobody's.
    "network_gateway": ("id, probe_source4, probe_public4", "('address', host(coalesce(r.probe_source4, '0.0.0.0')))"),
}
TIMED = {
    "network_holding": "holding",
    "nat_natmapping": "natmapping",
    "nat_portforward": "portforward",
    "nat_pinhole": "pinhole",
    "bans_block": "block",
    "traffic_ratelimit": "ratelimit",
}


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("bans", "0001_initial"),
        ("members", "0001_initial"),
        ("nat", "0001_initial"),
        ("network", "0001_initial"),
        ("pghistory", "0007_auto_20250421_0444"),
        ("traffic", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Revision",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                ("snapshot", apps.lib.fields.SnapshotField()),
                ("cause", models.CharField(default="change", max_length=40)),
                ("digests", models.JSONField(default=dict)),
                ("changes", models.JSONField(default=list)),
                ("delta", models.TextField(default="")),
                ("elements", models.PositiveIntegerField(default=0)),
                (
                    "by",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "group",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="revisions", to="network.gatewaygroup"),
                ),
                (
                    "again",
                    models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="deployments.revision"),
                ),
                ("management", models.JSONField(default=dict)),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [models.Index(fields=["group", "created"], name="revision_by_time")],
            },
        ),
        migrations.CreateModel(
            name="RevisionContent",
            fields=[
                (
                    "revision",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="content",
                        serialize=False,
                        to="deployments.revision",
                    ),
                ),
                ("packed", models.BinaryField()),
                (
                    "base",
                    models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="deployments.revision"),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("base", None), ("base__lt", models.F("revision")), _connector="OR"),
                        name="revisioncontent_goes_on_from_older",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Rollout",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "queued"),
                            ("applying", "applying"),
                            ("paused", "paused"),
                            ("confirmed", "confirmed"),
                            ("failed", "failed"),
                            ("aborted", "aborted"),
                        ],
                        default="queued",
                        max_length=9,
                        verbose_name="state",
                    ),
                ),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="started")),
                ("finished", models.DateTimeField(null=True, verbose_name="finished")),
                ("lease_until", models.DateTimeField(null=True)),
                ("token", models.PositiveBigIntegerField(default=0)),
                ("error", models.TextField(blank=True)),
                ("again", models.BooleanField(default=False)),
                (
                    "group",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="rollouts", to="network.gatewaygroup"),
                ),
                (
                    "revision",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="rollouts", to="deployments.revision"),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("goes_on", models.BooleanField(default=True)),
                ("harmless", models.BooleanField(default=False)),
                (
                    "stopped_by",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("wish", models.CharField(blank=True, choices=[("pause", "pause"), ("abort", "abort")], max_length=5)),
            ],
            options={
                "ordering": ["-id"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state__in", ["queued", "applying", "paused"])),
                        fields=("group",),
                        name="rollout_one_open_per_group",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["queued", "applying", "paused", "confirmed", "failed", "aborted"])),
                        name="rollout_state_is_known",
                    ),
                    models.CheckConstraint(condition=models.Q(("wish__in", ["", "pause", "abort"])), name="rollout_wish_is_known"),
                ],
            },
        ),
        migrations.CreateModel(
            name="RolloutStep",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.PositiveSmallIntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "waiting"),
                            ("sending", "sending"),
                            ("probing", "probing"),
                            ("confirming", "confirming"),
                            ("reverting", "going back"),
                            ("asking", "asking"),
                            ("confirmed", "confirmed"),
                            ("refused", "refused"),
                            ("away", "no answer"),
                            ("went_back", "went back"),
                            ("lost", "contact lost"),
                            ("impaired", "gateway fault"),
                            ("skipped", "skipped"),
                        ],
                        default="waiting",
                        max_length=10,
                    ),
                ),
                ("sent", models.DateTimeField(null=True)),
                ("sent_octets", models.PositiveBigIntegerField(default=0)),
                ("committed", models.DateTimeField(null=True)),
                ("commit_ms", models.PositiveIntegerField(default=0)),
                ("read_back_ms", models.PositiveIntegerField(default=0)),
                ("confirmed", models.DateTimeField(null=True)),
                ("error", models.TextField(blank=True)),
                ("gateway", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="steps", to="network.gateway")),
                ("rollout", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="steps", to="deployments.rollout")),
                ("evidence", models.JSONField(default=list)),
                ("flows_cut", models.PositiveIntegerField(default=0)),
                ("goes_back", models.DateTimeField(null=True)),
                ("doing", models.CharField(blank=True, max_length=20)),
                ("done", models.PositiveIntegerField(default=0)),
                ("of", models.PositiveIntegerField(default=0)),
                ("heard", models.DateTimeField(null=True)),
                ("reason", models.CharField(blank=True, default="", max_length=10)),
            ],
            options={
                "ordering": ["position"],
                "indexes": [models.Index(fields=["gateway", "-confirmed"], name="rolloutstep_by_gateway")],
                "constraints": [
                    models.UniqueConstraint(fields=("rollout", "gateway"), name="rolloutstep_once_per_gateway"),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "state__in",
                                [
                                    "waiting",
                                    "sending",
                                    "probing",
                                    "confirming",
                                    "reverting",
                                    "asking",
                                    "confirmed",
                                    "refused",
                                    "away",
                                    "went_back",
                                    "lost",
                                    "impaired",
                                    "skipped",
                                ],
                            )
                        ),
                        name="rolloutstep_state_is_known",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="GatewayState",
            fields=[
                (
                    "gateway",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="status",
                        serialize=False,
                        to="network.gateway",
                    ),
                ),
                ("digest", models.CharField(blank=True, max_length=64)),
                ("snapshot", apps.lib.fields.SnapshotField(null=True)),
                ("since", models.DateTimeField(null=True)),
                ("in_memory", models.BooleanField(default=False)),
                ("seen", models.DateTimeField(null=True)),
                ("unreachable_since", models.DateTimeField(null=True)),
                ("error", models.TextField(blank=True)),
                (
                    "revision",
                    models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="deployments.revision"),
                ),
                ("drift", models.JSONField(null=True)),
                ("drift_since", models.DateTimeField(null=True)),
                ("kernel", models.JSONField(null=True)),
                ("disk", models.TextField(blank=True, default="")),
                ("agent", models.CharField(blank=True, default="", max_length=40)),
                ("drifted_before", models.JSONField(default=list)),
            ],
        ),
        migrations.CreateModel(
            name="Hold",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("since", models.DateTimeField(auto_now_add=True)),
                ("why", models.CharField(max_length=200, verbose_name="why")),
                ("released", models.DateTimeField(null=True)),
                (
                    "by",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("group", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="holds", to="network.gatewaygroup")),
                (
                    "released_by",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("revision", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="deployments.revision")),
                ("alone", models.BooleanField(db_default=False, default=False)),
            ],
            options={
                "ordering": ["-id"],
                "constraints": [
                    models.UniqueConstraint(condition=models.Q(("released", None)), fields=("group",), name="hold_one_per_group"),
                    models.CheckConstraint(condition=models.Q(("why", ""), _negated=True), name="hold_says_why"),
                ],
            },
        ),
        migrations.CreateModel(
            name="HoldEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("since", models.DateTimeField(auto_now_add=True)),
                ("why", models.CharField(max_length=200, verbose_name="why")),
                ("released", models.DateTimeField(null=True)),
                (
                    "by",
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
                        db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="events", to="deployments.hold"
                    ),
                ),
                (
                    "released_by",
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
                    "revision",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="deployments.revision",
                    ),
                ),
                ("alone", models.BooleanField(db_default=False, default=False)),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="HeldBack",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=12)),
                ("digest", models.CharField(max_length=64)),
                ("removed", models.PositiveIntegerField(default=0)),
                ("of", models.PositiveIntegerField(default=0)),
                ("packed", models.BinaryField()),
                ("text", models.TextField(default="")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "waiting"),
                            ("approved", "approved"),
                            ("refused", "refused"),
                            ("obsolete", "no longer asked for"),
                            ("done", "done"),
                        ],
                        default="waiting",
                        max_length=8,
                    ),
                ),
                ("since", models.DateTimeField(auto_now_add=True)),
                ("decided", models.DateTimeField(null=True)),
                ("alone", models.BooleanField(default=False)),
                (
                    "decided_by",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "group",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="held_back", to="network.gatewaygroup"),
                ),
                ("asker_unknown", models.BooleanField(db_default=False, default=False)),
                ("baseline", apps.lib.fields.SnapshotField(null=True)),
                ("earlier", models.PositiveIntegerField(db_default=0, default=0)),
                ("reason", models.CharField(blank=True, db_default="", default="", max_length=200, verbose_name="reason")),
                ("askers", models.ManyToManyField(related_name="+", to=settings.AUTH_USER_MODEL)),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state__in", ["waiting", "approved"])), fields=("group", "digest"), name="heldback_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(models.Q(("state", "approved"), _negated=True), ("decided__isnull", False), _connector="OR"),
                        name="heldback_approved_by_somebody",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["waiting", "approved", "refused", "obsolete", "done"])),
                        name="heldback_state_is_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "refused"), _negated=True), models.Q(("reason", ""), _negated=True), _connector="OR"
                        ),
                        name="heldback_refused_for_a_reason",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="HeldBackEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("kind", models.CharField(max_length=12)),
                ("digest", models.CharField(max_length=64)),
                ("removed", models.PositiveIntegerField(default=0)),
                ("of", models.PositiveIntegerField(default=0)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "waiting"),
                            ("approved", "approved"),
                            ("refused", "refused"),
                            ("obsolete", "no longer asked for"),
                            ("done", "done"),
                        ],
                        default="waiting",
                        max_length=8,
                    ),
                ),
                ("since", models.DateTimeField(auto_now_add=True)),
                ("decided", models.DateTimeField(null=True)),
                ("alone", models.BooleanField(default=False)),
                (
                    "decided_by",
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
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="events",
                        to="deployments.heldback",
                    ),
                ),
                ("asker_unknown", models.BooleanField(db_default=False, default=False)),
                ("earlier", models.PositiveIntegerField(db_default=0, default=0)),
                ("reason", models.CharField(blank=True, db_default="", default="", max_length=200, verbose_name="reason")),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="UnapprovedLoss",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField(auto_now_add=True)),
                ("packed", models.BinaryField()),
                ("group", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="network.gatewaygroup")),
            ],
            options={
                "indexes": [models.Index(fields=["group", "at"], name="unapprovedloss_by_group")],
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="hold",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "deployments_holdevent" ("alone", "by_id", "group_id", "id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "released", "released_by_id", "revision_id", "since", "why") SELECT new_values."alone", new_values."by_id", new_values."group_id", new_values."id", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."released", new_values."released_by_id", new_values."revision_id", new_values."since", new_values."why" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="b9b50b43dc13483ff135f7f5fbb46adcb1858973",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_b6625",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="deployments_hold",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="hold",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "deployments_holdevent" ("alone", "by_id", "group_id", "id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "released", "released_by_id", "revision_id", "since", "why") VALUES (NEW."alone", NEW."by_id", NEW."group_id", NEW."id", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."released", NEW."released_by_id", NEW."revision_id", NEW."since", NEW."why"); RETURN NULL;',
                    hash="2848753c9b20f46ab905c3353b04835a229fd3e5",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_735d1",
                    table="deployments_hold",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="hold",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "deployments_holdevent" ("alone", "by_id", "group_id", "id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "released", "released_by_id", "revision_id", "since", "why") SELECT old_values."alone", old_values."by_id", old_values."group_id", old_values."id", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."released", old_values."released_by_id", old_values."revision_id", old_values."since", old_values."why" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="b672c725dc98018405a296e0205b602e498e8c87",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_faebd",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="deployments_hold",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="heldback",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "deployments_heldbackevent" ("alone", "asker_unknown", "decided", "decided_by_id", "digest", "earlier", "group_id", "id", "kind", "of", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "removed", "since", "state") SELECT new_values."alone", new_values."asker_unknown", new_values."decided", new_values."decided_by_id", new_values."digest", new_values."earlier", new_values."group_id", new_values."id", new_values."kind", new_values."of", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."reason", new_values."removed", new_values."since", new_values."state" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="563e940bf4a5312e02531979be0ef0f6b6b51302",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_0b10e",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="deployments_heldback",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="heldback",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."alone" IS DISTINCT FROM (NEW."alone") OR OLD."asker_unknown" IS DISTINCT FROM (NEW."asker_unknown") OR OLD."decided" IS DISTINCT FROM (NEW."decided") OR OLD."decided_by_id" IS DISTINCT FROM (NEW."decided_by_id") OR OLD."digest" IS DISTINCT FROM (NEW."digest") OR OLD."earlier" IS DISTINCT FROM (NEW."earlier") OR OLD."group_id" IS DISTINCT FROM (NEW."group_id") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."kind" IS DISTINCT FROM (NEW."kind") OR OLD."of" IS DISTINCT FROM (NEW."of") OR OLD."reason" IS DISTINCT FROM (NEW."reason") OR OLD."removed" IS DISTINCT FROM (NEW."removed") OR OLD."since" IS DISTINCT FROM (NEW."since") OR OLD."state" IS DISTINCT FROM (NEW."state"))',
                    func='INSERT INTO "deployments_heldbackevent" ("alone", "asker_unknown", "decided", "decided_by_id", "digest", "earlier", "group_id", "id", "kind", "of", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "removed", "since", "state") VALUES (NEW."alone", NEW."asker_unknown", NEW."decided", NEW."decided_by_id", NEW."digest", NEW."earlier", NEW."group_id", NEW."id", NEW."kind", NEW."of", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."reason", NEW."removed", NEW."since", NEW."state"); RETURN NULL;',
                    hash="c0c17b91a523fd56b22e56a5916f9c1b67019ea2",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_b7240",
                    table="deployments_heldback",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="heldback",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "deployments_heldbackevent" ("alone", "asker_unknown", "decided", "decided_by_id", "digest", "earlier", "group_id", "id", "kind", "of", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "removed", "since", "state") SELECT old_values."alone", old_values."asker_unknown", old_values."decided", old_values."decided_by_id", old_values."digest", old_values."earlier", old_values."group_id", old_values."id", old_values."kind", old_values."of", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."reason", old_values."removed", old_values."since", old_values."state" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="bf199acecde761bc55829eed585f499123bd1904",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_ea490",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="deployments_heldback",
                    when="AFTER",
                ),
            ),
        ),
        migrations.RunSQL("CREATE SEQUENCE deployments_token", "DROP SEQUENCE deployments_token"),
        migrations.RunSQL(TABLE, "DROP TABLE deployments_touched"),
        *(triggers(table, *of) for table, of in TABLES.items()),
        *(times(table, name) for table, name in TIMED.items()),
    ]
