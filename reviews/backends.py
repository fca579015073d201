"""Whom a session stands for."""

from typing import Any

from django.contrib.auth.backends import ModelBackend

from reviews.models import User


class PeopleBackend(ModelBackend):
    """Django's own, with the tenant in the same query, since every page is made for one."""

    def get_user(self, user_id: Any) -> User | None:
        user = User.objects.select_related("tenant").filter(pk=user_id).first()
        return user if user is not None and self.user_can_authenticate(user) else None
