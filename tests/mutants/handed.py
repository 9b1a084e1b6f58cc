"""Mutants of the portal's output: webhooks, events, files for other servers."""

from tests.mutants.mutant import Mutant

WEBHOOKS, EVENTS, EXPORTS = "tests/db/test_webhooks.py", "tests/db/test_events.py", "tests/db/test_exports.py"
FETCHING = "tests/unit/test_fetching.py"

HANDED = (
    Mutant(
        "sign a webhook without its time",
        "apps/webhooks/signing.py",
        "b'%d.' % at + body",
        "body",
        f"{WEBHOOKS}::test_what_is_sent_is_signed_so_that_the_receiver_can_tell",
    ),
    Mutant(
        "try a webhook again at once",
        "apps/webhooks/delivery_sender.py",
        "due=now + compute_pause(row.tries)",
        "due=now",
        f"{WEBHOOKS}::test_a_failure_is_tried_again_later_and_then_given_up_with_a_mail",
    ),
    Mutant(
        "let a late worker write about another one's try",
        "apps/webhooks/delivery_sender.py",
        "mine = Delivery.objects.filter(pk=row.pk, state=Delivery.State.WAITING, tries=row.tries)",
        "mine = Delivery.objects.filter(pk=row.pk, state=Delivery.State.WAITING)",
        f"{WEBHOOKS}::test_a_worker_that_was_away_too_long_does_not_let_go_of_what_another_has_in_hand",
    ),
    Mutant(
        "tell what the owner could see once",
        "apps/webhooks/delivery_sender.py",
        "(kind is None or is_subscribed(row.endpoint, kind))",
        "True",
        f"{WEBHOOKS}::test_what_waits_is_sent_as_far_as_the_owner_may_still_see_it",
    ),
    Mutant(
        "forget what one look at the history does not take",
        "apps/webhooks/delivery_gathering.py",
        "done=found[-1][0].pgh_id if more else position.settled",
        "done=position.settled",
        f"{WEBHOOKS}::test_what_one_look_does_not_take_is_told_by_the_next_ones",
    ),
    Mutant(
        "read the history up to where somebody still writes",
        "apps/webhooks/delivery_gathering.py",
        "        if writing:\n            position.candidate",
        "        if not writing:\n            position.candidate",
        f"{WEBHOOKS}::test_a_transaction_that_commits_late_is_told_though_later_ones_were_read_before",
    ),
    Mutant(
        "let webhooks ask our own networks",
        "apps/network/selectors.py",
        "{*pools, *managed}",
        "()",
        f"{WEBHOOKS}::test_what_is_our_own_is_never_asked_though_it_is_of_the_public_internet",
    ),
    Mutant(
        "check the first address of a host alone",
        "apps/lib/web/guarded_http.py",
        "    for address in found:",
        "    for address in found[:1]:",
        f"{FETCHING}::test_a_host_is_not_asked_when_one_of_its_addresses_must_not_be",
    ),
    Mutant(
        "ask a host by its name after its address was checked",
        "apps/lib/web/guarded_http.py",
        "socket.create_connection((self._address, self.port)",
        "socket.create_connection((self.host, self.port)",
        f"{FETCHING}::test_a_name_is_resolved_once_and_that_very_address_is_asked",
    ),
    Mutant(
        "tell members of what staff does among itself",
        "apps/events/event_types.py",
        "return event.own and ",
        "return ",
        f"{EVENTS}::test_each_role_hears_what_it_may_read_and_members_what_is_their_own",
    ),
    Mutant(
        "let a token of one member hear of all",
        "apps/events/event_types.py",
        "return self.only is None or self.only == event.member",
        "return True",
        f"{EVENTS}::test_a_token_hears_no_more_than_its_scope_its_member_and_its_owner",
    ),
    Mutant(
        "give who has left an address in DHCP and DNS",
        "apps/desk/exports/device_addresses.py",
        "Holding.objects.filter(is_valid_now(), member__state=Member.State.ACTIVE)",
        "Holding.objects.filter(is_valid_now())",
        f"{EXPORTS}::test_every_file_reads_again_and_says_who_has_what",
    ),
    Mutant(
        "call two devices alike",
        "apps/desk/exports/device_addresses.py",
        "return next(each for each in longer if each not in taken)",
        "return next(longer)",
        f"{EXPORTS}::test_no_two_devices_of_a_member_have_one_name",
    ),
    Mutant(
        "guess on which device one of two addresses is",
        "apps/desk/exports/device_addresses.py",
        " and held_by.get(member) == 1",
        "",
        f"{EXPORTS}::test_an_address_is_on_the_only_device_only_where_it_is_the_only_address",
    ),
)
