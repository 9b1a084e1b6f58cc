"""Request and response helpers: navigation, query parameters, paginators, a per-request cache, path redaction, guarded HTTP."""
