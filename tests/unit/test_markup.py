"""Normalised markup that tests compare: elements and words, independent of line breaks in the source."""

import pytest

from tests.markup import squeeze_markup


@pytest.mark.parametrize(
    ("source", "read"),
    [
        ('<td class="n">\n  4 MB\n</td>\n<td>a</td>', '<td class="n">4 MB</td><td>a</td>'),
        ("<p>\n  House\n  <b>B</b>\n  east\n</p>", "<p>House <b>B</b> east</p>"),
        ('<button name="a"\n    value="1">\n  Use 1\n</button>', '<button name="a" value="1">Use 1</button>'),
        ("<p>two\n   words</p>", "<p>two words</p>"),
        ("<b>one</b>\n<b>two</b>", "<b>one</b> <b>two</b>"),
        ("<td>a b</td> <td>c</td>", "<td>a b</td> <td>c</td>"),
    ],
)
def test_line_breaks_go_and_the_space_between_words_stays(source: str, read: str) -> None:
    assert squeeze_markup(source) == read


@pytest.mark.parametrize("kept", ["<pre>a\n  b</pre>", "<textarea>\n x\n</textarea>", "<!-- a\n b -->", "<script>\n1\n</script>"])
def test_text_whose_line_breaks_count_is_kept(kept: str) -> None:
    assert squeeze_markup(kept) == kept
