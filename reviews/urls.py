"""The pages. Reading is GET, every act is POST."""

from django.urls import path

from reviews.views import access, administration, cases, decide, queue, recorded, retention, second, take_back, upload

urlpatterns = [
    path("", queue.queue, name="home"),
    path("queue/", queue.queue, name="queue"),
    path("sign-in/", access.sign_in, name="sign_in"),
    path("sign-out/", access.sign_out, name="sign_out"),
    path("stay/", access.stay, name="stay"),
    path("cases/", cases.cases, name="cases"),
    path("cases/<uuid:case_id>/", cases.case, name="case"),
    path("cases/<uuid:case_id>/whole/", cases.whole, name="whole"),
    path("cases/<uuid:case_id>/report/", cases.report, name="report"),
    path("cases/<uuid:case_id>/progress/", cases.progress, name="progress"),
    path("cases/<uuid:case_id>/recheck/", cases.recheck, name="recheck"),
    path("cases/<uuid:case_id>/claim/", queue.claim, name="claim"),
    path("cases/<uuid:case_id>/release/", queue.release, name="release"),
    path("cases/<uuid:case_id>/retention/", retention.retention, name="retention"),
    path("cases/<uuid:case_id>/retention/end/", retention.end, name="retention_end"),
    path("cases/<uuid:case_id>/retention/hold/", retention.legal_hold, name="retention_hold"),
    path("cases/<uuid:case_id>/findings/<uuid:finding_id>/decision/", decide.decision, name="decide"),
    path("cases/<uuid:case_id>/decisions/<uuid:decision_id>/take-back/", take_back.take_back, name="take_back"),
    path("decisions/<uuid:decision_id>/", recorded.recorded, name="recorded"),
    path("second/", second.second, name="second"),
    path("second/<uuid:decision_id>/", second.decide, name="second_decide"),
    path("advisory/", cases.advisory, name="advisory"),
    path("upload/", upload.upload, name="upload"),
    path("administration/", administration.switches, name="administration"),
    path("administration/switches/<str:name>/", administration.switch, name="switch"),
    path("administration/keys/", administration.keys, name="administration_keys"),
    path("administration/keys/<uuid:key_id>/revoke/", administration.revoke_key, name="revoke_key"),
    path("administration/users/", administration.users, name="administration_users"),
    path("administration/users/<int:user_id>/role/", administration.change_role, name="change_role"),
    path("administration/users/<int:user_id>/deactivate/", administration.deactivate, name="deactivate"),
]
