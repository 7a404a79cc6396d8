"""Plotly as the installed package ships it, and figures as the page draws them.

A figure is plain data. A colour is the name of a design token ("--dai", or "--dai/0.3" with an opacity) that the page
looks up when it draws, so that one figure serves day and night. Texts go through `label`: Plotly reads a little markup.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from companion.lib.visible import visible

SCRIPT = "plotly.min.js"
MARKUP = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
# The rules of its maps, which it writes into every page that has no element of this id.
OWN_RULES = re.compile(rb'if\(!document\.getElementById\("([0-9a-f]{64})"\)\)')


@cache
def folder() -> Path:
    """Where the package keeps its script. Found without importing the package, which takes long."""
    spec = find_spec("plotly")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("plotly")
    return Path(spec.submodule_search_locations[0]) / "package_data"


def prefix() -> str:
    """The folder of the script below the static address: with its version, so that a browser may keep it for good."""
    return f"plotly/{version('plotly')}"


def script() -> str:
    """The script's static path."""
    return f"{prefix()}/{SCRIPT}"


@cache
def own_rules() -> str:
    """The id under which the script looks for rules of its own before it writes them, against the policy; "" for none."""
    found = OWN_RULES.search((folder() / SCRIPT).read_bytes())
    return found[1].decode() if found else ""


def label(text: str) -> str:
    """Somebody's text for a chart: what hides made visible, and no markup."""
    return visible(text).translate(MARKUP)
