from django.apps import AppConfig


class SessionsConfig(AppConfig):
    name = "sessions"
    label = "agent_sessions"

    def ready(self) -> None:
        from sessions.live import register_looks

        register_looks()
