from django.apps import AppConfig


class VerifierConfig(AppConfig):
    name = "verifier"

    def ready(self) -> None:
        from audit.log import register_comparer, register_references
        from verifier import celery  # noqa: F401  # shared tasks bind to our Celery application
        from verifier.services.recorded import find_cases, references_of, verdict_rows

        register_references(of=references_of, find=find_cases)
        register_comparer("verdict", verdict_rows, event_types=("finding_correctness_verified",))
