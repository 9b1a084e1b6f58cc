"""The web server's entry to pages and API."""

import gc
import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

from apps.lib.database.query_limits import limit_queries

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
application = get_wsgi_application()
limit_queries()
_ = get_resolver().url_patterns  # loads all views now, once for all workers, instead of at the first request of each

# What was loaded stays for ever. Without this every full collection walks all of it, and a request waits for that, a quarter of a second
# with 150 MiB; and workers that were forked would copy each page that it touches (Python manual, gc.freeze).
gc.collect()
gc.freeze()
