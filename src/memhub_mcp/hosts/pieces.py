"""What belongs in the files of a host: the server, the hooks, the rules."""

import re
import shlex
import sys
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any, cast

from memhub_mcp.errors import ConfigError
from memhub_mcp.hosts.edits import Edit, Kind
from memhub_mcp.hosts.places import HostPlaces, no_repository
from memhub_mcp.hosts.records import SERVER_NAME, Format, HookEvent, HookShape, Host, InstallScope, Place

_PLAIN_ON_WINDOWS = re.compile(r"[\w:/.+-]+")  # means the same to Git Bash, cmd and PowerShell

Command = Sequence[str]
"""The words that start memhub on this machine, an absolute path first."""


def pieces_for(host: Host, scope: InstallScope, places: HostPlaces, command: Command, home: Path) -> list[Edit]:
    """Every piece that belongs in the files of `host`, in the order it is put in.

    Raises:
        ConfigError: the host has no such scope, or the scope needs a repository.
    """
    if scope not in host.servers:
        known = ", ".join(host.servers)
        raise ConfigError(f"{host.title} has no {scope} scope of its own; it has: {known}")
    return [
        _server(host, host.servers[scope], places, command, home),
        *_hooks(host, scope, places, command, home),
        *_rules(host, scope, places),
    ]


def hook_command(host: Host, event: HookEvent, command: Command, home: Path, platform: str = sys.platform) -> str:
    """The shell command that reports an event. Forward slashes on Windows: its shells there eat the others."""
    words = [*command, "hook", host.name, event.event, "--home", str(home)]
    if platform == "win32":
        words = [word.replace("\\", "/") for word in words]
        return " ".join(word if _PLAIN_ON_WINDOWS.fullmatch(word) else f'"{word}"' for word in words)
    return shlex.join(words)


def rules_text() -> str:
    """What a model is told where it gets neither our hooks nor our instructions."""
    return resources.files("memhub_mcp.hosts").joinpath("data", "rules.md").read_text(encoding="utf-8").rstrip("\n")


def server_entry(host: Host, command: Command, home: Path) -> Any:
    """The configuration of our server as `host` writes it."""
    args = [*command[1:], "serve", "--home", str(home)]
    return _filled(host.entry, command[0], args)


def server_path(place: Place, places: HostPlaces) -> tuple[str, ...]:
    """The keys that lead to our server in the file of `place`.

    Raises:
        ConfigError: it is kept by repository, and there is none.
    """
    if "{project}" in place.keys and places.project_key is None:
        raise no_repository()
    return (*(places.project_key or "" if key == "{project}" else key for key in place.keys), SERVER_NAME)


def _server(host: Host, place: Place, places: HostPlaces, command: Command, home: Path) -> Edit:
    kind = Kind.TABLE if place.format is Format.TOML else Kind.MEMBER
    return Edit(places.file(place), kind, server_path(place, places), server_entry(host, command, home))


def _hooks(host: Host, scope: InstallScope, places: HostPlaces, command: Command, home: Path) -> list[Edit]:
    place = host.hooks.get(scope)
    if place is None:
        return []
    file = places.file(place)
    pieces = [Edit(file, Kind.MEMBER, (key,), value, keep=True) for key, value in host.hook_head.items()]
    for event in host.events:
        hook: dict[str, Any] = {"command": hook_command(host, event, command, home)}
        if host.hook_shape is HookShape.GROUPED:
            hook = {"type": "command", **hook}
        if host.timeout:
            hook["timeout"] = host.timeout
        if host.hook_shape is HookShape.GROUPED:
            hook = {**({"matcher": event.matcher} if event.matcher else {}), "hooks": [hook]}
        pieces.append(Edit(file, Kind.ELEMENT, (*place.keys, event.name), hook))
    return pieces


def _rules(host: Host, scope: InstallScope, places: HostPlaces) -> list[Edit]:
    place = host.rules.get(scope)
    return [] if place is None else [Edit(places.file(place), Kind.BLOCK, (), rules_text())]


def _filled(shape: Any, program: str, args: list[str]) -> Any:
    if isinstance(shape, dict):
        return {key: _filled(value, program, args) for key, value in cast("dict[str, Any]", shape).items()}
    if isinstance(shape, list):
        filled = [_filled(value, program, args) for value in cast("list[Any]", shape)]
        return [part for value in filled for part in (cast("list[Any]", value) if isinstance(value, list) else [value])]
    return program if shape == "{command}" else args if shape == "{args}" else shape
