"""Template tags: output, escaping, and changes of a single query parameter."""

from collections.abc import Iterator

import pytest
from django import forms
from django.template import Context, Template
from django.test import RequestFactory
from django.utils import translation

from apps.lib.ui.states import GatewaySymbol, StateKind, StateLabel, SymbolState, describe_symbols, summarize_symbols


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    with translation.override("en"):
        yield


def render(text: str, path: str = "/", **values: object) -> str:
    return Template(text).render(Context({"request": RequestFactory().get(path), **values}))


def posts(*states: str) -> list[GatewaySymbol]:
    return [GatewaySymbol(f"nat-{place}", SymbolState(state)) for place, state in enumerate(states, 1)]


@pytest.mark.parametrize(
    ("states", "word"),
    [
        (("full", "full"), "both"),
        (("hollow", "full"), "nat-2 only"),
        (("crossed", "full"), "nat-2 only"),
        (("half", "full"), "nat-2 so far"),
        (("half", "hollow"), "under way"),
        (("crossed", "hollow"), "failed"),
        (("hollow", "hollow"), "off"),
        (("full",), "nat-1"),
        (("full", "full", "full"), "all 3"),
        ((), "none"),
    ],
)
def test_the_pair_always_has_a_word(states: tuple[str, ...], word: str) -> None:
    assert summarize_symbols(posts(*states)) == word


def test_the_pair_speaks_german() -> None:
    with translation.override("de"):
        assert summarize_symbols(posts("full", "full")) == "beide"
        assert summarize_symbols(posts("hollow", "full")) == "nur nat-2"
        assert describe_symbols(posts("half", "full")) == "nat-1: unterwegs, nat-2: bestätigt"


def test_the_pair_takes_plain_pairs_and_says_each_gateway_in_its_title() -> None:
    html = render("{% pair posts %}", posts=[("nat-1", "half"), ("nat-2", "full")])
    assert 'title="nat-1: under way, nat-2: confirmed"' in html
    assert "nat-2 so far" in html
    assert "nw-post-half" in html


def test_a_state_is_an_icon_and_a_word() -> None:
    html = render("{% state blocked %}", blocked=StateLabel(StateKind.BAD, "Blocked", "blocked"))
    assert "nw-bad" in html
    assert "#blocked" in html
    assert "Blocked</span>" in html


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="purple"):
        render('{% state "purple" "Odd" %}')


def test_an_address_is_canonical_and_its_button_copies_it_bare() -> None:
    html = render("{% address value port=443 %}", value="2001:DB8::1")
    assert "<code>[2001:db8::1]:443</code>" in html
    assert 'data-copy="[2001:db8::1]:443"' in html


def test_an_email_address_breaks_behind_the_at_and_stays_text() -> None:
    assert render("{{ value|mailbox }}", value="selin.kaya@lindenhof.example") == "selin.kaya@<wbr>lindenhof.example"
    assert render("{{ value|mailbox }}", value="<b>@x") == "&lt;b&gt;@<wbr>x"
    assert render("{{ value|mailbox }}", value="none") == "none"


def test_hostile_text_is_escaped_everywhere() -> None:
    evil = '"><script>alert(1)</script>'
    tags = (
        "{% address v %}",
        "{% copy v %}",
        '{% state "ok" v %}',
        '{% tag "ok" v %}',
        "{% facts v %}",
        '{% crumbs v "/" %}',
        '{% sort "a" v %}',
        "{% truth %}{{ v }}{% endtruth %}",
        "{% section v note=v more=v href=v %}{% endsection %}",
        "{% nothing v %}{% endnothing %}",
    )
    for tag in tags:
        assert "<script>" not in render(tag, v=evil), tag


def test_query_changes_one_parameter_and_goes_back_to_the_first_page() -> None:
    assert render('{% query sort="name" %}', "/?q=B+1&page=3") == "?q=B+1&amp;sort=name"
    assert render("{% query page=2 %}", "/?q=B&page=3") == "?q=B&amp;page=2"
    assert render("{% query q=None %}", "/?q=B&sort=name") == "?sort=name"


def test_a_column_head_sorts_up_then_down_and_says_so() -> None:
    assert 'href="?sort=name"' in render('{% sort "name" "Name" %}')
    up = render('{% sort "name" "Name" %}', "/?sort=name")
    assert 'aria-sort="ascending"' in up
    assert 'href="?sort=-name"' in up
    assert 'aria-sort="descending"' in render('{% sort "name" "Name" %}', sort="-name")


def test_a_field_ties_its_help_and_its_error_to_the_input() -> None:
    class Form(forms.Form):
        port = forms.IntegerField(min_value=1024, help_text="1024 to 65535")
        note = forms.CharField(required=False)

    form = Form({"port": "22"})
    html = render("{% field form.port %}{% field form.note %}", form=form)
    assert 'aria-describedby="id_port_helptext id_port_error"' in html
    assert 'id="id_port_error"' in html
    assert html.count(">optional<") == 1


def test_a_meter_needs_no_style() -> None:
    html = render("{% meter 28 100 warns_at=80 %}{% cores loads %}", loads=[10, 95])
    assert 'width="28.0%"' in html
    assert "style=" not in html
    assert 'nw-value nw-warn"' in html
