"""What does a gateway's kernel really do with packets? From a question in people's words to a live trace, and back to paths and fates."""
