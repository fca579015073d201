from django.apps import AppConfig


class VerifierConfig(AppConfig):
    name = "verifier"

    def ready(self) -> None:
        from audit.log import register_comparer, register_references, register_state
        from verifier import celery  # noqa: F401  # shared tasks bind to our Celery application
        from verifier.services import corpus, recorded

        register_references(of=recorded.references_of, find=recorded.find_cases)
        register_comparer("verdict", recorded.verdict_rows, event_types=("finding_correctness_verified",))
        register_comparer("report", recorded.report_rows, event_types=("report_received",))
        register_comparer("law", corpus.import_rows, event_types=("law_imported",))
        register_state("case", recorded.case_departures)
        register_state("API key", recorded.key_departures)
        register_state("switch", recorded.switch_departures)
