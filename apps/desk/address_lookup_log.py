"""Address lookups that are recorded: who asks and why is stored before the answer is given."""

from datetime import UTC, datetime
from typing import Final

from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.audit.models import Enquiry
from apps.desk.selectors.addresses import LookupAnswer, look_up_address
from apps.lib.database.validity import check_not_too_far_ahead
from apps.lib.errors import Problem
from apps.lib.fields import Address

FIRST: Final = datetime(1970, 1, 1, tzinfo=UTC)


def record_and_answer_lookup(*, address: Address, port: int | None, at: datetime, reason: str, by: User) -> tuple[Enquiry, LookupAnswer]:
    """Record the lookup and answer it. Raises Problem without a reason, for a time before FIRST, or one too far away."""
    if not reason.strip():
        raise Problem(_("Enter a reason; it is recorded for auditors."), fieldname="reason")
    if at < FIRST:
        raise Problem(_("No address was assigned before the year %(year)d. Choose a later time.") % {"year": FIRST.year}, fieldname="at")
    check_not_too_far_ahead(at, "at")
    noted = Enquiry.objects.create(address=address, port=port, at=at, reason=reason.strip(), by=by)
    return noted, look_up_address(address, port, at)
