"""Template tag of members' pages: `{% incident_banners %}`."""

from django import template
from django.template.context import RequestContext

from apps.status.banner import build_banners

register = template.Library()


@register.inclusion_tag("status/_banners.html", takes_context=True)
def incident_banners(context: RequestContext) -> dict[str, object]:
    """Show what is told of incidents that affect the signed-in member."""
    return {"banners": build_banners(context.get("user"))}
