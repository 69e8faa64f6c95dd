"""`memhub-mcp hook HOST EVENT`: an assistant reports an event and is never let down.

It prints the host's JSON or nothing, ends with 0 whatever happens, and imports the standard library only.
"""

import json
import os
import sys
import time
from contextlib import suppress
from typing import Any, cast

HOSTS = ("claude-code", "codex", "cursor", "gemini-cli", "qwen-code")
EVENTS = ("session-start", "prompt", "edit", "compact", "session-end")

USAGE = (
    f"usage: memhub-mcp hook HOST EVENT [--home DIR] < event.json\nHOST: {', '.join(HOSTS)}\nEVENT: {', '.join(EVENTS)}"
)

_LARGEST_EVENT = 32 << 20
_PIECE = 64 << 10
_LARGEST_LOG = 256 << 10


def run(words: list[str]) -> int:
    """0, always."""
    if "--help" in words or "-h" in words:
        print(USAGE)
        return 0
    home, names = home_and_names(words)
    try:
        host, event = parse(names)
        answer = _answer(host, event, home, _payload())
        if answer is not None:
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()
    except BaseException as error:  # noqa: BLE001 - the one catch-all: an assistant must not suffer from us
        _log(home, names, error)
    return 0


def parse(names: list[str]) -> tuple[str, str]:
    """Host and event.

    Raises:
        ValueError: the words are not a hook command.
    """
    if len(names) != 2 or names[0] not in HOSTS or names[1] not in EVENTS:
        raise ValueError(f"not a hook command: {' '.join(names)[:200]!r}")
    return names[0], names[1]


def home_and_names(words: list[str]) -> tuple[str, list[str]]:
    """The data directory, and the words that are no options."""
    home = default_home()
    names: list[str] = []
    rest = iter(words)
    for word in rest:
        if word in ("--home", "--workspace"):
            value = next(rest, "")
            home = value if word == "--home" and value else home
        elif word.startswith("--home="):
            home = word.removeprefix("--home=")
        elif not word.startswith("--workspace="):
            names.append(word)
    return os.path.expanduser(home), names


def default_home() -> str:
    """Where memories are kept when the command does not say; the environment is not asked."""
    places = {"win32": "~/AppData/Local/memhub", "darwin": "~/Library/Application Support/memhub"}
    return os.path.expanduser(places.get(sys.platform, "~/.local/share/memhub"))


def _payload() -> dict[str, Any]:
    """What the host reports. Its end of the pipe may stay open, in its own hands or in those of another child."""
    raw = bytearray()
    while piece := os.read(sys.stdin.fileno(), _PIECE):
        raw += piece
        if len(raw) > _LARGEST_EVENT:
            raise ValueError(f"an event of more than {_LARGEST_EVENT >> 20} MiB")
        if piece.rstrip().endswith(b"}"):
            with suppress(ValueError):  # it goes on
                return _object(json.loads(raw))
    return _object(json.loads(raw) if raw.strip() else {})


def _object(payload: object) -> dict[str, Any]:
    if not isinstance(payload, dict):
        raise ValueError("an event that is no object")
    return cast("dict[str, Any]", payload)


def _answer(host: str, event: str, home: str, payload: dict[str, Any]) -> dict[str, Any] | None:
    from memhub_mcp.hosts import hook_events

    # Cursor also runs the hooks of Claude Code.
    source = "cursor" if "cursor_version" in payload else host
    context = hook_events.react(source, event, home, payload)
    if source in ("cursor", "gemini-cli") and context is None:
        return {}
    if context is None:
        return None
    if source == "cursor":
        return {"additional_context": context}
    name = payload.get("hook_event_name")
    return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": context}}


def _log(home: str, names: list[str], error: BaseException) -> None:
    """One line in `logs/hook.log`: what and where, nothing of the event itself."""
    try:
        folder = os.path.join(home, "logs")
        os.makedirs(folder, mode=0o700, exist_ok=True)
        path = os.path.join(folder, "hook.log")
        if os.path.exists(path) and os.path.getsize(path) > _LARGEST_LOG:
            os.replace(path, path + ".old")
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        said = " ".join(str(error).split())[:200]
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "a", encoding="utf-8") as file:
            file.write(f"{moment} {' '.join(names[:2])}: {type(error).__name__}: {said}\n")
    except OSError:
        return  # a full disk: nothing can be written, and nothing may fail
