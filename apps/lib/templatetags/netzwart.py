"""Template tags and filters for every page (a builtin: no load needed). Larger components have templates in templates/components/."""

from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta
from functools import cache, lru_cache

from django import template
from django.contrib.auth.models import AbstractBaseUser
from django.forms import BoundField
from django.forms.widgets import CheckboxInput
from django.template.context import RequestContext
from django.templatetags.static import static
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language, gettext

from apps.lib.activation import Activation, list_wait_reasons
from apps.lib.ui import formats
from apps.lib.ui.states import GatewaySymbol, StateKind, StateLabel, SymbolState, describe_symbols, summarize_symbols

register = template.Library()


@cache
def _get_sprite_url() -> str:
    return static("icons.svg")


@register.simple_tag
def icon(name: str, label: str = "") -> SafeString:
    """An icon: {% icon "members" %}. With a label, screen readers read it; without one, it is decoration."""
    if label:
        return format_html('<svg class="nw-icon" role="img" aria-label="{}"><use href="{}#{}"/></svg>', label, _get_sprite_url(), name)
    return _draw_icon(name)


@lru_cache(256)
def _draw_icon(name: str) -> SafeString:
    return format_html('<svg class="nw-icon" aria-hidden="true"><use href="{}#{}"/></svg>', _get_sprite_url(), name)


@register.filter
def initials(user: AbstractBaseUser) -> str:
    """Initials of an account: {{ user|initials }} is ML for Mara Lindqvist, else the first two letters of the username."""
    names = str(getattr(user, "get_full_name", str)()).split()
    return (names[0][0] + names[-1][0] if len(names) > 1 else user.get_username()[:2]).upper()


# --- States and gateway pairs


def _build_state(of: StateLabel | str, word: object, icon_name: str) -> StateLabel:
    return of if isinstance(of, StateLabel) else StateLabel(StateKind(of), str(word), icon_name)


@register.simple_tag
def state(of: StateLabel | str, word: object = "", icon: str = "") -> SafeString:
    """Icon and word in the colour of the kind: {% state member.state %} or {% state "bad" "Blocked" icon="blocked" %}."""
    shown = _build_state(of, word, icon)
    return format_html('<span class="nw-state nw-{}">{}{}</span>', shown.kind, _render_icon(shown.shown_icon), shown.word)


@register.simple_tag
def tag(of: StateLabel | str, word: object = "", icon: str = "") -> SafeString:
    """A state on its soft background, for panel heads: {% tag "wait" "612 held back" icon="wait" %}."""
    shown = _build_state(of, word, icon)
    return format_html('<span class="nw-tag nw-{}">{}{}</span>', shown.kind, _render_icon(shown.icon), shown.word)


def _render_icon(name: str) -> SafeString:
    return _draw_icon(name) if name else SafeString("")


_POSTS = {
    SymbolState.FULL: '<rect class="nw-post-full" x="{x}.5" y=".5" width="7" height="12" rx="1.25"/>',
    SymbolState.HALF: '<rect class="nw-post-half" x="{x}.5" y=".5" width="7" height="12" rx="1.25"/>'
    '<path class="nw-post-fill" d="M{x} 6.5h8v4.75a1.75 1.75 0 0 1-1.75 1.75h-4.5A1.75 1.75 0 0 1 {x} 11.25z"/>',
    SymbolState.HOLLOW: '<rect class="nw-post-hollow" x="{x}.5" y=".5" width="7" height="12" rx="1.25"/>',
    SymbolState.CROSSED: '<rect class="nw-post-crossed" x="{x}.5" y=".5" width="7" height="12" rx="1.25"/>'
    '<path class="nw-post-crossed" d="m{x}.75 1 6.5 11"/>',
}


@cache
def _render_posts(states: tuple[SymbolState, ...]) -> SafeString:
    width = 9 * len(states) - 1
    drawn = "".join(_POSTS[on].format(x=9 * place) for place, on in enumerate(states))
    return mark_safe(f'<svg width="{width}" height="13" viewBox="0 0 {width} 13" aria-hidden="true">{drawn}</svg>')  # noqa: S308  made of constants


@register.simple_tag
def pair(posts: Iterable[GatewaySymbol | tuple[str, str]], word: object = None) -> SafeString:
    """One post per gateway, and a word: {% pair forward.posts %}.

    Posts are GatewaySymbol values, or pairs of a gateway's name and full, half, hollow or crossed.
    """
    given = tuple(post if isinstance(post, GatewaySymbol) else GatewaySymbol(post[0], SymbolState(post[1])) for post in posts)
    return _render_pair(given, get_language()) if word is None else _render_words_of_pair(given, word)


@lru_cache(256)
def _render_pair(given: tuple[GatewaySymbol, ...], _language: str | None) -> SafeString:
    """Cached by language: most rows of a list have the same posts."""
    return _render_words_of_pair(given, summarize_symbols(given))


def _render_words_of_pair(given: tuple[GatewaySymbol, ...], words: object) -> SafeString:
    if not given:
        return format_html('<span class="nw-3">{}</span>', words)
    return format_html(
        '<span class="nw-pair" title="{}">{}<span>{}</span></span>',
        describe_symbols(given),
        _render_posts(tuple(post.state for post in given)),
        words,
    )


@register.simple_tag(name="waits")
def render_waits(known: Iterable[Activation]) -> SafeString:
    """The reasons why gateways do not have a row yet, each once, with a link: {% waits row.gateways %}. Empty if all have it."""
    lines = (
        format_html('<a href="{}">{}</a>', reason.url, reason.words) if reason.url else format_html("{}", reason.words)
        for reason in list_wait_reasons(known)
    )
    kinds = ("nw-wait" if reason.person else "nw-moving" for reason in list_wait_reasons(known))
    return format_html_join("", '<span class="nw-waits {}">{}</span>', zip(kinds, lines, strict=True))


# --- Values


@register.simple_tag
def address(
    value: str | formats.Address | formats.Network | formats.Interface | None,
    port: int | str | None = None,
    href: str = "",
    copy: bool = True,
) -> SafeString:
    """An address in canonical form, monospaced, with a copy button.

    {% address holding.address %} or {% address a port=8443 href=url copy=False %}.
    """
    if value is None or value == "":
        return format_html('<span class="nw-3">{}</span>', gettext("none"))
    text = formats.format_address(value, port)
    shown = format_html('<a href="{}"><code>{}</code></a>', href, text) if href else format_html("<code>{}</code>", text)
    return format_html('<span class="nw-address">{}{}</span>', shown, copy_button(text) if copy else "")


@register.simple_tag
def addresses(values: Sequence[str], empty: object = "") -> SafeString:
    """The first address, and the number of further ones: {% addresses row.private empty="none yet" %}."""
    if not values:
        return format_html('<span class="nw-3">{}</span>', empty) if empty else SafeString("")
    more = format_html(' <span class="nw-3" title="{}">+{}</span>', ", ".join(values[1:]), len(values) - 1) if len(values) > 1 else ""
    return format_html('<span class="nw-address"><code>{}</code>{}</span>', values[0], more)


@register.simple_tag(name="copy")
def copy_button(text: str, name: str = "") -> SafeString:
    """A button that copies exactly this text and confirms it: {% copy "a04f 7c1e" %}. name: what a long text is called."""
    label = gettext("Copy %(text)s") % {"text": name or text}
    return format_html(
        '<button type="button" class="nw-copy" data-copy="{}" data-says="{}" aria-label="{}" title="{}">{}</button>',
        text, gettext("copied"), label, label, icon("copy"),
    )  # fmt: skip


@register.filter(name="when")
def render_when(at: datetime | None, form: str = "") -> SafeString | str:
    """A time: {{ at|when }}.

    "zone" adds the zone, "short" drops the seconds, "dated" says the day today, too, "full" is Thu 12 Nov 2026, 21:13 CET, "day" is
    12 Nov 2026, "ago" is relative.
    """
    if at is None:
        return gettext("never")
    wants = form.split()
    if "ago" in wants:
        return _render_time(at, formats.format_ago(at, timezone.now()))
    hour = timezone.localtime().replace(minute=0, second=0, microsecond=0)
    return _render_cached_time(at, frozenset(wants), hour, str(hour.tzinfo), hour.utcoffset(), get_language())


@lru_cache(8192)
def _render_cached_time(
    at: datetime, wants: frozenset[str], hour: datetime, _zone: str, _offset: timedelta | None, _language: str | None
) -> SafeString:
    """Cached by hour, zone and language, in which the text stays the same: lists are shown again and again."""
    if "full" in wants:
        return _render_time(at, formats.format_full_time(at))
    if "day" in wants:
        return _render_time(at, formats.format_day(at))
    parts = {"with_zone": "zone" in wants, "with_seconds": "short" not in wants, "with_day": "dated" in wants}
    return _render_time(at, formats.format_moment(at, hour, **parts))


def _render_time(at: datetime, text: str) -> SafeString:
    return format_html('<time datetime="{}" title="{}">{}</time>', at.isoformat(), formats.format_full_time(at), text)


@register.simple_tag
def zone() -> str:
    """The current time zone, for a column head such as Started (CET): {% zone %}."""
    return formats.format_zone(timezone.now())


@register.filter
def mailbox(email: str) -> SafeString | str:
    """An email address. Where it must wrap, it breaks after the @ first."""
    local, at, domain = email.rpartition("@")
    return format_html("{}{}<wbr>{}", local, at, domain) if at else email


@register.filter
def day(value: date | None) -> str:
    return formats.format_day(value)


@register.filter(name="bytes")
def volume(value: float | None) -> str:
    return formats.format_volume(value)


@register.filter(name="signed_bytes")
def change(value: float | None) -> str:
    return formats.format_change(value)


@register.filter
def rate(value: float | None) -> str:
    return formats.format_rate(value)


@register.filter
def packets(value: float | None) -> str:
    return formats.format_packets(value)


@register.filter
def number(value: float | None, digits: int = 0) -> str:
    return formats.format_number(value, digits)


@register.filter
def percent(value: float | None, digits: int | None = None) -> str:
    return formats.format_percent(value, digits)


@register.filter
def duration(seconds: float | None) -> str:
    return formats.format_duration(seconds)


@register.filter
def figure(text: str) -> SafeString:
    """A key figure with a large number and a small unit, inside <dd> of an nw-figure: {{ rate|packets|figure }}."""
    number, _, unit = text.partition(formats.SPACE)
    return format_html("<b>{}</b> {}", number, unit)


# --- Meters: widths are SVG attributes, because pages contain no inline styles


@register.simple_tag
def meter(
    value: float, most: float, warns_at: float | None = None, kind: str = "plain", inline: bool = False, label: str = ""
) -> SafeString:
    """A bar on its track, with a mark at the warning level.

    {% meter used 524288 warns_at=419430 label="Connections" %}.
    """
    share = round(min(100.0, 100 * value / most), 1) if most else 0
    small = " nw-meter-inline" if inline else ""
    mark = (
        format_html('<rect class="nw-threshold" x="{}%" y="0" width="2" height="100%"/>', round(100 * warns_at / most, 1))
        if warns_at
        else ""
    )
    y, height = ("0", "100%") if inline else ("33%", "34%")
    hidden = format_html('role="img" aria-label="{}"', label) if label else mark_safe('aria-hidden="true"')
    return format_html(
        '<svg class="nw-meter nw-{kind}{small}" {hidden}><rect class="nw-track" y="{y}" width="100%" height="{height}" rx="2"/>'
        '<rect class="nw-value" y="{y}" width="{share}%" height="{height}" rx="2"/>{mark}</svg>',
        kind=kind, small=small, hidden=hidden, y=y, height=height, share=share, mark=mark,
    )  # fmt: skip


@register.simple_tag
def cores(loads: Sequence[float], warns_at: float = 90) -> SafeString:
    """The load of every core in percent, overloaded ones in the warning colour: {% cores gateway.cores %}."""
    step = 100 / max(len(loads), 1)
    bars = format_html_join(
        "",
        '<rect class="nw-track" x="{0}%" width="{1}%" height="100%" rx="1.5"/>'
        '<rect class="nw-value{4}" x="{0}%" y="{2}%" width="{1}%" height="{3}%" rx="1"/>',
        (
            (round(place * step, 2), round(step * 0.86, 2), round(100 - load, 1), round(load, 1), " nw-warn" if load >= warns_at else "")
            for place, load in enumerate(loads)
        ),
    )
    words = gettext("CPU load per core: %(loads)s") % {"loads": ", ".join(formats.format_percent(round(load)) for load in loads)}
    return format_html('<svg class="nw-cores" role="img" aria-label="{}">{}</svg>', words, bars)


# --- Query strings of pages: sorting, filtering, paging


@register.simple_tag(takes_context=True)
def query(context: RequestContext, **changes: object) -> str:
    """This page's query string with changes: {% query sort="name" %}.

    None drops a parameter. Any change except of `page` resets the page. The view may name in `passing` what its links do not keep, as
    the result of an action that was shown once; and in `page_path` the page, if the view answers at the path of a form.
    """
    params = context["request"].GET.copy()
    for name in context.get("passing") or ():
        params.pop(name, None)
    if "page" not in changes:
        params.pop("page", None)
    for name, value in changes.items():
        if value is None:
            params.pop(name, None)
        else:
            params[name] = str(value)
    return f"{context.get('page_path', '')}?{params.urlencode()}"


@register.simple_tag(takes_context=True)
def sort(context: RequestContext, key: str, label: object, number: bool = False) -> SafeString:
    """A column head that sorts by `?sort=key`, then by `-key`: {% sort "name" "Name" %}. The view may set its default order in `sort`."""
    now = context["request"].GET.get("sort") or context.get("sort") or ""
    down = now == f"-{key}"
    active = down or now == key
    link = query(context, sort=f"-{key}" if active and not down else key)
    sorted_as = format_html(' aria-sort="{}"', "descending" if down else "ascending") if active else ""
    arrow = icon("arrow-down" if down else "arrow-up") if active else ""
    return format_html(
        '<th scope="col"{}{}><a href="{}">{}{}</a></th>', mark_safe(' class="nw-num"') if number else "", sorted_as, link, label, arrow
    )


# --- Components with their own templates


@register.simple_tag
def crumbs(*pairs: object) -> SafeString:
    """Breadcrumbs to this page, without the page itself: {% crumbs "Members" members_url "House B" house_url %}."""
    links = format_html_join("", '<li><a href="{}">{}</a></li>', zip(pairs[1::2], pairs[::2], strict=True))
    return format_html('<nav class="nw-crumbs" aria-label="{}"><ol>{}</ol></nav>', gettext("Breadcrumb"), links)


@register.simple_tag
def facts(*parts: object) -> SafeString:
    """One line of facts under the title, without empty ones: {% facts member.number room tariff %}."""
    return format_html('<ul class="nw-facts">{}</ul>', format_html_join("", "<li>{}</li>", ((part,) for part in parts if part)))


@register.inclusion_tag("components/field.html")
def field(bound: BoundField, wide: bool = False) -> dict[str, object]:
    """A form field: label, input, help text and error, linked for screen readers: {% field form.port %}."""
    return {"field": bound, "wide": wide, "check": isinstance(bound.field.widget, CheckboxInput)}


def _render_part(context: RequestContext, name: str, **values: object) -> SafeString:
    engine = context.template.engine if context.template else template.Engine.get_default()
    with context.push(**values):
        return engine.get_template(f"components/{name}.html").render(context)


@register.simple_block_tag(takes_context=True, name="truth")
def render_status_banner(
    context: RequestContext, content: str, kind: str = "ok", icon: str = "", aside: object = "", loud: bool = False
) -> SafeString:
    """A prominent status line with an icon, in the colour of its kind.

    {% truth "ok" aside=html %}<b>Connected.</b> Leaves as …{% endtruth %}.
    """
    return _render_part(
        context, "truth", content=content, kind=kind, icon_name=StateLabel(StateKind(kind), "", icon).shown_icon, aside=aside, loud=loud
    )


@register.simple_block_tag(takes_context=True, name="saved")
def render_saved(context: RequestContext, content: str, kind: str = "ok", undo: str = "", alone: bool = False) -> SafeString:
    """A confirmation at the place of the change: {% saved undo=url %}<b>Saved.</b> …{% endsaved %}. `undo` is a URL to POST to."""
    return _render_part(
        context, "saved", content=content, kind=kind, icon_name=StateLabel(StateKind(kind), "").shown_icon, undo=undo, alone=alone
    )


@register.simple_block_tag(takes_context=True)
def section(
    context: RequestContext, content: str, title: object, note: object = "", note_id: str = "", more: object = "", href: str = ""
) -> SafeString:
    """A section with a heading, an optional note and an optional link.

    {% section "Addresses" note="4 of 8 used" note_id="used" more="Who held them before?" href=url %}…{% endsection %}.
    """
    return _render_part(context, "section", content=content, title=title, note=note, note_id=note_id, more=more, href=href)


@register.simple_block_tag(takes_context=True, name="nothing")
def render_empty_state(context: RequestContext, content: str, title: object, icon: str = "search") -> SafeString:
    """An empty state: {% nothing "No bans yet" icon="bans" %}What would stand here, and the first step.{% endnothing %}."""
    return _render_part(context, "nothing", content=content, title=title, icon_name=icon)


@register.simple_block_tag(takes_context=True)
def bulk(context: RequestContext, content: str, total: int, summary: object = "", reach: object = "") -> SafeString:
    """The bar of bulk actions, at the beginning of the form around a table with nw-pick cells.

    {% bulk total=38 summary="38 members" %}<button name="do" value="block">…{% endbulk %}.
    """
    return _render_part(context, "bulk", content=content, total=total, summary=summary, reach=reach)


@register.simple_block_tag(takes_context=True)
def confirm(
    context: RequestContext, content: str, title: object, verb: object, back: str, action: str = "", danger: bool = True
) -> SafeString:
    """A confirmation form that POSTs.

    {% confirm "Lift ban 381?" verb="Lift the ban" back=url %}what will happen, to how many, what will not{% endconfirm %}.
    """
    return _render_part(context, "confirm", content=content, title=title, verb=verb, back=back, action=action, danger=danger)
