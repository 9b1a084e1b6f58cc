"""Helpers of requests and responses: navigation, query parameters, paginators, a cache per request, redaction of paths, guarded HTTP."""
