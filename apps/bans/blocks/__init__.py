"""Members who are blocked: why, until when, what they still reach, and the page that tells them."""
