"""Sessions in the very form in which Gemini CLI 0.61, Qwen Code 0.24 and OpenCode 1.18 leave them."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from transcript_lines import write_lines

from memhub_mcp.capture.transcripts.conversation import Conversation, Record, Tally, Utterance
from memhub_mcp.capture.transcripts.reading import read_transcript
from memhub_mcp.domain.revision import ChangeKind, EditEvent

TIME = "2026-11-30T06:37:{:02}.000Z"


def read(path: Path, tally: Tally) -> tuple[list[Conversation], list[Utterance], list[EditEvent]]:
    """The conversations, what was said, the edits."""
    records: list[Record] = list(read_transcript(path, tally))
    return (
        [record for record in records if isinstance(record, Conversation)],
        [record for record in records if isinstance(record, Utterance)],
        [record for record in records if isinstance(record, EditEvent)],
    )


def gemini_message(second: int, kind: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"id": f"m{second}", "timestamp": TIME.format(second), "type": kind, "content": content, **more}


def gemini_call(second: int, path: str, before: str, after: str, status: str = "success") -> dict[str, Any]:
    """A call of `replace` as a message holds it; a failed one shows a sentence."""
    shown = {"fileName": path, "originalContent": before, "newContent": after, "isNewFile": not before}
    answer = {"output": "Successfully modified file"} if status == "success" else {"error": "no such text"}
    return {
        "id": f"replace__{second}",
        "name": "replace",
        "args": {"file_path": path, "instruction": "…", "old_string": before.strip(), "new_string": after.strip()},
        "result": [{"functionResponse": {"id": f"replace__{second}", "name": "replace", "response": answer}}],
        "status": status,
        "timestamp": TIME.format(second),
        "resultDisplay": shown if status == "success" else "Error: no such text",
    }


def test_gemini_with_a_sub_agent_and_a_compression(tmp_path: Path) -> None:
    project = tmp_path / "tmp" / "project"
    header = {"sessionId": "g-1", "projectHash": "ab" * 32, "startTime": TIME.format(0), "kind": "main"}
    context = {"text": "<session_context>\nThis is the Gemini CLI.\n</session_context>"}
    told = "<hook_context>known:\n&lt;memhub-evidence&gt;\nx\n&lt;/memhub-evidence&gt;</hook_context>\n\n"
    done = gemini_message(2, "gemini", "Next.", toolCalls=[gemini_call(3, "app.py", "a = 1\n", "a = 2\n")])
    failed = gemini_message(5, "gemini", "Next.", toolCalls=[gemini_call(6, "app.py", "b", "c", "error")])
    compressed = [gemini_message(2, "user", [{"text": "<state_snapshot>so far</state_snapshot>"}])]
    mentioned = [{"text": told + "raise a, see @notes"}, {"text": "\n--- Content from referenced files ---"}]
    main = write_lines(
        project / "chats" / "session-2026-11-30T06-37-g1.jsonl",
        header,
        {"$set": {"messages": [gemini_message(1, "user", [context])], "lastUpdated": TIME.format(0)}},
        gemini_message(1, "user", mentioned, displayContent=[{"text": told + "raise a, see @notes"}]),
        {**done, "toolCalls": []},
        {"$set": {"lastUpdated": TIME.format(2)}},
        done,
        gemini_message(4, "user", [{"functionResponse": {"id": "replace__3", "name": "replace", "response": {}}}]),
        failed,
        {"$set": {"messages": compressed}},
        gemini_message(8, "user", [{"text": "now b"}]),
        gemini_message(9, "gemini", "Done."),
    )
    write_lines(
        project / "chats" / "g-1" / "0c1f.jsonl",
        {**header, "sessionId": "0c1f", "kind": "subagent", "directories": ["/w"]},
        gemini_message(6, "user", [{"text": "Look into app.py"}]),
        gemini_message(7, "gemini", "I did.", toolCalls=[gemini_call(7, "sub.py", "", "s = 1\n")]),
    )
    (project / ".project_root").write_text("/w")
    tally = Tally()
    (start,), said, edits = read(main, tally)
    assert (start.session, start.cwd) == ("g-1", "/w")
    assert [(one.speaker, one.text) for one in said] == [
        ("person", "raise a, see @notes"),
        ("assistant", "Next."),
        ("assistant", "Next."),
        ("person", "now b"),
        ("assistant", "Done."),
        ("agent", "I did."),
    ]
    assert [(edit.path, edit.session, edit.said, edit.content_after) for edit in edits] == [
        ("app.py", "g-1", "raise a, see @notes", "a = 2\n"),
        ("sub.py", "g-1", "raise a, see @notes", "s = 1\n"),
    ]
    assert (tally.failed, tally.damaged) == (1, 0)


def qwen_line(second: int, kind: str, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    common = {"uuid": f"u{second}", "sessionId": "q-1", "cwd": "/w", "version": "0.24.4", "gitBranch": "topic"}
    role = "model" if kind == "assistant" else "user"
    return {**common, "timestamp": TIME.format(second), "type": kind, "message": {"role": role, "parts": parts}, **more}


def qwen_call(call: str, name: str, **given: Any) -> dict[str, Any]:
    return {"functionCall": {"id": call, "name": name, "args": given}}


def qwen_answer(call: str, **response: Any) -> dict[str, Any]:
    return {"functionResponse": {"id": call, "name": "x", "response": response}}


def test_qwen_with_a_sub_agent(tmp_path: Path) -> None:
    shown = {"fileName": "app.py", "originalContent": "a = 1\n", "newContent": "a = 2\n"}
    new = {"file_path": "/w/new.py", "content": "n = 1\n"}
    main = write_lines(
        tmp_path / "chats" / "q-1.jsonl",
        qwen_line(1, "user", {"text": "raise a"}, provenance="real_user"),
        qwen_line(2, "assistant", {"text": "Next."}, qwen_call("c1", "edit", file_path="/w/app.py")),
        qwen_line(
            3,
            "tool_result",
            qwen_answer("c1", output="updated"),
            toolCallResult={"callId": "c1", "status": "success", "resultDisplay": shown},
        ),
        qwen_line(4, "assistant", qwen_call("c2", "agent", prompt="Write new.py")),
        qwen_line(9, "user", {"text": "<task-notification>done</task-notification>"}, provenance="system"),
    )
    agent = {"isSidechain": True, "agentId": "general-c2", "agentName": "general"}
    write_lines(
        tmp_path / "subagents" / "q-1" / "agent-general-c2.jsonl",
        qwen_line(4, "user", {"text": "Write new.py"}, **agent),
        qwen_line(5, "assistant", {"text": "Next."}, **agent),
        qwen_line(6, "assistant", qwen_call("c3", "write_file", **new), **agent),
        qwen_line(
            7,
            "tool_result",
            qwen_answer("c3", output="Successfully created and wrote to new file: /w/new.py."),
            toolCallResult={"callId": "c3", "durationMs": 9},
            **agent,
        ),
        qwen_line(8, "assistant", qwen_call("c4", "edit", file_path="/w/app.py"), **agent),
        qwen_line(8, "tool_result", qwen_answer("c4", error="0 occurrences"), toolCallResult={"callId": "c4"}, **agent),
    )
    tally = Tally()
    (start,), said, edits = read(main, tally)
    assert (start.session, start.cwd, start.branch) == ("q-1", "/w", "topic")
    assert [(one.speaker, one.text) for one in said] == [
        ("person", "raise a"),
        ("assistant", "Next."),
        ("agent", "Next."),
    ]
    assert [(edit.path, edit.kind, edit.said, edit.content_after) for edit in edits] == [
        ("/w/app.py", ChangeKind.MODIFY, "raise a", "a = 2\n"),
        ("/w/new.py", ChangeKind.ADD, "raise a", "n = 1\n"),
    ]
    assert tally.failed == 1


def opencode_tool(tool: str, call: str, about: dict[str, Any], **given: Any) -> dict[str, Any]:
    state = {"status": "completed", "input": given, "output": "done", "metadata": {"truncated": False, **about}}
    return {"type": "tool", "tool": tool, "callID": call, "state": state}


def opencode_read(path: str, text: str, *, truncated: bool = False) -> dict[str, Any]:
    shown = {"type": "file", "path": path, "text": text, "lineStart": 1, "truncated": truncated}
    return opencode_tool("read", f"read {path}", {"display": shown}, filePath=path)


def opencode_edit(call: str, path: str, old: str, new: str, diff: str) -> dict[str, Any]:
    about = {"diff": f"Index: {path}\n{'=' * 67}\n--- {path}\n+++ {path}\n{diff}", "filediff": {"file": path}}
    return opencode_tool("edit", call, about, filePath=path, oldString=old, newString=new)


def opencode_database(folder: Path, sessions: dict[str, tuple[str | None, list[tuple[str, list[Any]]]]]) -> Path:
    """A database with sessions: name → (parent, messages), a message a role and its parts."""
    path = folder / "opencode.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE session (id TEXT, parent_id TEXT, directory TEXT, time_created INTEGER)")
        db.execute("CREATE TABLE message (id TEXT, session_id TEXT, data TEXT, time_created INTEGER)")
        db.execute("CREATE TABLE part (id TEXT, message_id TEXT, data TEXT)")
        time = 1796020336000
        for session, (parent, messages) in sessions.items():
            time += 1000
            db.execute("INSERT INTO session VALUES (?, ?, '/w', ?)", (session, parent, time))
            for role, parts in messages:
                time += 1000
                key = f"msg_{time}"
                db.execute("INSERT INTO message VALUES (?, ?, ?, ?)", (key, session, json.dumps({"role": role}), time))
                for number, part in enumerate(parts):
                    db.execute("INSERT INTO part VALUES (?, ?, ?)", (f"{key}_{number}", key, json.dumps(part)))
        db.commit()
    return path


def test_opencode_tells_what_a_file_became(tmp_path: Path) -> None:
    work = [
        opencode_read("/w/app.py", "a = 1\nb = 1"),
        opencode_edit("c1", "/w/app.py", "a = 1", "a = 2", "@@ -1,2 +1,2 @@\n-a = 1\n+a = 2\n b = 1\n"),
        opencode_edit("c2", "/w/app.py", "b = 1", "b = 2", "@@ -1,2 +1,2 @@\n a = 2\n-b = 1\n+b = 2\n"),
        opencode_tool("write", "c3", {"exists": False}, filePath="/w/new.py", content="n = 1\n"),
        opencode_read("/w/notes", "one\ntwo"),
        opencode_tool("write", "c4", {"exists": True}, filePath="/w/notes", content="one\n2\n"),
        opencode_tool("bash", "c5", {"exit": 0}, command="fmt app.py"),
        opencode_edit("c6", "/w/app.py", "b = 2", "b = 3", "@@ -5,1 +5,1 @@\n-b = 2\n+b = 3\n"),
        opencode_read("/w/long", "first", truncated=True),
        opencode_edit("c7", "/w/long", "first", "1st", "@@ -1,1 +1,1 @@\n-first\n+1st\n"),
    ]
    path = opencode_database(
        tmp_path,
        {
            "o-1": (None, [("user", [{"type": "text", "text": '"raise a"'}]), ("assistant", work)]),
            "o-2": (
                "o-1",
                [
                    ("user", [{"type": "text", "text": "Look into app.py"}]),
                    ("assistant", [opencode_tool("write", "c8", {"exists": False}, filePath="/w/s.py", content="s\n")]),
                ],
            ),
        },
    )
    _, said, edits = read(path, Tally())
    assert [(one.speaker, one.text) for one in said] == [("person", "raise a")]
    assert {edit.said for edit in edits} == {"raise a"}
    became = {edit.tool_call: (edit.kind.value, edit.old_text, edit.content_after) for edit in edits}
    assert became == {
        "c1": ("modify", "a = 1\n", "a = 2\nb = 1\n"),
        "c2": ("modify", "b = 1\n", "a = 2\nb = 2\n"),
        "c3": ("add", "", "n = 1\n"),
        "c4": ("modify", "two\n", "one\n2\n"),
        "c6": ("modify", "b = 2\n", None),
        "c7": ("modify", "first\n", None),
        "c8": ("add", "", "s\n"),
    }


def test_opencode_file_without_a_last_line_end_is_not_guessed(tmp_path: Path) -> None:
    bare = "\\ No newline at end of file\n"
    work = [
        opencode_read("/w/app.py", "a = 1"),
        opencode_edit("c1", "/w/app.py", "a = 1", "a = 2", f"@@ -1,1 +1,1 @@\n-a = 1\n{bare}+a = 2\n{bare}"),
    ]
    path = opencode_database(
        tmp_path, {"o-1": (None, [("user", [{"type": "text", "text": "raise a"}]), ("assistant", work)])}
    )
    _, _, (edit,) = read(path, Tally())
    assert (edit.old_text, edit.new_text, edit.content_after) == ("a = 1", "a = 2", None)
