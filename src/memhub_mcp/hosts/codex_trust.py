"""Which of our hooks Codex runs: it leaves out, without a word, those the person did not trust in their present form.

What it trusts stands in its config.toml, by the place of each hook and a digest of what the hook says.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from memhub_mcp.errors import ConfigError
from memhub_mcp.hosts import json_text
from memhub_mcp.hosts.edits import Kind, Trace, is_our_hook
from memhub_mcp.hosts.installed import InstalledFile


class Trust(StrEnum):
    """What Codex does with a hook."""

    TRUSTED = "trusted"
    CHANGED = "changed"
    DISABLED = "disabled"
    UNTRUSTED = "untrusted"


def trust_of(hooks: Path, config: Path) -> list[Trust]:
    """Of each of our hooks in the file `hooks`, whether Codex, whose settings are in `config`, trusts it."""
    states = _states(config)
    return [_trust(states.get(f"{hooks}:{place}"), digest) for place, digest in our_hooks(hooks)]


def with_trust(files: Sequence[InstalledFile], config: Path) -> tuple[InstalledFile, ...]:
    """`files` of an installation with what Codex noted in `config` when the person trusted the hooks in them."""
    noted = _states(config)
    places = [f"{file.path}:{place}" for file in files for place, _ in our_hooks(file.path)]
    traces = tuple(Trace(Kind.TABLE, ("hooks", "state", place)) for place in places if place in noted)
    if not traces:
        return tuple(files)
    if all(file.path != config for file in files):
        return (*files, InstalledFile(config, traces))
    return tuple(replace(file, traces=(*file.traces, *traces)) if file.path == config else file for file in files)


def _trust(state: object, digest: str) -> Trust:
    facts = cast("dict[str, object]", state) if isinstance(state, dict) else {}
    if facts.get("enabled") is False:
        return Trust.DISABLED
    if "trusted_hash" not in facts:
        return Trust.UNTRUSTED
    return Trust.TRUSTED if facts["trusted_hash"] == digest else Trust.CHANGED


def _states(config: Path) -> Mapping[str, object]:
    try:
        states = tomllib.loads(config.read_text(encoding="utf-8"))["hooks"]["state"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return cast("dict[str, object]", states) if isinstance(states, dict) else {}


def our_hooks(hooks: Path) -> Iterator[tuple[str, str]]:
    """The place of each of our hooks, as Codex names it, and its digest."""
    if hooks.suffix != ".json":
        return
    try:
        listed = json_text.parse(hooks.read_text(encoding="utf-8")).value["hooks"]
    except (OSError, ValueError, ConfigError, KeyError, TypeError):
        return
    for name, groups in cast("dict[str, list[dict[str, Any]]]", listed).items():
        event = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
        for number, group in enumerate(groups):
            for place, hook in enumerate(cast("Sequence[dict[str, Any]]", group.get("hooks", ()))):
                if is_our_hook(hook):
                    yield f"{event}:{number}:{place}", _digest(event, group.get("matcher"), hook)


def _digest(event: str, matcher: object, hook: Mapping[str, Any]) -> str:
    """As Codex 0.171 makes it: of one hook alone in its group, with what it assumes where nothing is said."""
    facts: dict[str, object] = {"event_name": event, "hooks": [{"async": False, "timeout": 600, **hook}]}
    if matcher is not None:
        facts["matcher"] = matcher
    written = json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{sha256(written.encode()).hexdigest()}"
