"""WSGI entry point of pages and API."""

import gc
import os

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

from apps.lib.database.query_limits import limit_queries
from apps.lib.trace_timing import start_traces

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
application = get_wsgi_application()
limit_queries()
start_traces(settings.TRACES_URL, "netzwart-web")
_ = get_resolver().url_patterns  # loads all views now, once for all workers, instead of at each worker's first request

# The loaded modules are never freed. Without this every full garbage collection walks all of them while a request waits (a quarter of a
# second with 150 MiB), and forked workers copy each memory page that it touches (Python manual, gc.freeze).
gc.collect()
gc.freeze()
