"""What `doctor` looks at in the assistants on this machine: where memhub stands, and whether it answers there."""

import json
import os
import shlex
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

from memhub_mcp.cli.checks import Finding
from memhub_mcp.cli.hosting import places_at
from memhub_mcp.errors import MemhubError
from memhub_mcp.hosts.codex_trust import Trust, trust_of
from memhub_mcp.hosts.edits import is_memhub_server
from memhub_mcp.hosts.installed import Installation, Installations
from memhub_mcp.hosts.places import HostPlaces
from memhub_mcp.hosts.records import Host, InstallScope, host_named
from memhub_mcp.hosts.registered import Registered, registered
from memhub_mcp.settings import Settings

_ANSWER_S = 20.0
_HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "memhub-doctor", "version": "1"},
    },
}


def check_hosts(settings: Settings) -> Iterator[Finding]:
    """Each assistant memhub was installed into, then each other one that is on this machine."""
    try:
        known = Installations.read(settings.home).known
    except MemhubError as error:
        yield Finding("assistants", "fail", str(error))
        return
    for installation in known:
        yield from _installed(installation, settings)
    places = places_at(settings.person_home, settings)
    recorded = {one.host for one in known if one.scope is InstallScope.USER}
    for host in places.found():
        if host.name not in recorded:
            yield from _found(host, places, elsewhere=any(one.host == host.name for one in known))


def _installed(installation: Installation, settings: Settings) -> Iterator[Finding]:
    host, scope, project = host_named(installation.host), installation.scope, installation.project
    if host is None or scope not in host.servers:
        yield Finding(installation.host, "warn", "it was installed by another version of memhub", "upgrade memhub")
        return
    if project and not project.is_dir():
        text = f"{host.title}: {project}, where it was installed, is gone"
        yield Finding(host.name, "warn", text, "memhub-mcp uninstall --all; then install it again where you want it")
        return
    again = f"memhub-mcp install {host.name}" + (f" --scope {scope}" if scope is not InstallScope.USER else "")
    todo = f"cd {shlex.quote(str(project))} && {again}" if project else again
    places = places_at(project or settings.person_home, settings)
    try:
        there = registered(host, scope, replace(places, project=project))
    except MemhubError as error:
        yield Finding(host.name, "fail", f"{host.title}: {error}", "correct the file")
        return
    yield _server(
        host, scope, there, todo, own=scope is not InstallScope.PROJECT or there.command == installation.command
    )
    yield from _hooks(host, there, todo)
    if there.rules and not there.ruled:
        yield Finding(host.name, "warn", f"{host.title}: the text for its model is no longer in {there.rules}", todo)
    if there.plugin:
        text = f"{host.title}: the plugin {there.plugin} is enabled too, so its model has every tool twice"
        yield Finding(host.name, "warn", text, f"disable the plugin, or: {again.replace('install', 'uninstall', 1)}")
    if host.name == "codex" and there.hooks_file:
        yield from _codex_trust(there.hooks_file, places)


def _found(host: Host, places: HostPlaces, *, elsewhere: bool) -> Iterator[Finding]:
    """An assistant nobody installed memhub into for the person; perhaps they wrote the entry themselves."""
    todo = f"memhub-mcp install {host.name}"
    try:
        there = registered(host, InstallScope.USER, places)
    except MemhubError as error:
        yield Finding(host.name, "warn", f"{host.title}: {error}", "correct the file")
        return
    if there.command:
        yield _server(host, InstallScope.USER, there, todo, own=True)
    elif there.plugin:
        yield Finding(host.name, "ok", f"{host.title}: it has memhub by the plugin {there.plugin}")
    elif not elsewhere:
        yield Finding(host.name, "ok", f"{host.title} is here; memhub is not in {there.file}", todo)


def _server(host: Host, scope: InstallScope, there: Registered, todo: str, *, own: bool) -> Finding:
    if not there.command:
        return Finding(host.name, "warn", f"{host.title}: memhub is no longer in {there.file}", todo)
    command = " ".join(there.command)
    if not is_memhub_server({"command": list(there.command)}):
        return Finding(
            host.name, "warn", f"{host.title}: memhub in {there.file} starts another program: {command}", todo
        )
    if not own:  # a file of the repository, which anyone may have written, is not run
        text = f"{host.title}: memhub in {there.file} was changed, so it was not started: {command}"
        return Finding(host.name, "warn", text, todo)
    why = _why_silent(there.command, tuple(there.env.items()))
    if why:
        text = f"{host.title}: `{command}`, written in {there.file}, does not answer: {why}"
        return Finding(host.name, "fail", text, todo)
    return Finding(host.name, "ok", f"{host.title}: registered in {there.file} ({scope}), its command answers")


def _hooks(host: Host, there: Registered, todo: str) -> Iterator[Finding]:
    if there.hooks_file is None:
        return
    if there.missing:
        missing = ", ".join(there.missing)
        yield Finding(host.name, "warn", f"{host.title}: {there.hooks_file} has no hook of memhub for {missing}", todo)
        return
    programs = {shlex.split(command)[0] for command in there.hooks.values()}
    gone = sorted(program for program in programs if Path(program).is_absolute() and not Path(program).exists())
    if gone:
        text = f"{host.title}: the hooks in {there.hooks_file} start {', '.join(gone)}, which is not there"
        yield Finding(host.name, "fail", text, todo)
    else:
        yield Finding(host.name, "ok", f"{host.title}: its hooks are in {there.hooks_file}")


def _codex_trust(hooks: Path, places: HostPlaces) -> Iterator[Finding]:
    """Codex says nothing about hooks it leaves out."""
    config = places.path("CODEX/config.toml")
    trusts = trust_of(hooks, config) if config else []
    todo = "in Codex type /hooks and trust the memhub hooks"
    if not trusts or all(trust is Trust.TRUSTED for trust in trusts):
        yield from [Finding("codex", "ok", "Codex: it trusts the hooks")] if trusts else []
    elif Trust.CHANGED in trusts:
        text = "Codex: hooks changed since you trusted them, and Codex leaves those out without a word"
        yield Finding("codex", "warn", text, todo)
    elif Trust.UNTRUSTED in trusts:
        text = "Codex: you have not trusted the hooks yet, and until then Codex leaves them out without a word"
        yield Finding("codex", "warn", text, todo)
    else:
        yield Finding("codex", "warn", "Codex: hooks of memhub are disabled", "in Codex type /hooks and enable them")


@cache
def _why_silent(command: tuple[str, ...], env: tuple[tuple[str, str], ...]) -> str | None:
    """Why the very command that is written does not answer as a server; None when it does."""
    hello = json.dumps(_HELLO) + "\n"
    try:
        with tempfile.TemporaryDirectory() as nowhere:
            ended = subprocess.run(
                command,
                input=hello.encode(),
                capture_output=True,
                timeout=_ANSWER_S,
                cwd=nowhere,
                env={**os.environ, **dict(env)},
                check=False,
            )
    except OSError as error:
        return error.strerror or str(error)
    except subprocess.TimeoutExpired:
        return f"nothing within {_ANSWER_S:.0f} s"
    try:
        answer = json.loads(ended.stdout.partition(b"\n")[0])
        return None if answer["result"]["serverInfo"]["name"] else "it answers without a name"
    except (ValueError, KeyError, TypeError):
        said = ended.stderr.decode("utf-8", "replace").strip().splitlines()
        return said[-1] if said else f"it ended with {ended.returncode}"
