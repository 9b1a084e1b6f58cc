"""Triggers that record the periods of membership and the time of leaving.

The database does it, so that no way of changing a member's state can forget it.
"""

import pgtrigger

from apps.lib.database.triggers import build_statement_trigger

FIRST = """
    INSERT INTO members_membership (member_id, valid)
    SELECT n.id, tstzrange(least(n.since::timestamptz, clock_timestamp()), NULL) FROM new_values n WHERE n.state = 'active';
"""
# A period begins at the end of the previous one at the earliest: a clock that was set back must not make two overlap.
BEGIN = """
    INSERT INTO members_membership (member_id, valid) SELECT n.id, tstzrange(greatest(
        clock_timestamp(), (SELECT max(upper(m.valid)) FROM members_membership m WHERE m.member_id = n.id)), NULL)
    FROM old_values o JOIN new_values n ON n.id = o.id WHERE o.state <> 'active' AND n.state = 'active';
"""
END = """
    UPDATE members_membership m
    SET valid = tstzrange(lower(m.valid), greatest(clock_timestamp(), lower(m.valid) + interval '1 microsecond'))
    FROM old_values o JOIN new_values n ON n.id = o.id
    WHERE o.state = 'active' AND n.state <> 'active' AND m.member_id = n.id AND upper_inf(m.valid);
"""


def build_left_at_trigger() -> pgtrigger.Trigger:
    """Return the trigger that sets left_at when the state becomes “left”, and clears it in other states."""
    return pgtrigger.Trigger(
        name="notes_when_left",
        when=pgtrigger.Before,
        operation=pgtrigger.Insert | pgtrigger.Update,
        func="""
            IF NEW.state <> 'left' THEN
                NEW.left_at = NULL;
            ELSIF TG_OP = 'UPDATE' THEN
                NEW.left_at = COALESCE(NEW.left_at, OLD.left_at, clock_timestamp());
            ELSE
                NEW.left_at = COALESCE(NEW.left_at, clock_timestamp());
            END IF;
            RETURN NEW;
        """,
    )


def build_membership_insert_trigger() -> pgtrigger.Trigger:
    """Return the trigger that opens a membership for each member added as active: from the day in `since`, from now if that is later."""
    return build_statement_trigger("periods_of_new", pgtrigger.Insert, FIRST, new="new_values")


def build_membership_update_trigger() -> pgtrigger.Trigger:
    """Return the trigger that ends the open membership and begins a new one as the state changes."""
    return build_statement_trigger("periods_of_changed", pgtrigger.Update, END + BEGIN, old="old_values", new="new_values")
