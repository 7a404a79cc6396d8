"""Every address of the console. Only the views marked `open_to_all` answer without a sign-in."""

from django.urls import include, path

from companion.views import choices, doctor, health, now, signin

urlpatterns = [
    path("", now.now, name="now"),
    path("", include("sessions.urls")),
    path("doctor/", doctor.doctor, name="doctor"),
    path("sign-in/", signin.explain, name="sign-in"),
    path("sign-in/password/", signin.with_password, name="sign-in-password"),
    path("sign-in/<str:token>/", signin.with_link, name="sign-in-link"),
    path("sign-out/", signin.leave, name="sign-out"),
    path("choices/language/", choices.language, name="language"),
    path("choices/theme/", choices.theme, name="theme"),
    path("healthz", health.healthz, name="healthz"),
]

handler400 = "companion.views.errors.bad_request"
handler403 = "companion.views.errors.forbidden"
handler404 = "companion.views.errors.not_found"
handler500 = "companion.views.errors.broken"
