"""What `doctor` looks at in the assistants memhub was installed into."""

import json
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

from memhub_mcp.cli.checks import Finding
from memhub_mcp.errors import MemhubError
from memhub_mcp.hosts.install import plan_uninstall
from memhub_mcp.hosts.installed import Installation, Installations
from memhub_mcp.hosts.records import host_named
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
    """Each installation: whether its files still have what was written, and its command answers."""
    try:
        installations = Installations.read(settings.home).known
    except MemhubError as error:
        yield Finding("assistants", "fail", str(error))
        return
    for installation in installations:
        yield from _check(installation)


def _check(installation: Installation) -> Iterator[Finding]:
    host = host_named(installation.host)
    title = host.title if host else installation.host
    again = f"memhub-mcp install {installation.host} --scope {installation.scope}"
    try:
        present = {change.path for change in plan_uninstall(installation.files).changes}
    except MemhubError as error:
        yield Finding(installation.host, "fail", str(error))
        return
    gone = [str(file.path) for file in installation.files if file.path not in present]
    if gone:
        yield Finding(installation.host, "warn", f"{title}: memhub is no longer in {', '.join(gone)}", again)
    why = _why_silent(installation.command)
    if why:
        command = " ".join(installation.command)
        yield Finding(installation.host, "fail", f"{title}: `{command}` does not answer: {why}", again)
    elif not gone:
        yield Finding(installation.host, "ok", f"{title}: installed ({installation.scope}), its command answers")
    for file in installation.files:
        if installation.host == "codex" and file.path.name == "hooks.json":
            yield _codex_trust(file.path)


def _codex_trust(hooks: Path) -> Finding:
    """Codex says nothing about hooks it leaves out; which it trusts stands in the config.toml beside them."""
    try:
        config = tomllib.loads((hooks.parent / "config.toml").read_text(encoding="utf-8"))
        trusted = [
            name for name, facts in config["hooks"]["state"].items() if str(hooks) in name and "trusted_hash" in facts
        ]
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        trusted = []
    if trusted:
        return Finding("codex", "ok", "Codex: its hooks are trusted")
    return Finding(
        "codex",
        "warn",
        "Codex runs hooks only after you trusted them, and says nothing about those it leaves out",
        "in Codex type /hooks and trust the memhub hooks, once",
    )


def _why_silent(command: tuple[str, ...]) -> str | None:
    """Why the very command that was written does not answer as a server; None when it does."""
    hello = json.dumps(_HELLO) + "\n"
    try:
        with tempfile.TemporaryDirectory() as nowhere:
            ended = subprocess.run(
                command,
                input=hello.encode(),
                capture_output=True,
                timeout=_ANSWER_S,
                cwd=nowhere,
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
