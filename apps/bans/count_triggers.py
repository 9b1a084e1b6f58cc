"""Triggers that keep the number of bans on each list, because counting a million rows takes longer than showing fifty of them.

Each statement adds a row with how many bans it added or removed (`BanCount`); the sum of a list's rows is its number of bans.
So writers of the same list do not wait for each other, and a number is seen together with the bans that it counts.
"""

from typing import Final

import pgtrigger

from apps.lib.database.triggers import build_statement_trigger

ADDED: Final = "INSERT INTO bans_bancount (list_id, number) SELECT list_id, count(*) FROM new_values GROUP BY list_id;"
REMOVED: Final = "INSERT INTO bans_bancount (list_id, number) SELECT list_id, -count(*) FROM old_values GROUP BY list_id;"
MOVED: Final = "INSERT INTO bans_bancount (list_id, number) VALUES (OLD.list_id, -1), (NEW.list_id, 1);"


def build_insert_trigger() -> pgtrigger.Trigger:
    """Return the trigger that counts the bans that a statement adds."""
    return build_statement_trigger("count_added", pgtrigger.Insert, ADDED, new="new_values")


def build_delete_trigger() -> pgtrigger.Trigger:
    """Return the trigger that counts the bans that a statement removes."""
    return build_statement_trigger("count_removed", pgtrigger.Delete, REMOVED, old="old_values")


def build_move_trigger() -> pgtrigger.Trigger:
    """Return the trigger that counts a ban on its new list instead."""
    return pgtrigger.Trigger(
        name="count_moved",
        when=pgtrigger.After,
        operation=pgtrigger.UpdateOf("list_id"),  # type: ignore[no-untyped-call]  # pgtrigger has no annotation here
        condition=pgtrigger.Q(old__list__df=pgtrigger.F("new__list")),
        func=MOVED + "RETURN NULL;",
    )
