"""Mutants of tickets, signing out, limited tokens, and sums of traffic."""

from tests.mutants.mutant import Mutant

MANY, MOVING = "tests/db/test_tickets_many.py", "tests/db/test_tickets_moving.py"
SINGLE, TOKENS = "tests/db/test_single_sign_on.py", "tests/db/test_token_limits.py"
MONTHS, SPANS = "tests/db/test_months.py", "tests/db/test_spans.py"

WORKED = (
    Mutant(
        "answer tickets again that were answered",
        "apps/tickets/bulk.py",
        "skip_locked=True).filter(done_at=None)",
        "skip_locked=True)",
        f"{MANY}::test_each_ticket_is_answered_once_in_its_readers_language",
    ),
    Mutant(
        "answer tickets for somebody who may not any more",
        "apps/tickets/bulk.py",
        "if not has_right(item.bulk.by, Right.ANSWER):",
        "if False:",
        f"{MANY}::test_who_is_left_out_is_named_with_the_reason",
    ),
    Mutant(
        "take what came since along when a merge is undone",
        "apps/tickets/merging.py",
        "Message.objects.filter(pk__in=move.messages, ticket=move.target_id)",
        "Message.objects.filter(ticket=move.target_id)",
        f"{MOVING}::test_what_was_merged_is_taken_apart_again_and_what_came_since_stays",
    ),
    Mutant(
        "leave behind what had been merged before when a merge is undone",
        "apps/tickets/merging.py",
        '    Ticket.objects.filter(pk__in=before).update(merged_into=move.source_id, version=F("version") + 1)\n',
        "",
        f"{MOVING}::test_what_was_merged_is_taken_apart_again_and_what_came_since_stays",
    ),
    Mutant(
        "take a logout token twice",
        "apps/accounts/sso_logout.py",
        'raise LogoutTokenError("it was used already")',
        "pass",
        f"{SINGLE}::test_a_logout_token_that_lacks_anything_ends_nothing",
    ),
    Mutant(
        "take an identity for a logout token",
        "apps/accounts/sso_logout.py",
        'if "nonce" in claims:',
        "if False:",
        f"{SINGLE}::test_a_logout_token_that_lacks_anything_ends_nothing",
    ),
    Mutant(
        "end all sessions of a person whatever session is named",
        "apps/accounts/sso_logout.py",
        'if claims.get("sid") in (None, "", of.get("sid")) and ',
        "if ",
        f"{SINGLE}::test_the_provider_ends_one_session_or_all_that_it_opened_and_no_other",
    ),
    Mutant(
        "give a session to the provider that it connects",
        "apps/accounts/sso.py",
        'if sociallogin.state.get("process") == AuthProcess.LOGIN:',
        "if True:",
        f"{SINGLE}::test_a_session_that_a_password_opened_stays_its_own_when_it_connects_a_provider",
    ),
    Mutant(
        "let a token of a house see everybody",
        "apps/lib/api/token_scope.py",
        ', "site_id": "site_path"}',
        "}",
        f"{TOKENS}::test_a_limited_token_sees_its_own_in_every_collection_and_nothing_else_in_any[site]",
    ),
    Mutant(
        "let a token of a member write to others",
        "apps/lib/api/viewsets.py",
        "        if is_token_scoped(self.request.auth):\n            reached",
        "        if False:\n            reached",
        "tests/db/test_api_tickets.py::test_a_token_of_one_member_reaches_only_that_member_s_tickets",
    ),
    Mutant(
        "judge a month by the tariff of today",
        "apps/traffic/months.py",
        "reversed(tariffs) if at < end)",
        "reversed(tariffs))",
        f"{MONTHS}::test_a_month_says_what_the_tariff_that_was_in_force_at_its_end_allowed",
    ),
    Mutant(
        "count the days at both ends of a month twice",
        "apps/traffic/rollup_planner.py",
        "    return middle - (middle - EPOCH) % unit\n",
        "    return at.astimezone(UTC)\n",
        f"{MONTHS}::test_months_begin_at_midnight_on_the_wall_and_nothing_is_counted_twice_or_never",
    ),
    Mutant(
        "forget what came after a span",
        "apps/traffic/selectors.py",
        "*plan_pieces(span.until, until, now)]",
        "]",
        f"{SPANS}::test_lists_say_the_same_with_spans_as_without_also_of_what_is_counted_later",
    ),
)
