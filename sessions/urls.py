"""Addresses of the sessions room."""

from django.urls import URLPattern, path

from sessions.views import (
    companions,
    composition,
    demo,
    listing,
    marks,
    opening,
    pictures,
    plan,
    run,
    runs,
    search,
    session,
    timeline,
    usage,
)


def opened(below: str, name: str) -> list[URLPattern]:
    """What one file holds, below a session and below each of its subagents."""
    return [
        path(f"{below}text/<int:seq>/<int:block>/", opening.text, name=f"{name}-text"),
        path(f"{below}call/<int:seq>/<int:block>/", opening.call, name=f"{name}-call"),
        path(f"{below}line/<int:seq>/", opening.line, name=f"{name}-line"),
        path(f"{below}raw/<int:seq>/", opening.raw, name=f"{name}-raw"),
        path(f"{below}picture/<int:seq>/<int:at>/", pictures.picture, name=f"{name}-picture"),
    ]


urlpatterns = [
    path("sessions/", listing.sessions, name="sessions"),
    path("sessions/by-id/<str:prefix>/", session.by_id, name="session-by-id"),
    path("sessions/<int:pk>/", timeline.timeline, name="session"),
    path("sessions/<int:pk>/words/", session.session, name="session-words"),
    path("sessions/<int:pk>/subagent/<slug:agent>/", opening.subagent, name="session-subagent"),
    path("sessions/<int:pk>/aside/<int:seq>/<int:end>/", opening.aside, name="session-aside"),
    *opened("sessions/<int:pk>/", "session"),
    *opened("sessions/<int:pk>/subagent/<slug:agent>/", "subagent"),
    path("sessions/<int:pk>/usage/", usage.usage, name="session-usage"),
    path("sessions/<int:pk>/usage/chart/", usage.chart, name="session-usage-chart"),
    path("sessions/<int:pk>/composition/", composition.composition, name="session-composition"),
    path("sessions/<int:pk>/title/", marks.title, name="session-title"),
    path("sessions/<int:pk>/size/", marks.size, name="session-size"),
    path("sessions/<int:pk>/pin/", marks.pin, name="session-pin"),
    path("sessions/<int:pk>/archive/", marks.archive, name="session-archive"),
    path("sessions/<int:pk>/plan/", plan.plan, name="session-plan"),
    path("runs/", runs.runs, name="runs"),
    path("runs/<uuid:run>/", run.run, name="run"),
    path("runs/<uuid:run>/apply/", run.apply, name="run-apply"),
    path("runs/<uuid:run>/cancel/", run.cancel, name="run-cancel"),
    path("runs/<uuid:run>/roll-back/", run.roll_back, name="run-roll-back"),
    path("runs/<uuid:run>/bind/", run.bind, name="run-bind"),
    path("search/", search.search, name="search"),
    path("demo/", demo.demo, name="demo"),
    path("demo/load/", demo.load, name="demo-load"),
    path("demo/remove/", demo.remove, name="demo-remove"),
    path("companions/<int:pk>/name/", companions.rename, name="companion-name"),
    path("companions/<int:pk>/confirm/", companions.confirm, name="companion-confirm"),
]
