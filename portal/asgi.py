"""ASGI entry point of live events and of requests that wait, in a process of its own, so that none of them holds a web server thread."""

import os

from django.conf import settings
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
get_wsgi_application()  # sets Django up

from apps.events.asgi import EventsApplication  # noqa: E402 - needs Django to be set up
from apps.lib.database.query_limits import limit_queries  # noqa: E402
from apps.lib.trace_timing import start_traces  # noqa: E402
from portal.web.open_files import allow_open_files  # noqa: E402

limit_queries()
start_traces(settings.TRACES_URL, "netzwart-events")
allow_open_files()
application = EventsApplication()
