"""The ASGI application: the outer door, then the live socket to its consumer and everything else to Django."""

import logging
import os
from typing import cast

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "companion.settings")

from django.core.asgi import get_asgi_application

# Loads the apps; the imports below need them.
django_application = cast("Application", get_asgi_application())

from companion.consumers import LiveConsumer  # noqa: E402
from companion.doors import Application, OuterDoor, Receive, Scope, Send, lifespan, refuse  # noqa: E402
from companion.session import HideTokens  # noqa: E402

# The server's own access log has its own handlers, so the token is hidden at the logger.
logging.getLogger("uvicorn.access").addFilter(HideTokens())

live = cast("Application", LiveConsumer.as_asgi())


async def sockets(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["path"] == "/ws/live/":
        await live(scope, receive, send)
    else:
        await refuse(scope, receive, send, 404)


doors: dict[str, Application] = {
    "http": OuterDoor(django_application),
    "websocket": OuterDoor(sockets),
    "lifespan": lifespan,
}


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    await doors[scope["type"]](scope, receive, send)
