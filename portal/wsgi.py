"""The web server's entry to pages and API."""

import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
application = get_wsgi_application()
_ = get_resolver().url_patterns  # loads all views now, once for all workers, instead of at the first request of each
