"""Words of other servers, fit for logs, pages and the database, which cannot hold every character (NUL, lone surrogates). Pure."""


def make_printable(text: str, longest: int) -> str:
    """Return the text as one printable line of at most so many characters; what cannot be printed becomes a replacement character."""
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in " ".join(text.split())[:longest])
