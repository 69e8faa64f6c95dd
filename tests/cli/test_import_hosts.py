"""Each assistant's own sessions are found where it keeps them, and only those of this repository are taken."""

import hashlib
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from git_repository import GitRepository
from tests.cli.conftest import Memhub
from transcript_lines import write_lines

pytestmark = pytest.mark.usefixtures("words_alone")

TIME = "2026-03-04T05:06:07.000Z"
PATCH = "*** Begin Patch\n*** Add File: new.py\n+one\n*** End Patch\n"


def codex(person: Path, folder: str) -> None:
    def line(kind: str, **payload: object) -> dict[str, object]:
        return {"timestamp": TIME, "type": kind, "payload": payload}

    name = folder.replace("/", "_")
    asked = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "write new.py"}]}
    write_lines(
        person / ".codex" / "sessions" / "2026" / "03" / "04" / f"rollout-{name}.jsonl",
        line("session_meta", id=name, timestamp=TIME, cwd=folder, git={"branch": "main"}),
        line("response_item", **asked),
        line("response_item", type="custom_tool_call", name="apply_patch", call_id=name, input=PATCH),
        line("response_item", type="custom_tool_call_output", call_id=name, output="Exit code: 0\nSuccess."),
    )


def gemini(person: Path, folder: str) -> None:
    digest = hashlib.sha256(folder.encode()).hexdigest()
    call = {"id": digest, "name": "write_file", "args": {"file_path": "new.py", "content": "one\n"}}
    messages = [
        {"id": "1", "timestamp": TIME, "type": "user", "content": "write new.py"},
        {"id": "2", "timestamp": TIME, "type": "gemini", "content": "", "toolCalls": [{**call, "status": "success"}]},
    ]
    document = {"sessionId": digest, "projectHash": digest, "startTime": TIME, "messages": messages}
    write_lines(person / ".gemini" / "tmp" / digest / "chats" / "session-1.json", document)


def cursor_agent(person: Path, folder: str) -> None:
    slug = folder.strip("/").replace("/", "-").replace("_", "-")
    given = {"file_path": f"{folder}/new.py", "contents": "one\n"}
    write_lines(
        person / ".cursor" / "projects" / slug / "agent-transcripts" / "a" / f"{slug}.jsonl",
        {"role": "user", "message": {"content": [{"type": "text", "text": "write new.py"}]}},
        {
            "role": "assistant",
            "message": {"content": [{"type": "tool_use", "id": slug, "name": "Write", "input": given}]},
        },
    )


def cursor(person: Path, folder: str) -> None:
    path = person / ".config" / "Cursor" / "User" / "globalStorage" / "state.vscdb"
    path.parent.mkdir(parents=True, exist_ok=True)
    name = folder.replace("/", "_")
    tool = {"name": "write", "status": "completed", "toolCallId": name}
    tool["rawArgs"] = json.dumps({"file_path": "new.py", "contents": "one\n"})
    rows = {
        f"composerData:{name}": {
            "composerId": name,
            "createdAt": 1772600767000,
            "workspaceIdentifier": {"uri": {"fsPath": folder}},
            "fullConversationHeadersOnly": [{"bubbleId": "b1", "type": 1}, {"bubbleId": "b2", "type": 2}],
        },
        f"bubbleId:{name}:b1": {"bubbleId": "b1", "type": 1, "text": "write new.py", "createdAt": TIME},
        f"bubbleId:{name}:b2": {"bubbleId": "b2", "type": 2, "text": "", "toolFormerData": tool},
    }
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE IF NOT EXISTS cursorDiskKV (key TEXT UNIQUE, value BLOB)")
        db.executemany("INSERT INTO cursorDiskKV VALUES (?, ?)", [(key, json.dumps(row)) for key, row in rows.items()])
        db.commit()


def opencode(person: Path, folder: str) -> None:
    path = person / ".local" / "share" / "opencode" / "opencode.db"
    path.parent.mkdir(parents=True, exist_ok=True)
    state = {"status": "completed", "input": {"filePath": f"{folder}/new.py", "content": "one\n"}}
    parts = {
        "user": {"type": "text", "text": "write new.py"},
        "assistant": {"type": "tool", "tool": "write", "callID": folder, "state": state},
    }
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE IF NOT EXISTS session (id TEXT, parent_id TEXT, directory TEXT, time_created INTEGER)")
        db.execute("CREATE TABLE IF NOT EXISTS message (id TEXT, session_id TEXT, data TEXT, time_created INTEGER)")
        db.execute("CREATE TABLE IF NOT EXISTS part (id TEXT, message_id TEXT, data TEXT)")
        db.execute("INSERT INTO session VALUES (?, NULL, ?, 1772600767000)", (folder, folder))
        for number, (role, part) in enumerate(parts.items()):
            key = f"{folder}{number}"
            db.execute("INSERT INTO message VALUES (?, ?, ?, ?)", (key, folder, json.dumps({"role": role}), number))
            db.execute("INSERT INTO part VALUES (?, ?, ?)", (key, key, json.dumps(part)))
        db.commit()


@pytest.mark.parametrize(
    ("host", "write"),
    [
        ("codex", codex),
        ("gemini", gemini),
        ("cursor", cursor_agent),
        ("cursor", cursor),
        ("opencode", opencode),
    ],
)
def test_its_sessions_in_this_repository_are_taken(
    memhub: Memhub,
    environment: dict[str, str],
    tmp_path: Path,
    host: str,
    write: Callable[[Path, str], None],
) -> None:
    repo = GitRepository.create(tmp_path / "shop")
    repo.commit("start", {"app.py": "a\n"})
    person = Path(environment["HOME"])
    write(person, "/srv/other")
    write(person, repo.root.as_posix())
    done = memhub("import", host, "--json", cwd=repo.root)
    assert done.stderr == ""
    reply = json.loads(done.stdout)
    assert (reply["sessions"], reply["edits"], reply["facts"], reply.get("outside")) == (1, 1, 1, None)
    again = json.loads(memhub("import", host, "--json", cwd=repo.root).stdout)
    assert (again["edits"], again["known"], again["facts"]) == (0, 1, 0)
    assert "write new.py" in memhub("history", "new.py", cwd=repo.root).stdout
