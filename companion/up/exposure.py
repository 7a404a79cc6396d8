"""Who may reach the console (security row 5): only this machine, unless the operator has taken care of it."""

import ipaddress

from companion.env import Environment
from companion.lib.refusals import Refusal

HINT = (
    "Leave COMPANION_HOST out, or set COMPANION_PASSWORD and an https:// COMPANION_PUBLIC_URL "
    "(COMPANION_ALLOW_INSECURE=1 instead of https, on a network that you trust)."
)


def is_loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_exposure(environment: Environment) -> None:
    """Raises Refusal with everything that is missing at once."""
    if is_loopback(environment.host):
        return
    missing = []
    if not environment.password:
        missing.append("a password")
    if not environment.public_url.startswith("https://") and not environment.insecure:
        missing.append("an encrypted address")
    if missing:
        raise Refusal(
            "exposed",
            f"COMPANION_HOST={environment.host} can be reached from other machines, and there is no "
            f"{' and no '.join(part.split(' ', 1)[1] for part in missing)}.",
            HINT,
        )
