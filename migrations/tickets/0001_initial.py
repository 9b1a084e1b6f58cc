import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.contrib.postgres.search
import django.db.models.deletion
import django.db.models.functions.datetime
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models

# A ticket is merged into one that is not merged: no chains, no loops. (id, is_merged) is what a merged ticket points to, with "false".
NO_CHAINS = """
    ALTER TABLE tickets_ticket
        ADD COLUMN is_merged boolean GENERATED ALWAYS AS (merged_into_id IS NOT NULL) STORED,
        ADD COLUMN target_is_merged boolean GENERATED ALWAYS AS (CASE WHEN merged_into_id IS NOT NULL THEN false END) STORED,
        ADD CONSTRAINT ticket_is_merged_or_not UNIQUE (id, is_merged),
        ADD CONSTRAINT ticket_merged_into_one_that_is_not
            FOREIGN KEY (merged_into_id, target_is_merged) REFERENCES tickets_ticket (id, is_merged)"""
ALLOW_CHAINS = "ALTER TABLE tickets_ticket DROP COLUMN target_is_merged, DROP COLUMN is_merged CASCADE"
# pghistory makes the table of events, without an index by time.
BY_TIME = "CREATE INDEX ticket_event_by_time ON tickets_ticketevent (pgh_created_at)"
NOT_BY_TIME = "DROP INDEX ticket_event_by_time"
# The search finds a ticket by the words of its whole thread: they stand in one row for each ticket, which triggers alone write.
MESSAGE, THREAD = 20_000, 200_000  # characters that are read of a message, and of a ticket
GAP = 10  # positions between two messages, so that no phrase goes from one to the next
# The dictionaries read the same words at the same places: each place is used once, and 16,383 words of a ticket have one of their own.
READING = rf"""
CREATE FUNCTION tickets_words_of(said text) RETURNS tsvector LANGUAGE sql IMMUTABLE AS $words$
    SELECT COALESCE(
        string_agg('''' || replace(replace(lexeme, '\', '\\'), '''', '''''') || ''':' || array_to_string(positions, ','), ' '), ''
    )::tsvector
    FROM (SELECT * FROM unnest(to_tsvector('german', said))
          UNION ALL SELECT * FROM unnest(to_tsvector('english', said))
          UNION ALL SELECT * FROM unnest(to_tsvector('simple', said))) word
$words$;

-- A tsvector has 1 MiB at most: what would make it longer is not found, and the ticket is written all the same.
CREATE FUNCTION tickets_words_and(known tsvector, said text) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE AS $words$
BEGIN
    RETURN known || ts_delete('''.'':{GAP}'::tsvector || tickets_words_of(said), '.');
EXCEPTION WHEN program_limit_exceeded THEN
    RETURN known;
END $words$;

CREATE AGGREGATE tickets_words_of_all(text) (SFUNC = tickets_words_and, STYPE = tsvector, INITCOND = '');

CREATE FUNCTION tickets_words_in(ticket bigint, OUT characters bigint, OUT search tsvector) LANGUAGE sql STABLE AS $words$
    SELECT LEAST(sum(length(piece)), {THREAD}), tickets_words_of_all(left(piece, ({THREAD} - before)::int) ORDER BY id)
               FILTER (WHERE before < {THREAD})
    FROM (SELECT id, piece, COALESCE(sum(length(piece)) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
          FROM (SELECT 0 AS id, subject AS piece FROM tickets_ticket WHERE tickets_ticket.id = ticket
                UNION ALL
                SELECT id, left(text, {MESSAGE}) FROM tickets_message WHERE ticket_id = ticket AND text <> '') said) thread
$words$;
"""  # noqa: S608 - the numbers above
WRITING = f"""
CREATE FUNCTION tickets_gather_words(tickets bigint[]) RETURNS void LANGUAGE plpgsql AS $words$
BEGIN
    PERFORM FROM tickets_words WHERE ticket_id = ANY (tickets) ORDER BY ticket_id FOR UPDATE;  -- then what others wrote meanwhile is seen
    UPDATE tickets_words known SET characters = found.characters, search = found.search
    FROM unnest(tickets) asked CROSS JOIN LATERAL tickets_words_in(asked) found WHERE known.ticket_id = asked;
END $words$;

CREATE FUNCTION tickets_words_of_tickets() RETURNS trigger LANGUAGE plpgsql AS $words$
BEGIN
    INSERT INTO tickets_words (ticket_id, characters, search)
    SELECT id, length(subject), tickets_words_and('', subject) FROM added;
    RETURN NULL;
END $words$;

CREATE FUNCTION tickets_words_of_subject() RETURNS trigger LANGUAGE plpgsql AS $words$
BEGIN
    PERFORM tickets_gather_words(ARRAY[NEW.id]);
    RETURN NULL;
END $words$;

CREATE FUNCTION tickets_words_of_messages() RETURNS trigger LANGUAGE plpgsql AS $words$
DECLARE
    message record;
BEGIN
    IF TG_OP = 'INSERT' THEN
        FOR message IN SELECT ticket_id, left(text, {MESSAGE}) AS piece FROM added WHERE text <> '' ORDER BY id LOOP
            UPDATE tickets_words SET characters = LEAST(characters + length(message.piece), {THREAD}),
                search = tickets_words_and(search, left(message.piece, {THREAD} - characters))
            WHERE ticket_id = message.ticket_id AND characters < {THREAD};
        END LOOP;
    ELSIF TG_OP = 'DELETE' THEN
        PERFORM tickets_gather_words(ARRAY(SELECT DISTINCT ticket_id FROM removed));
    ELSE
        PERFORM tickets_gather_words(ARRAY(
            SELECT ticket_id FROM (SELECT id, ticket_id, text FROM removed EXCEPT SELECT id, ticket_id, text FROM added) gone
            UNION SELECT ticket_id FROM (SELECT id, ticket_id, text FROM added EXCEPT SELECT id, ticket_id, text FROM removed) come));
    END IF;
    RETURN NULL;
END $words$;

CREATE TRIGGER words_insert AFTER INSERT ON tickets_ticket REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION tickets_words_of_tickets();
CREATE TRIGGER words_update AFTER UPDATE OF subject ON tickets_ticket
    FOR EACH ROW WHEN (OLD.subject IS DISTINCT FROM NEW.subject) EXECUTE FUNCTION tickets_words_of_subject();
CREATE TRIGGER words_insert AFTER INSERT ON tickets_message REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION tickets_words_of_messages();
CREATE TRIGGER words_update AFTER UPDATE ON tickets_message REFERENCING OLD TABLE AS removed NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION tickets_words_of_messages();
CREATE TRIGGER words_delete AFTER DELETE ON tickets_message REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION tickets_words_of_messages();
"""  # noqa: S608 - the numbers above
NO_READING = """
DROP FUNCTION tickets_words_in;
DROP AGGREGATE tickets_words_of_all(text);
DROP FUNCTION tickets_words_and, tickets_words_of;
"""
NO_WRITING = """
DROP FUNCTION tickets_words_of_tickets, tickets_words_of_subject, tickets_words_of_messages CASCADE;
DROP FUNCTION tickets_gather_words;
"""


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("lib", "0001_initial"),
        ("members", "0001_initial"),
        ("pghistory", "0007_auto_20250421_0444"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Ticket",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("subject", models.CharField(max_length=200, verbose_name="subject")),
                ("address", models.EmailField(blank=True, max_length=254, verbose_name="e-mail")),
                (
                    "language",
                    models.CharField(choices=[("en", "English"), ("de", "Deutsch")], default="en", max_length=2, verbose_name="language"),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("open", "open"), ("waiting", "waits for an answer"), ("solved", "solved"), ("reopened", "reopened")],
                        default="open",
                        max_length=8,
                        verbose_name="state",
                    ),
                ),
                (
                    "priority",
                    models.PositiveSmallIntegerField(
                        choices=[(1, "low"), (2, "normal"), (3, "high"), (4, "urgent")], default=2, verbose_name="priority"
                    ),
                ),
                (
                    "tags",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=30), blank=True, default=list, verbose_name="tags"
                    ),
                ),
                ("opened_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("touched_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("first_answered_at", models.DateTimeField(null=True)),
                (
                    "assignee",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="tickets",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="assignee",
                    ),
                ),
                (
                    "member",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="tickets",
                        to="members.member",
                        verbose_name="member",
                    ),
                ),
                (
                    "merged_into",
                    models.ForeignKey(
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="merged",
                        to="tickets.ticket",
                        verbose_name="merged into",
                    ),
                ),
                (
                    "split_from",
                    models.ForeignKey(
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="tickets.ticket",
                        verbose_name="split from",
                    ),
                ),
            ],
            options={
                "ordering": ["-touched_at", "-id"],
                "indexes": [
                    models.Index(
                        models.OrderBy(models.F("touched_at"), descending=True),
                        models.OrderBy(models.F("id"), descending=True),
                        name="ticket_by_time",
                    ),
                    models.Index(
                        models.F("state"),
                        models.OrderBy(models.F("touched_at"), descending=True),
                        models.OrderBy(models.F("id"), descending=True),
                        name="ticket_by_state",
                    ),
                    models.Index(
                        models.F("assignee"),
                        models.OrderBy(models.F("touched_at"), descending=True),
                        models.OrderBy(models.F("id"), descending=True),
                        name="ticket_by_assignee",
                    ),
                    models.Index(
                        models.F("member"),
                        models.OrderBy(models.F("touched_at"), descending=True),
                        models.OrderBy(models.F("id"), descending=True),
                        name="ticket_by_member",
                    ),
                    models.Index(
                        models.OrderBy(models.F("priority"), descending=True),
                        models.F("touched_at"),
                        models.F("id"),
                        condition=models.Q(("state__in", ["open", "reopened"])),
                        name="ticket_ours",
                    ),
                    models.Index(
                        condition=models.Q(("state", "solved"), _negated=True), fields=["state", "assignee"], name="ticket_unsolved"
                    ),
                    django.contrib.postgres.indexes.GinIndex(fields=["tags"], name="ticket_tags"),
                    models.Index(fields=["opened_at"], include=("first_answered_at", "state"), name="ticket_opened_and_answered"),
                    models.Index(
                        condition=models.Q(("first_answered_at__isnull", False)),
                        fields=["first_answered_at"],
                        name="ticket_by_first_answer",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["open", "waiting", "solved", "reopened"])), name="ticket_state"
                    ),
                    models.CheckConstraint(condition=models.Q(("priority__range", (1, 4))), name="ticket_priority"),
                    models.CheckConstraint(condition=models.Q(("subject", ""), _negated=True), name="ticket_has_a_subject"),
                    models.CheckConstraint(
                        condition=models.Q(("tags__len__lte", 10), models.Q(("tags__contains", [""]), _negated=True)),
                        name="ticket_tags_some",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("first_answered_at", None), ("first_answered_at__gte", models.F("opened_at")), _connector="OR"),
                        name="ticket_answered_after_opening",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("merged_into", None), ("state", "solved"), _connector="OR"), name="ticket_merged_is_solved"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("merged_into", models.F("id")), _negated=True),
                            models.Q(("split_from", models.F("id")), _negated=True),
                        ),
                        name="ticket_is_not_its_own",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="TicketEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("subject", models.CharField(max_length=200, verbose_name="subject")),
                ("address", models.EmailField(blank=True, max_length=254, verbose_name="e-mail")),
                (
                    "language",
                    models.CharField(choices=[("en", "English"), ("de", "Deutsch")], default="en", max_length=2, verbose_name="language"),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("open", "open"), ("waiting", "waits for an answer"), ("solved", "solved"), ("reopened", "reopened")],
                        default="open",
                        max_length=8,
                        verbose_name="state",
                    ),
                ),
                (
                    "priority",
                    models.PositiveSmallIntegerField(
                        choices=[(1, "low"), (2, "normal"), (3, "high"), (4, "urgent")], default=2, verbose_name="priority"
                    ),
                ),
                (
                    "tags",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=30), blank=True, default=list, verbose_name="tags"
                    ),
                ),
                ("opened_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "assignee",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="assignee",
                    ),
                ),
                (
                    "member",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="members.member",
                        verbose_name="member",
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
                        db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="events", to="tickets.ticket"
                    ),
                ),
                (
                    "merged_into",
                    models.ForeignKey(
                        db_constraint=False,
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="tickets.ticket",
                        verbose_name="merged into",
                    ),
                ),
                (
                    "split_from",
                    models.ForeignKey(
                        db_constraint=False,
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="tickets.ticket",
                        verbose_name="split from",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Message",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(choices=[("member", "question"), ("answer", "answer"), ("note", "internal note")], max_length=6),
                ),
                ("sender", models.CharField(blank=True, max_length=320)),
                ("text", models.TextField(blank=True)),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("via", models.CharField(choices=[("web", "on the web"), ("mail", "by mail")], default="web", max_length=4)),
                ("verified", models.BooleanField(default=True)),
                ("message_id", models.CharField(max_length=250, null=True, unique=True)),
                (
                    "author",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("ticket", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="messages", to="tickets.ticket")),
                ("came_as", models.CharField(max_length=250, null=True, unique=True)),
            ],
            options={
                "ordering": ["at", "id"],
                "indexes": [models.Index(condition=models.Q(("via", "mail")), fields=["sender", "at"], name="ticket_message_by_sender")],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("kind__in", ["member", "answer", "note"])), name="ticket_message_kind"),
                    models.CheckConstraint(condition=models.Q(("via__in", ["web", "mail"])), name="ticket_message_via"),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("author__isnull", False),
                            models.Q(("via", "mail"), models.Q(("kind", "answer"), _negated=True)),
                            _connector="OR",
                        ),
                        name="ticket_message_author",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("message_id", None), models.Q(("message_id", ""), _negated=True), _connector="OR"),
                        name="ticket_message_id",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Words",
            fields=[
                (
                    "ticket",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, primary_key=True, serialize=False, to="tickets.ticket"
                    ),
                ),
                ("characters", models.PositiveIntegerField()),
                ("search", django.contrib.postgres.search.SearchVectorField()),
            ],
            options={
                "indexes": [django.contrib.postgres.indexes.GinIndex(fields=["search"], name="ticket_words")],
            },
        ),
        migrations.CreateModel(
            name="Attachment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=200)),
                ("size", models.PositiveIntegerField()),
                (
                    "message",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="attachments", to="tickets.message"),
                ),
            ],
            options={
                "ordering": ["id"],
                "constraints": [models.CheckConstraint(condition=models.Q(("name", ""), _negated=True), name="ticket_attachment_name")],
            },
        ),
        migrations.CreateModel(
            name="Content",
            fields=[
                (
                    "attachment",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, primary_key=True, serialize=False, to="tickets.attachment"
                    ),
                ),
                ("octets", models.BinaryField()),
            ],
        ),
        migrations.CreateModel(
            name="Link",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=40)),
                ("object_id", models.BigIntegerField()),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("by", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("ticket", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="links", to="tickets.ticket")),
            ],
            options={
                "ordering": ["id"],
                "indexes": [models.Index(fields=["kind", "object_id"], name="ticket_link_by_object")],
                "constraints": [models.UniqueConstraint(fields=("ticket", "kind", "object_id"), name="ticket_link_once")],
            },
        ),
        migrations.CreateModel(
            name="Move",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(choices=[("merge", "merged"), ("split", "split")], max_length=5)),
                ("messages", django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), default=list)),
                ("links", django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), default=list)),
                (
                    "state",
                    models.CharField(
                        blank=True,
                        choices=[("open", "open"), ("waiting", "waits for an answer"), ("solved", "solved"), ("reopened", "reopened")],
                        max_length=8,
                    ),
                ),
                ("adopted", models.BooleanField(default=False)),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("undone_at", models.DateTimeField(null=True)),
                ("by", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("source", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="moves_out", to="tickets.ticket")),
                ("target", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="moves_in", to="tickets.ticket")),
                (
                    "undone_by",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("kind", "merge"), ("undone_at", None)), fields=("source",), name="ticket_merged_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("kind", "merge"), models.Q(("state", ""), _negated=True)),
                            models.Q(("kind", "split"), ("state", ""), ("undone_at", None)),
                            _connector="OR",
                        ),
                        name="ticket_move_kind",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("source", models.F("target")), _negated=True), name="ticket_moves_elsewhere"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("undone_at", None), ("undone_by", None)), ("undone_at__isnull", False), _connector="OR"
                        ),
                        name="ticket_move_undone",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Bulk",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.UUIDField(unique=True)),
                ("text_de", models.TextField(blank=True)),
                ("text_en", models.TextField(blank=True)),
                (
                    "state",
                    models.CharField(
                        choices=[("open", "open"), ("waiting", "waits for an answer"), ("solved", "solved"), ("reopened", "reopened")],
                        default="waiting",
                        max_length=8,
                    ),
                ),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("by", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ],
            options={
                "ordering": ["-id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("text_de", ""), _negated=True), models.Q(("text_en", ""), _negated=True), _connector="OR"
                        ),
                        name="ticket_bulk_says_something",
                    ),
                    models.CheckConstraint(condition=models.Q(("state__in", ["waiting", "solved"])), name="ticket_bulk_state"),
                ],
            },
        ),
        migrations.CreateModel(
            name="BulkItem",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("done_at", models.DateTimeField(null=True)),
                ("why", models.CharField(blank=True, max_length=300)),
                ("bulk", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="items", to="tickets.bulk")),
                (
                    "message",
                    models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="tickets.message"),
                ),
                ("ticket", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="tickets.ticket")),
            ],
            options={
                "ordering": ["id"],
                "indexes": [models.Index(condition=models.Q(("done_at", None)), fields=["id"], name="ticket_bulk_left")],
                "constraints": [
                    models.UniqueConstraint(fields=("bulk", "ticket"), name="ticket_bulk_once"),
                    models.CheckConstraint(
                        condition=models.Q(("done_at__isnull", False), models.Q(("message", None), ("why", "")), _connector="OR"),
                        name="ticket_bulk_done",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Period",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("unit", models.CharField(choices=[("day", "Day"), ("week", "Week")], max_length=4)),
                ("begins", models.DateField()),
                ("opened", models.PositiveIntegerField()),
                ("solved", models.PositiveIntegerField()),
                ("reopened", models.PositiveIntegerField()),
                ("answered", models.PositiveIntegerField()),
                ("median", models.FloatField(null=True)),
            ],
            options={
                "ordering": ["unit", "begins"],
                "constraints": [
                    models.UniqueConstraint(fields=("unit", "begins"), name="ticket_period_once"),
                    models.CheckConstraint(
                        condition=models.Q(("unit", "day"), models.Q(("begins__iso_week_day", 1), ("unit", "week")), _connector="OR"),
                        name="ticket_period_unit",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("answered", 0), ("median", None)), models.Q(("answered__gt", 0), ("median__gte", 0)), _connector="OR"
                        ),
                        name="ticket_period_median",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Canned",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("name", models.CharField(max_length=80, unique=True, verbose_name="name")),
                ("text_de", models.TextField(verbose_name="German text")),
                ("text_en", models.TextField(verbose_name="English text")),
            ],
            options={
                "ordering": ["name"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("name", ""), _negated=True),
                            models.Q(("text_de", ""), _negated=True),
                            models.Q(("text_en", ""), _negated=True),
                        ),
                        name="canned_says_something",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="CannedEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("name", models.CharField(max_length=80, verbose_name="name")),
                ("text_de", models.TextField(verbose_name="German text")),
                ("text_en", models.TextField(verbose_name="English text")),
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
                        db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="events", to="tickets.canned"
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="ticket",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "tickets_ticketevent" ("address", "assignee_id", "id", "language", "member_id", "merged_into_id", "opened_at", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "priority", "split_from_id", "state", "subject", "tags", "version") SELECT new_values."address", new_values."assignee_id", new_values."id", new_values."language", new_values."member_id", new_values."merged_into_id", new_values."opened_at", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."priority", new_values."split_from_id", new_values."state", new_values."subject", new_values."tags", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="2e7828f72f728c9d2b8a47559ed2373aaa9fb468",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_2d01a",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="tickets_ticket",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="ticket",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."address" IS DISTINCT FROM (NEW."address") OR OLD."assignee_id" IS DISTINCT FROM (NEW."assignee_id") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."language" IS DISTINCT FROM (NEW."language") OR OLD."member_id" IS DISTINCT FROM (NEW."member_id") OR OLD."merged_into_id" IS DISTINCT FROM (NEW."merged_into_id") OR OLD."opened_at" IS DISTINCT FROM (NEW."opened_at") OR OLD."priority" IS DISTINCT FROM (NEW."priority") OR OLD."split_from_id" IS DISTINCT FROM (NEW."split_from_id") OR OLD."state" IS DISTINCT FROM (NEW."state") OR OLD."subject" IS DISTINCT FROM (NEW."subject") OR OLD."tags" IS DISTINCT FROM (NEW."tags") OR OLD."version" IS DISTINCT FROM (NEW."version"))',
                    func='INSERT INTO "tickets_ticketevent" ("address", "assignee_id", "id", "language", "member_id", "merged_into_id", "opened_at", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "priority", "split_from_id", "state", "subject", "tags", "version") VALUES (NEW."address", NEW."assignee_id", NEW."id", NEW."language", NEW."member_id", NEW."merged_into_id", NEW."opened_at", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."priority", NEW."split_from_id", NEW."state", NEW."subject", NEW."tags", NEW."version"); RETURN NULL;',
                    hash="f8d155a1d5642a519a29114aed168f588589d943",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_c6bd0",
                    table="tickets_ticket",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="ticket",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "tickets_ticketevent" ("address", "assignee_id", "id", "language", "member_id", "merged_into_id", "opened_at", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "priority", "split_from_id", "state", "subject", "tags", "version") SELECT old_values."address", old_values."assignee_id", old_values."id", old_values."language", old_values."member_id", old_values."merged_into_id", old_values."opened_at", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."priority", old_values."split_from_id", old_values."state", old_values."subject", old_values."tags", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="67209cdf0358908f3f16ad20a457e1839700b5f4",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_84422",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="tickets_ticket",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="canned",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "tickets_cannedevent" ("id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "text_de", "text_en", "version") SELECT new_values."id", new_values."name", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."text_de", new_values."text_en", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="e52315b07e4e551416f1e7cf0b2f960aeb4ca4c1",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_a97a3",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="tickets_canned",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="canned",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "tickets_cannedevent" ("id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "text_de", "text_en", "version") VALUES (NEW."id", NEW."name", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."text_de", NEW."text_en", NEW."version"); RETURN NULL;',
                    hash="c11100a88b80458d7a8e412d17b81547284d6044",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_b4cf0",
                    table="tickets_canned",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="canned",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "tickets_cannedevent" ("id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "text_de", "text_en", "version") SELECT old_values."id", old_values."name", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."text_de", old_values."text_en", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="d0615f1a35e01bf74701e366aa15197f77853efe",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_be28b",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="tickets_canned",
                    when="AFTER",
                ),
            ),
        ),
        migrations.RunSQL(NO_CHAINS, ALLOW_CHAINS),
        migrations.RunSQL(BY_TIME, NOT_BY_TIME),
        migrations.RunSQL(READING, NO_READING),
        migrations.RunSQL(WRITING, NO_WRITING),
    ]
