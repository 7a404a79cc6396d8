"""Where the console listens, and what a browser calls it."""

import errno
import socket

from companion.env import Environment
from companion.lib.refusals import Refusal

BACKLOG = 1024
# An address that means "all" is reached through loopback.
REACHED_AS = {"0.0.0.0": "127.0.0.1", "::": "::1"}
HINT = 'Choose another: `make run ARGS="--port N"`, or COMPANION_PORT=N.'


def base_url(environment: Environment) -> str:
    """Without a slash at the end."""
    if environment.public_url:
        return environment.public_url
    host = reached_as(environment.host)
    return f"http://[{host}]:{environment.port}" if ":" in host else f"http://{host}:{environment.port}"


def reached_as(host: str) -> str:
    return REACHED_AS.get(host, host)


def listening(host: str, port: int) -> socket.socket:
    """The socket, taken before anything starts and kept over restarts of the web process."""
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        door = socket.socket(family, kind, protocol)
    except OSError as error:
        raise _refused(error, host, port) from None
    try:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        door.bind(place)
        door.listen(BACKLOG)
    except OSError as error:
        door.close()
        raise _refused(error, host, port) from None
    return door


def _refused(error: OSError, host: str, port: int) -> Refusal:
    if error.errno == errno.EADDRINUSE:
        return Refusal("port-taken", f"Port {port} on {host} is used by another program.", HINT)
    if error.errno in {errno.EACCES, errno.EPERM}:
        return Refusal("port-forbidden", f"Port {port} may not be used by this user.", HINT)
    return Refusal(
        "address", f"COMPANION_HOST={host} is no address of this machine ({error.strerror}).", "Leave it out."
    )
