"""How memhub stands in the files of a host now, whoever put it there."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from memhub_mcp.hosts import json_text, marked_text, toml_text
from memhub_mcp.hosts.config_files import ConfigFile
from memhub_mcp.hosts.edits import Kind, hook_at, is_blank, words_of
from memhub_mcp.hosts.pieces import server_path
from memhub_mcp.hosts.places import HostPlaces
from memhub_mcp.hosts.records import SERVER_NAME, Format, Host, InstallScope


@dataclass(frozen=True, slots=True)
class Registered:
    """What the files of a host say. `command` is empty when there is no entry of our name.

    `plugin` is our plugin when the host has it enabled, which brings a server and hooks of its own.
    `hooks` are the commands by the host's name of the event, `missing` the events that have none of ours. `rules` is
    the file for the model's text, `ruled` whether the text is in it.
    """

    file: Path
    command: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    hooks_file: Path | None = None
    hooks: Mapping[str, str] = field(default_factory=dict[str, str])
    missing: tuple[str, ...] = ()
    rules: Path | None = None
    ruled: bool = False
    plugin: str | None = None


def registered(host: Host, scope: InstallScope, places: HostPlaces) -> Registered:
    """How `host` has memhub in one scope.

    Raises:
        ConfigError: a file cannot be read or does not parse; says where. Or the scope needs a repository.
    """
    place = host.servers[scope]
    file = places.file(place)
    path = server_path(place, places)
    text = ConfigFile.read(file).body
    entry = toml_text.find(text, path) if place.format is Format.TOML else _json_value(text, path)
    facts = cast("dict[str, Any]", entry) if isinstance(entry, dict) else {}
    env = cast("dict[str, object]", facts["env"]) if isinstance(facts.get("env"), dict) else {}
    filled = {name: value for name, value in env.items() if isinstance(value, str) and "${" not in value}
    there = Registered(file, words_of(entry), filled, plugin=_plugin(host, places))
    return _with_rules(_with_hooks(there, host, scope, places), host, scope, places)


def _with_hooks(there: Registered, host: Host, scope: InstallScope, places: HostPlaces) -> Registered:
    place = host.hooks.get(scope)
    if place is None:
        return there
    file = places.file(place)
    text = ConfigFile.read(file).body
    found = {event.name: hook_at(text, (*place.keys, event.name)) for event in host.events}
    hooks = {name: command for name, command in found.items() if command}
    return replace(there, hooks_file=file, hooks=hooks, missing=tuple(name for name in found if name not in hooks))


def _with_rules(there: Registered, host: Host, scope: InstallScope, places: HostPlaces) -> Registered:
    place = host.rules.get(scope)
    if place is None:
        return there
    file = places.file(place)
    return replace(there, rules=file, ruled=marked_text.find(ConfigFile.read(file).body) is not None)


def _plugin(host: Host, places: HostPlaces) -> str | None:
    if host.plugins is None:
        return None
    enabled = _json_value(ConfigFile.read(places.file(host.plugins)).body, host.plugins.keys)
    names = cast("dict[str, object]", enabled) if isinstance(enabled, dict) else {}
    return next((name for name, on in names.items() if on is True and name.partition("@")[0] == SERVER_NAME), None)


def _json_value(text: str, path: tuple[str, ...]) -> object:
    node = None if is_blank(Kind.MEMBER, text) else json_text.find(json_text.parse(text), path)
    return node.value if node else None
