"""Sessions of Codex, Gemini, Qwen, Cursor and OpenCode give the same records as any other."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from transcript_lines import write_lines

from memhub_mcp.capture.transcripts.conversation import Conversation, Record, Tally, Utterance
from memhub_mcp.capture.transcripts.reading import read_transcript, source_of
from memhub_mcp.domain.revision import ChangeKind, EditEvent
from memhub_mcp.errors import InvalidInput

TIME = "2026-03-04T05:06:07.000Z"
PATCH = "*** Begin Patch\n*** Add File: new.py\n+one\n*** Update File: app.py\n@@\n-a = 1\n+a = 2\n*** End Patch\n"


def read(path: Path, tally: Tally | None = None) -> list[Record]:
    return list(read_transcript(path, tally or Tally()))


def conversation(records: list[Record]) -> Conversation:
    found = [record for record in records if isinstance(record, Conversation)]
    assert found == [records[0]]
    return found[0]


def said(records: list[Record], speaker: str) -> list[str]:
    return [record.text for record in records if isinstance(record, Utterance) and record.speaker == speaker]


def edits(records: list[Record]) -> list[EditEvent]:
    return [record for record in records if isinstance(record, EditEvent)]


def codex(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": TIME, "type": kind, "payload": payload}


def message(role: str, text: str, kind: str = "input_text") -> dict[str, Any]:
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


META = {"id": "cx1", "timestamp": TIME, "cwd": "/w", "source": "exec", "git": {"branch": "topic"}}


def test_codex_rollout(tmp_path: Path) -> None:
    diff = "@@ -8,1 +8,1 @@\n-a = 1\n+a = 2\n"
    changes = {"/w/app.py": {"type": "update", "unified_diff": diff, "move_path": None}}
    path = write_lines(
        tmp_path / "rollout.jsonl",
        codex("session_meta", **META),
        codex("response_item", **message("developer", "<permissions instructions>none</permissions instructions>")),
        codex("response_item", **message("user", "<environment_context>\n<cwd>/w</cwd>\n</environment_context>")),
        codex("turn_context", turn_id="t1", cwd="/w"),
        codex("response_item", **message("user", "Set a to two")),
        codex("event_msg", type="user_message", message="Set a to two"),
        codex("response_item", type="reasoning", summary=[{"type": "summary_text", "text": "thinking"}]),
        codex("response_item", **message("assistant", "I set it.", "output_text")),
        codex("event_msg", type="agent_message", message="I set it."),
        codex("response_item", type="custom_tool_call", name="apply_patch", call_id="c1", input=PATCH),
        codex("event_msg", type="patch_apply_end", call_id="c1", success=True, changes=changes),
        codex("response_item", type="custom_tool_call_output", call_id="c1", output="Exit code: 0\nSuccess."),
        codex("compacted", message="a summary", replacement_history=[message("user", "Set a to two")]),
    )
    assert source_of(path) == "codex"
    records = read(path)
    start = conversation(records)
    assert (start.source, start.session, start.cwd, start.branch) == ("codex", "cx1", "/w", "topic")
    assert said(records, "person") == ["Set a to two"]
    assert said(records, "assistant") == ["I set it."]
    added, updated = edits(records)
    assert (added.kind, added.path, added.ordinal) == (ChangeKind.ADD, "new.py", 0)
    assert (updated.path, updated.ordinal, updated.said) == ("app.py", 1, "Set a to two")
    assert [hunk.old_start for hunk in updated.hunks] == [8]
    assert (updated.tool_call, updated.turn, updated.branch) == ("c1", "t1", "topic")


@pytest.mark.parametrize(
    "output",
    [
        "Exit code: 1\nWall time: 0 seconds\nOutput:\nfailed",
        "apply_patch verification failed: invalid hunk",
        "patch rejected by user",
        "unsupported custom tool call: apply_patch",
        '{"output": "no", "metadata": {"exit_code": 1}}',
        {"content": "no", "success": False},
    ],
)
def test_codex_patches_that_failed_are_left_out(tmp_path: Path, output: object) -> None:
    path = write_lines(
        tmp_path / "rollout.jsonl",
        codex("session_meta", **META),
        codex("response_item", type="custom_tool_call", name="apply_patch", call_id="c1", input=PATCH),
        codex("response_item", type="custom_tool_call_output", call_id="c1", output=output),
    )
    tally = Tally()
    assert edits(read(path, tally)) == []
    assert tally.failed == 1


def test_old_codex_rollout_without_envelope(tmp_path: Path) -> None:
    command = json.dumps({"command": ["bash", "-lc", f"apply_patch <<'EOF'\n{PATCH}EOF"]})
    path = write_lines(
        tmp_path / "rollout.jsonl",
        {"id": "old1", "timestamp": TIME, "instructions": None, "git": {"branch": "main"}},
        message("user", "Set a to two"),
        {"type": "function_call", "name": "shell", "call_id": "c1", "arguments": command},
        {"type": "function_call_output", "call_id": "c1", "output": '{"output": "ok", "metadata": {"exit_code": 0}}'},
        {"record_type": "state"},
    )
    assert source_of(path) == "codex"
    records = read(path)
    assert conversation(records).session == "old1"
    assert said(records, "person") == ["Set a to two"]
    assert [edit.path for edit in edits(records)] == ["new.py", "app.py"]


def test_what_a_codex_sub_agent_is_told_is_nobodys_request(tmp_path: Path) -> None:
    source = {"subagent": {"thread_spawn": {"parent_thread_id": "cx0", "depth": 1}}}
    path = write_lines(
        tmp_path / "rollout.jsonl",
        codex("session_meta", **{**META, "source": source}),
        codex("response_item", **message("user", "Look into the parser")),
        codex("response_item", **message("assistant", "Looked.", "output_text")),
    )
    records = read(path)
    assert conversation(records).parent == "cx0"
    assert said(records, "person") == []
    assert said(records, "agent") == ["Looked."]


def test_codex_text_that_the_harness_marked_as_its_own(tmp_path: Path) -> None:
    about = {"internal_chat_message_metadata_passthrough": {"content_item_kinds": ["environments.note"]}}
    path = write_lines(
        tmp_path / "rollout.jsonl",
        codex("session_meta", **META),
        codex("response_item", **message("user", "Remember the house rules"), **about),
    )
    assert said(read(path), "person") == []


GEMINI_CALL = {
    "id": "replace-1",
    "name": "replace",
    "args": {"file_path": "app.py", "old_string": "a = 1", "new_string": "a = 2"},
    "status": "success",
    "timestamp": TIME,
    "result": [{"functionResponse": {"id": "replace-1", "name": "replace", "response": {"output": "done"}}}],
    "resultDisplay": {"fileName": "app.py", "fileDiff": "…", "originalContent": "a = 1\n", "newContent": "a = 2\n"},
}
GEMINI = [
    {"id": "1", "timestamp": TIME, "type": "user", "content": "Set a to two"},
    {"id": "2", "timestamp": TIME, "type": "gemini", "content": "I set it.", "toolCalls": [GEMINI_CALL]},
    {"id": "3", "timestamp": TIME, "type": "info", "content": "An update is available"},
    {"id": "4", "timestamp": TIME, "type": "user", "content": [{"text": "Thanks, now b"}]},
    {"id": "5", "timestamp": TIME, "type": "gemini", "content": "", "toolCalls": [{**GEMINI_CALL, "status": "error"}]},
]
GEMINI_HEADER = {"sessionId": "g1", "projectHash": "ab" * 32, "startTime": TIME, "kind": "main"}


@pytest.mark.parametrize("form", ["document", "document over many lines", "lines"])
def test_gemini_session(tmp_path: Path, form: str) -> None:
    if form != "lines":
        path = tmp_path / ("session-1.json" if form == "document" else "full.jsonl")
        indent = None if form == "document" else 2
        path.write_text(json.dumps({**GEMINI_HEADER, "messages": GEMINI}, indent=indent), encoding="utf-8")
    else:
        running = {**GEMINI[1], "toolCalls": [{**GEMINI_CALL, "status": "executing"}]}
        set_ = {"$set": {"lastUpdated": TIME}}
        lines = [GEMINI_HEADER, GEMINI[0], running, set_, GEMINI[1], *GEMINI[2:], {"$rewindTo": "4"}]
        path = write_lines(tmp_path / "chats" / "session-1.jsonl", *lines)
        (tmp_path / ".project_root").write_text("/w\n", encoding="utf-8")
    assert source_of(path) == "gemini-cli"
    tally = Tally()
    records = read(path, tally)
    start = conversation(records)
    assert (start.session, start.project_hash) == ("g1", "ab" * 32)
    assert start.cwd == ("/w" if form == "lines" else None)
    assert said(records, "person") == ["Set a to two", "Thanks, now b"]
    assert said(records, "assistant") == ["I set it."]
    (edit,) = edits(records)
    assert (edit.source, edit.path, edit.new_text, edit.said) == ("gemini-cli", "app.py", "a = 2\n", "Set a to two")
    assert tally.failed == 1


def test_qwen_session(tmp_path: Path) -> None:
    def line(kind: str, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
        common = {
            "uuid": "u",
            "parentUuid": None,
            "sessionId": "q1",
            "timestamp": TIME,
            "cwd": "/w",
            "gitBranch": "dev",
        }
        return {**common, "type": kind, "message": {"role": kind, "parts": list(parts)}, **more}

    shown = {"fileName": "a", "fileDiff": "…", "originalContent": "a = 1\n", "newContent": "a = 2\n"}
    call = {"functionCall": {"id": "c1", "name": "edit", "args": {"file_path": "/w/app.py"}}}
    path = write_lines(
        tmp_path / "q1.jsonl",
        line(
            "user", {"text": "Set a to two"}, {"text": "\nfile content of @a"}, systemPayload={"displayText": "Set a"}
        ),
        line("user", {"text": "a task ended"}, subtype="notification"),
        line("assistant", {"text": "hidden", "thought": True}, {"text": "I set it."}, call),
        line(
            "tool_result",
            {"functionResponse": {"id": "c1", "name": "edit", "response": {"output": "ok"}}},
            toolCallResult={"callId": "c1", "status": "success", "resultDisplay": shown},
        ),
        line("system", subtype="ui_telemetry"),
    )
    assert source_of(path) == "qwen-code"
    records = read(path)
    assert conversation(records).branch == "dev"
    assert said(records, "person") == ["Set a"]
    assert said(records, "assistant") == ["I set it."]
    assert [(edit.path, edit.new_text, edit.said) for edit in edits(records)] == [("/w/app.py", "a = 2\n", "Set a")]


def cursor_database(path: Path) -> None:
    tool = {
        "name": "search_replace",
        "status": "completed",
        "toolCallId": "tc1",
        "params": json.dumps({"relativeWorkspacePath": "src/a.ts"}),
        "rawArgs": json.dumps({"file_path": "src/a.ts", "old_string": "1", "new_string": "2"}),
        "result": json.dumps({"diff": {"chunks": [{"diffString": "-a=1\n+a=2", "oldStart": 4, "newStart": 4}]}}),
    }
    bubbles = [
        {"bubbleId": "b1", "type": 1, "text": "Set a to two", "createdAt": TIME},
        {"bubbleId": "b2", "type": 2, "text": "I set it.", "timingInfo": {"clientStartTime": 1772600767000.5}},
        {"bubbleId": "b3", "type": 2, "text": "", "toolFormerData": tool},
        {"bubbleId": "b4", "type": 2, "text": "", "toolFormerData": {**tool, "status": "cancelled"}},
    ]
    headers = [{"bubbleId": bubble["bubbleId"], "type": bubble["type"]} for bubble in bubbles]
    folder = {"uri": {"fsPath": "/w"}}
    rows = {
        "composerData:k1": {"composerId": "k1", "createdAt": 1772600767000, "workspaceIdentifier": folder}
        | {"fullConversationHeadersOnly": [*headers, {"bubbleId": "lost", "type": 2}]},
        "composerData:draft": {"composerId": "draft", "fullConversationHeadersOnly": []},
        **{f"bubbleId:k1:{bubble['bubbleId']}": bubble for bubble in bubbles},
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE cursorDiskKV (key TEXT UNIQUE, value BLOB)")
        db.executemany("INSERT INTO cursorDiskKV VALUES (?, ?)", [(key, json.dumps(row)) for key, row in rows.items()])
        db.execute("INSERT INTO cursorDiskKV VALUES ('composerData:broken', '{')")
        db.commit()


def test_cursor_conversations_in_the_editors_database(tmp_path: Path) -> None:
    path = tmp_path / "User" / "globalStorage" / "state.vscdb"
    cursor_database(path)
    before = path.read_bytes()
    assert source_of(path) == "cursor"
    tally = Tally()
    records = read(path, tally)
    start = conversation(records)
    assert (start.session, start.cwd) == ("k1", "/w")
    assert said(records, "person") == ["Set a to two"]
    assert said(records, "assistant") == ["I set it."]
    (edit,) = edits(records)
    assert (edit.path, edit.new_text, edit.tool_call, edit.said) == ("src/a.ts", "a=2\n", "tc1", "Set a to two")
    assert (tally.failed, tally.damaged) == (1, 2)
    assert path.read_bytes() == before


def test_cursor_windows_remember_the_folder_of_a_conversation(tmp_path: Path) -> None:
    path = tmp_path / "User" / "globalStorage" / "state.vscdb"
    cursor_database(path)
    with closing(sqlite3.connect(path)) as db:
        old = {"composerId": "k2", "createdAt": 1772600767000, "conversation": [{"type": 1, "text": "Hello old one"}]}
        db.execute("DELETE FROM cursorDiskKV")
        db.execute("INSERT INTO cursorDiskKV VALUES ('composerData:k2', ?)", (json.dumps(old),))
        db.commit()
    window = tmp_path / "User" / "workspaceStorage" / "x1"
    window.mkdir(parents=True)
    (window / "workspace.json").write_text('{"folder": "file:///home/me/my%20app"}', encoding="utf-8")
    with closing(sqlite3.connect(window / "state.vscdb")) as db:
        db.execute("CREATE TABLE ItemTable (key TEXT UNIQUE, value BLOB)")
        value = json.dumps({"allComposers": [{"composerId": "k2"}]})
        db.execute("INSERT INTO ItemTable VALUES ('composer.composerData', ?)", (value,))
        db.commit()
    records = read(path)
    assert conversation(records).cwd == "/home/me/my app"
    assert said(records, "person") == ["Hello old one"]


def test_cursor_agent_transcript(tmp_path: Path) -> None:
    def line(role: str, *content: dict[str, Any]) -> dict[str, Any]:
        return {"role": role, "message": {"content": list(content)}}

    given = {"file_path": "/w/a", "old_string": "1", "new_string": "2"}
    path = write_lines(
        tmp_path / "agent-transcripts" / "ag1.jsonl",
        line("user", {"type": "text", "text": "<user_info>\nx\n</user_info>\n<user_query>\nSet a\n</user_query>"}),
        line(
            "assistant",
            {"type": "thinking", "text": "hm"},
            {"type": "text", "text": "I will."},
            {"type": "tool_use", "id": "c1", "name": "StrReplace", "input": given},
            {"type": "tool_use", "id": "c2", "name": "search_replace", "input": given},
            {"type": "tool_use", "id": "c3", "name": "search_replace", "input": given},
        ),
        line("user", {"type": "tool_result", "tool_use_id": "c3", "content": "no", "is_error": True}),
        line("assistant", {"type": "text", "text": "Done."}),
    )
    assert source_of(path) == "cursor"
    records = read(path)
    assert conversation(records).session == "ag1"
    assert said(records, "person") == ["Set a"]
    assert said(records, "assistant") == ["I will.", "Done."]
    assert [(edit.tool_call, edit.said) for edit in edits(records)] == [("c1", "Set a"), ("c2", "Set a")]


PARTS = [
    ("m1", {"type": "text", "text": "Set a to two"}),
    ("m1", {"type": "text", "text": "file content", "synthetic": True}),
    ("m2", {"type": "reasoning", "text": "hm"}),
    ("m2", {"type": "text", "text": "I set it."}),
    (
        "m2",
        {
            "type": "tool",
            "tool": "edit",
            "callID": "c1",
            "state": {
                "status": "completed",
                "input": {"filePath": "/w/a", "oldString": "a = 1", "newString": "a = 2"},
                "metadata": {"diff": "@@ -3,1 +3,1 @@\n-a = 1\n+a = 2\n"},
                "time": {"start": 1772600767000, "end": 1772600768000},
            },
        },
    ),
    ("m2", {"type": "tool", "tool": "write", "callID": "c2", "state": {"status": "error", "input": {}}}),
]
ROLES = {"m1": "user", "m2": "assistant"}


def opencode_database(folder: Path) -> Path:
    path = folder / "opencode.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE session (id TEXT, parent_id TEXT, directory TEXT, time_created INTEGER)")
        db.execute("CREATE TABLE message (id TEXT, session_id TEXT, data TEXT, time_created INTEGER)")
        db.execute("CREATE TABLE part (id TEXT, message_id TEXT, data TEXT)")
        db.execute("INSERT INTO session VALUES ('o1', NULL, '/w', 1772600767000)")
        for number, (key, role) in enumerate(ROLES.items()):
            data = json.dumps({"role": role, "time": {"created": 1772600767000 + number}})
            db.execute("INSERT INTO message VALUES (?, 'o1', ?, ?)", (key, data, 1772600767000 + number))
        for number, (key, part) in enumerate(PARTS):
            db.execute("INSERT INTO part VALUES (?, ?, ?)", (f"p{number}", key, json.dumps(part)))
        db.commit()
    return path


def opencode_storage(folder: Path) -> Path:
    def write(*names: str, content: object) -> None:
        file = folder.joinpath("storage", *names)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(content), encoding="utf-8")

    session = {"id": "o1", "directory": "/w", "time": {"created": 1772600767000}}
    write("session", "proj", "o1.json", content=session)
    for key, role in ROLES.items():
        write("message", "o1", f"{key}.json", content={"id": key, "role": role})
    for number, (key, part) in enumerate(PARTS):
        write("part", key, f"p{number}.json", content=part)
    return folder / "storage"


@pytest.mark.parametrize("made", [opencode_database, opencode_storage])
def test_opencode_sessions(tmp_path: Path, made: Any) -> None:
    path = made(tmp_path)
    assert source_of(path) == "opencode"
    tally = Tally()
    records = read(path, tally)
    start = conversation(records)
    assert (start.session, start.cwd, start.parent) == ("o1", "/w", None)
    assert said(records, "person") == ["Set a to two"]
    assert said(records, "assistant") == ["I set it."]
    (edit,) = edits(records)
    assert (edit.tool_call, edit.hunks[0].old_start, edit.said) == ("c1", 3, "Set a to two")
    assert tally.failed == 1


@pytest.mark.parametrize("content", ["", "not json\n", '{"some": "thing"}\n', "[]"])
@pytest.mark.parametrize("name", ["x.jsonl", "x.json", "x.txt"])
def test_what_is_no_transcript_is_refused(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    assert source_of(path) is None
    with pytest.raises(InvalidInput, match="no transcript"):
        read(path)
