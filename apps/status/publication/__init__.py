"""The status page as files for a server elsewhere, and the emergency sheet for administrators."""
