"""What a web server serves, once the guards of the trail are seen to stand."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "verifier.settings")
application = get_asgi_application()

from audit.checks import end_where_unguarded  # noqa: E402  # only now: Django is set up

end_where_unguarded()
