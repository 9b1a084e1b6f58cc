"""Queries of channels."""

from django.db.models import Max, Q, QuerySet

from apps.alarms.channels.models import AlarmChannel, ChannelMessage


def list_channels() -> QuerySet[AlarmChannel]:
    """Return all channels, each with the time at which a message was last taken (`last_sent`), None if none was."""
    sent = Q(messages__state=ChannelMessage.State.SENT)
    return AlarmChannel.objects.select_related("person").annotate(last_sent=Max("messages__ended", filter=sent)).order_by("name")
