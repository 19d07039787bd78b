"""Where the AI tools keep their files on each system, as data."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from icm_site import paths
from icm_site.hosts import writing


class Root(NamedTuple):
    """A folder (or file) per system, and the variables of a tool that move it.

    `~` is the home folder; `$CONFIG` the XDG config folder, on Windows `%APPDATA%`'s
    place is `$APPDATA`. A variable's value is followed by the text behind its name.
    """

    linux: str
    darwin: str = ""
    win32: str = ""
    moved: tuple[tuple[str, str], ...] = ()


_CODE = "Library/Application Support"
ROOTS: Mapping[str, Root] = {
    "home": Root("~"),
    "agents": Root("~/.agents"),
    "claude": Root("~/.claude", moved=(("CLAUDE_CONFIG_DIR", ""),)),
    "claude-json": Root(
        "~/.claude.json", moved=(("CLAUDE_CONFIG_DIR", "/.claude.json"),)
    ),
    "claude-desktop": Root("$CONFIG/Claude", f"~/{_CODE}/Claude", "$APPDATA/Claude"),
    "gemini": Root("~/.gemini", moved=(("GEMINI_CLI_HOME", "/.gemini"),)),
    "codex": Root("~/.codex", moved=(("CODEX_HOME", ""),)),
    "copilot": Root("~/.copilot", moved=(("COPILOT_HOME", ""),)),
    # Copilot reads the shared skills only while its folder is not moved.
    "copilot-skills": Root("~/.agents", moved=(("COPILOT_HOME", ""),)),
    "cursor": Root("~/.cursor"),
    "devin": Root("~/.config/devin", win32="$APPDATA/devin"),
    "windsurf": Root("~/.codeium/windsurf"),
    "code": Root("$CONFIG/Code/User", f"~/{_CODE}/Code/User", "$APPDATA/Code/User"),
    "code-insiders": Root(
        "$CONFIG/Code - Insiders/User",
        f"~/{_CODE}/Code - Insiders/User",
        "$APPDATA/Code - Insiders/User",
    ),
    "vscodium": Root(
        "$CONFIG/VSCodium/User", f"~/{_CODE}/VSCodium/User", "$APPDATA/VSCodium/User"
    ),
    "amp": Root("~/.config/amp"),
    "amp-skills": Root("~/.config/agents"),
    "kiro": Root("~/.kiro"),
    "amazon-q": Root("~/.aws/amazonq"),
    "cline": Root("~/.cline", moved=(("CLINE_DIR", ""),)),
    "cline-settings": Root(
        "~/.cline/data/settings/cline_mcp_settings.json",
        moved=(
            ("CLINE_MCP_SETTINGS_PATH", ""),
            ("CLINE_DATA_DIR", "/settings/cline_mcp_settings.json"),
            ("CLINE_DIR", "/data/settings/cline_mcp_settings.json"),
        ),
    ),
    "roo": Root("~/.roo"),
    "kilo": Root("~/.config/kilo"),
    "zed": Root("$CONFIG/zed", "~/.config/zed", "$APPDATA/Zed"),
    "opencode": Root("$CONFIG/opencode", "$CONFIG/opencode", "~/.config/opencode"),
    "continue": Root("~/.continue", moved=(("CONTINUE_GLOBAL_DIR", ""),)),
    "icm": Root(""),  # our own config folder
}


def resolve(
    template: str, *, env: Mapping[str, str], system: str = sys.platform
) -> Path:
    """The path of `{root}/rest`; raises Unavailable without a home."""
    name, _, rest = template[1:].partition("}")
    if name == "icm":
        return Path(f"{paths.config_dir(env, system=system)}{rest}")
    return Path(f"{root(ROOTS[name], env=env, system=system)}{rest}")


def root(place: Root, *, env: Mapping[str, str], system: str = sys.platform) -> str:
    """Where a root lies; a variable that holds no absolute path moves nothing."""
    for variable, below in place.moved:
        moved = _absolute(env.get(variable, ""), env, system)
        if moved:
            return f"{moved}{below}"
    usual = {"darwin": place.darwin, "win32": place.win32}.get(system, "")
    return _expanded(usual or place.linux, env, system)


def _expanded(text: str, env: Mapping[str, str], system: str) -> str:
    home = paths.home_dir(env, system=system).as_posix()
    folders = {
        "~": home,
        "$CONFIG": _absolute(env.get("XDG_CONFIG_HOME", ""), env, system)
        or f"{home}/.config",
        "$APPDATA": _absolute(env.get("APPDATA", ""), env, system)
        or f"{home}/AppData/Roaming",
    }
    name, slash, rest = text.partition("/")
    return f"{folders[name]}{slash}{rest}"


def _absolute(text: str, env: Mapping[str, str], system: str) -> str:
    text = text.replace("\\", "/") if system == "win32" else text
    if text == "~" or text.startswith("~/"):
        return f"{paths.home_dir(env, system=system).as_posix()}{text[1:]}"
    return text.rstrip("/") if Path(text).is_absolute() else ""


def on_path(
    names: tuple[str, ...], *, env: Mapping[str, str], system: str = sys.platform
) -> Path | None:
    """The first program of these names on PATH; with its endings on Windows."""
    windows = system == "win32"
    endings = (".exe", ".cmd", ".bat", ".ps1", "") if windows else ("",)
    for folder in env.get("PATH", "").split(";" if windows else ":"):
        for name in names:
            for ending in endings:
                place = Path(folder) / f"{name}{ending}"
                if (
                    folder
                    and writing.is_file(place)
                    and (windows or os.access(place, os.X_OK))
                ):
                    return place
    return None
