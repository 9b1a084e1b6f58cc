"""Building blocks of pages: formats, states, charts, form fields, and the style guide that shows them."""
