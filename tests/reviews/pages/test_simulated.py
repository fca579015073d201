"""An installation whose providers are stand-ins says so on every page, before anybody has signed in too."""

import pytest
from django.test import Client
from django.urls import reverse

from reviews.context import SIMULATED

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("simulated", [True, False])
def test_the_sign_in_page_says_that_answers_are_simulated_where_they_are(settings, client: Client, simulated: bool):
    settings.SIMULATED_ANSWERS = simulated

    page = client.get(reverse("sign_in")).content.decode()

    assert (SIMULATED in page) is simulated
