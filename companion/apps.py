from django.apps import AppConfig


class CompanionConfig(AppConfig):
    name = "companion"
    label = "companion"

    def ready(self) -> None:
        # The Celery app has to exist in every process that queues or runs a task.
        from companion import celery  # noqa: F401
