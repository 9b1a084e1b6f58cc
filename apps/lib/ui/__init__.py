"""Building blocks of pages: formats of values, states, charts, form fields, and the style guide that shows them."""
