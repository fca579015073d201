"""A trail that can't be written to."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def trail_refuses(event_type: str = "%") -> Iterator[None]:
    """The database refuses to store events of this type (or any), as with a full disk or a lost right."""
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION refuse_event() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$"
        )
        cursor.execute(
            "CREATE TRIGGER refuse_event BEFORE INSERT ON audit_auditevent FOR EACH ROW"
            f" WHEN (NEW.event_type LIKE '{event_type}') EXECUTE FUNCTION refuse_event()"
        )
    yield
    with connection.cursor() as cursor:
        cursor.execute("DROP TRIGGER refuse_event ON audit_auditevent; DROP FUNCTION refuse_event()")
