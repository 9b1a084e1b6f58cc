"""Why does a packet get through, or not? From a question in people's words to a trace, and from elements back to what people made."""
