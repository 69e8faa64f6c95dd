"""A desk at which the real assistants work: a person's home, a repository, and nothing else of this machine."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from real_clients import CLAUDE, CODEX, NODE, PATIENCE_S

SCRIPT = Path(sys.executable).parent / "memhub-mcp"
NOWHERE = "http://127.0.0.1:9"

CODEX_CONFIG = """\
model = "gpt-5.5"  # a model to which Codex offers apply_patch
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"

[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
wire_api = "responses"

"""


@dataclass(frozen=True)
class Desk:
    """A person with a home and a repository of their own, and programs that see nothing else of this machine."""

    person: Path
    project: Path
    home: Path
    extra: Mapping[str, str] = field(default_factory=dict[str, str])

    def environ(self, **more: str) -> dict[str, str]:
        """What every program is given."""
        path = os.pathsep.join([str(CLAUDE), str(CODEX), str(NODE.parent), "/usr/bin", "/bin"])
        plain = {"HOME": str(self.person), "PATH": path, "TERM": "xterm", "LANG": "C.UTF-8"}
        return {**plain, **self.extra, **more}

    def run(self, *words: str | Path, check: bool = True, **more: str) -> str:
        """What a program prints."""
        done = subprocess.run(
            [str(word) for word in words],
            cwd=self.project,
            env=self.environ(**more),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert done.returncode == 0 or not check, done.stderr + done.stdout
        return done.stdout

    def memhub(self, *words: str, check: bool = True) -> str:
        """What memhub-mcp prints."""
        return self.run(SCRIPT, "--home", self.home, *words, check=check)

    def claude(self, *words: str, model: str = NOWHERE) -> str:
        """What Claude Code prints, with the model at this address."""
        return self.run(CLAUDE / "claude", *words, **_without_account(model))

    def codex(self, *words: str) -> str:
        """What Codex prints; its model stands in its configuration."""
        return self.run(CODEX / "codex", *words)

    @contextmanager
    def conversation(self, *words: str, model: str) -> Iterator["Conversation"]:
        """Claude Code, talked to request by request in one session."""
        command = [
            CLAUDE / "claude",
            "-p",
            "--verbose",
            "--input-format",
            "stream-json",
            "--output-format",
            "stream-json",
            *words,
        ]
        with self._process(*command, **_without_account(model)) as process:
            yield Conversation(process)

    @contextmanager
    def codex_server(self) -> Iterator["CodexServer"]:
        """Codex as editors use it: it tells what it has read and started."""
        with self._process(CODEX / "codex", "app-server") as process:
            server = CodexServer(process)
            server.ask("initialize", {"clientInfo": {"name": "editor", "title": "editor", "version": "1"}})
            yield server

    @contextmanager
    def memhub_server(self) -> Iterator[None]:
        """A server that another window keeps running, with its model loaded."""
        with self._process(SCRIPT, "--home", self.home, "serve") as process:
            client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
            _ask(process, 1, "initialize", client, jsonrpc="2.0")
            _ask(process, 2, "tools/call", {"name": "recall", "arguments": {"query": "what is loaded"}}, jsonrpc="2.0")
            yield

    @contextmanager
    def _process(self, *words: str | Path, **more: str) -> Iterator[subprocess.Popen[str]]:
        process = subprocess.Popen(
            [str(word) for word in words],
            cwd=self.project,
            env=self.environ(**more),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            yield process
        finally:
            try:
                _pipe(process.stdin).close()
                process.wait(PATIENCE_S)
            finally:
                process.kill()


@dataclass(frozen=True)
class Conversation:
    """One session of Claude Code."""

    process: subprocess.Popen[str]

    def say(self, request: str) -> None:
        """Ask for something, and wait until the turn has ended."""
        _write(self.process, {"type": "user", "message": {"role": "user", "content": request}})
        for line in _pipe(self.process.stdout):
            if json.loads(line)["type"] == "result":
                return
        raise AssertionError("Claude Code ended in the middle of a turn")


@dataclass
class CodexServer:
    """A running Codex."""

    process: subprocess.Popen[str]
    asked: int = 0

    def ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """The result of one request."""
        self.asked += 1
        return _ask(self.process, self.asked, method, params)

    def trust_in_hooks(self, project: Path) -> set[str]:
        """What it thinks of the hooks there: untrusted, trusted, modified."""
        return {hook["trustStatus"] for hook in self._hooks(project)}

    def trust_hooks(self, project: Path) -> None:
        """What /hooks does when the person trusts what is shown there."""
        state = {hook["key"]: {"trusted_hash": hook["currentHash"]} for hook in self._hooks(project)}
        edit = {"keyPath": "hooks.state", "value": state, "mergeStrategy": "upsert"}
        self.ask("config/batchWrite", {"edits": [edit]})

    def _hooks(self, project: Path) -> list[dict[str, Any]]:
        return self.ask("hooks/list", {"cwds": [str(project)]})["data"][0]["hooks"]


def use_model(config: Path, url: str) -> None:
    """Codex finds its model at this address; the rest of its configuration stays."""
    text = config.read_text(encoding="utf-8")
    _, mark, ours = text.partition('wire_api = "responses"\n\n')
    config.write_text(CODEX_CONFIG.format(url=url) + (ours if mark else text), encoding="utf-8")


def _without_account(model: str) -> dict[str, str]:
    quiet = {"DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
    return {**quiet, "ANTHROPIC_BASE_URL": model, "ANTHROPIC_API_KEY": "none-at-all"}


def _ask(process: subprocess.Popen[str], number: int, method: str, params: Any, **head: str) -> dict[str, Any]:
    _write(process, {**head, "id": number, "method": method, "params": params})
    for line in _pipe(process.stdout):
        answer = json.loads(line)
        if answer.get("id") == number and "method" not in answer:
            return answer["result"]
    raise AssertionError(f"it ended before it answered {method}")


def _write(process: subprocess.Popen[str], message: Mapping[str, Any]) -> None:
    pipe = _pipe(process.stdin)
    pipe.write(json.dumps(message) + "\n")
    pipe.flush()


def _pipe(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe
