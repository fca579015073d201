from django.apps import AppConfig


class VerifierConfig(AppConfig):
    name = "verifier"

    def ready(self) -> None:
        from verifier import celery  # noqa: F401  # shared tasks bind to our Celery application
