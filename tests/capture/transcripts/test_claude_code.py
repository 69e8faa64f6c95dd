"""A Claude Code session gives what was said and what was edited, and nothing that its harness wrote."""

from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st
from transcript_lines import Claude, write_lines

from memhub_mcp.capture.transcripts.conversation import Conversation, Record, Tally, Utterance
from memhub_mcp.capture.transcripts.reading import read_transcript, source_of
from memhub_mcp.domain.revision import ChangeKind, EditEvent


def read(path: Path, tally: Tally | None = None) -> list[Record]:
    return list(read_transcript(path, tally or Tally()))


def said(records: list[Record], speaker: str) -> list[str]:
    return [record.text for record in records if isinstance(record, Utterance) and record.speaker == speaker]


def edits(records: list[Record]) -> list[EditEvent]:
    return [record for record in records if isinstance(record, EditEvent)]


def test_an_edit_carries_its_request_its_session_and_its_place(tmp_path: Path) -> None:
    claude = Claude()
    path = write_lines(
        tmp_path / "s1.jsonl",
        {"type": "summary", "summary": "Old talk", "leafUuid": "x"},
        {"type": "queue-operation", "operation": "enqueue", "timestamp": "2026-03-04T05:06:00Z", "content": "later"},
        claude.person("Raise the timeout", promptId="p1"),
        claude.says("I will.", "m1"),
        *claude.edit("toolu_1", "/w/app.py", "a = 1\nb = 2\n", "b = 2", "b = 3"),
        claude.person("continue"),
        *claude.edit("toolu_2", "/w/app.py", "a = 1\nb = 3\n", "a = 1", "a = 9"),
        claude.says("Done.", "m2"),
    )
    assert source_of(path) == "claude-code"
    records = read(path)
    start = records[0]
    assert isinstance(start, Conversation)
    assert (start.source, start.session, start.cwd, start.branch) == ("claude-code", "s1", "/w", "main")
    assert said(records, "person") == ["Raise the timeout", "continue"]
    assert said(records, "assistant") == ["I will.", "Done."]
    first, second = edits(records)
    assert (first.tool, first.tool_call, first.turn, first.session) == ("Edit", "toolu_1", "p1", "s1")
    assert (first.path, first.cwd, first.branch, first.kind) == ("/w/app.py", "/w", "main", ChangeKind.MODIFY)
    assert (first.old_text, first.new_text, first.content_after) == ("b = 2\n", "b = 3\n", "a = 1\nb = 3\n")
    assert first.time.isoformat() == "2026-03-04T05:06:04+00:00"
    assert (first.said, second.said) == ("Raise the timeout", "Raise the timeout")


def test_a_message_in_several_lines_is_one_utterance(tmp_path: Path) -> None:
    claude = Claude()
    path = write_lines(
        tmp_path / "s.jsonl", claude.person("hi there"), claude.says("First.", "m"), claude.says("Then.", "m")
    )
    assert said(read(path), "assistant") == ["First.\n\nThen."]


def test_harness_text_is_never_the_persons(tmp_path: Path) -> None:
    claude = Claude()
    path = write_lines(
        tmp_path / "s.jsonl",
        claude.person("<local-command-caveat>Caveat</local-command-caveat>", isMeta=True),
        claude.person("Stop hook feedback: tests are missing", isMeta=True),
        claude.person("<command-name>/clear</command-name><command-args></command-args>"),
        claude.person("A summary of before", isCompactSummary=True, isVisibleInTranscriptOnly=True),
        claude.person("<task-notification>done</task-notification>"),
        claude.person("a background job ended", origin={"kind": "task-notification"}),
        claude.person([{"type": "text", "text": "[Request interrupted by user]"}]),
        claude.person([{"type": "text", "text": "<ide_selection>x</ide_selection>"}, {"type": "text", "text": "Why?"}]),
        claude.line("attachment", attachment={"type": "hook_additional_context", "content": ["digest"]}),
        claude.line("attachment", attachment={"type": "queued_command", "prompt": "Also the docs"}),
        claude.line("attachment", attachment={"type": "queued_command", "prompt": "x", "commandMode": "task"}),
        claude.line("system", subtype="stop_hook_summary", content="not said"),
    )
    assert said(read(path), "person") == ["Why?", "Also the docs"]


def test_failed_and_rejected_edits_are_counted_not_kept(tmp_path: Path) -> None:
    claude = Claude()
    given = {"file_path": "/w/a.py", "old_string": "x", "new_string": "y"}
    path = write_lines(
        tmp_path / "s.jsonl",
        claude.person("Fix it"),
        claude.calls("Edit", "c1", **given),
        claude.result("c1", "Error: String to replace not found in file.", failed=True),
        claude.calls("Edit", "c2", **given),
        claude.result("c2", "The user doesn't want to proceed with this tool use."),
        claude.calls("Bash", "c3", command="false"),
        claude.result("c3", "Error: Exit code 1", failed=True),
        claude.calls("mcp__notes__search", "c4", query="x"),
        claude.result("c4", '{"hits": []}'),
        claude.result("c9", {"filePath": "/w/unknown.py"}),
    )
    tally = Tally()
    assert edits(read(path, tally)) == []
    assert tally.failed == 1


def test_damaged_lines_are_counted_and_the_rest_is_read(tmp_path: Path) -> None:
    claude = Claude()
    tally = Tally()
    path = write_lines(
        tmp_path / "s.jsonl",
        claude.person("One request"),
        '{"type": "user", "message": {"role": "us',
        "[1, 2]",
        "",
        {"no": "type"},
        {"type": "api-request", "request": "the whole prompt again"},
        {"type": "api-request-blob", "request": {"messages": ["the whole prompt again"]}},
        claude.person("Another request"),
    )
    with path.open("ab") as file:
        file.write(b'\xff\xfe\x00\n{"type": "user", "cut')
    assert said(read(path, tally), "person") == ["One request", "Another request"]
    assert tally.damaged == 5
    assert tally.skipped == 2


def test_reading_twice_gives_the_same(tmp_path: Path) -> None:
    claude = Claude()
    path = write_lines(
        tmp_path / "s.jsonl", claude.person("Go"), *claude.edit("c1", "/w/a", "x\n", "x", "y"), claude.says("ok", "m")
    )
    assert read(path) == read(path)


def test_old_sidechains_are_agents_and_nobodys_request(tmp_path: Path) -> None:
    claude = Claude()
    path = write_lines(
        tmp_path / "s.jsonl",
        claude.person("Tidy the parser"),
        claude.person("You are a helper. Look for dead code.", isSidechain=True),
        claude.says("Found some.", "m1", isSidechain=True),
        *claude.edit("c1", "/w/a", "x\n", "x", "y"),
    )
    records = read(path)
    assert said(records, "person") == ["Tidy the parser"]
    assert said(records, "agent") == ["Found some."]
    assert edits(records)[0].said == "Tidy the parser"


def test_sub_agents_in_files_of_their_own_work_on_the_persons_request(tmp_path: Path) -> None:
    claude = Claude()
    first, task = claude.person("Split the module"), claude.calls("Task", "t1", prompt="split")
    agent = Claude(isSidechain=True, agentId="a1")
    agent._second = 2
    agent_lines = [agent.person("Split it in two"), *agent.edit("c1", "/w/a", "x\n", "x", "y"), agent.says("Done", "m")]
    claude._second = 20
    main = write_lines(tmp_path / "s1.jsonl", first, task, claude.person("Now rename it"))
    file = write_lines(tmp_path / "s1" / "subagents" / "agent-a1.jsonl", *agent_lines)
    for path in (main, file):
        records = read(path)
        assert sum(isinstance(record, Conversation) for record in records) == 1
        assert said(records, "agent") == ["Done"]
        assert [(edit.said, edit.session) for edit in edits(records)] == [("Split the module", "s1")]
    assert said(read(main), "person") == ["Split the module", "Now rename it"]


def test_secrets_and_our_own_evidence_do_not_come_along(tmp_path: Path) -> None:
    claude = Claude()
    key = "ghp_" + "a1b2" * 9
    evidence = "<memhub-evidence>\nremember this\n</memhub-evidence>"
    path = write_lines(
        tmp_path / "s.jsonl",
        claude.person(f"{evidence}\nUse {key}"),
        *claude.edit("c1", "/w/a.py", "k = 1\n", "1", f"'{key}'"),
        *claude.edit("c2", "/w/.env", "A=1\n", "1", "2"),
        claude.says(f"I used {key}", "m"),
    )
    records = read(path)
    assert key not in repr(records)
    assert "remember this" not in repr(records)
    assert edits(records)[1].new_text is None


def test_a_line_longer_than_any_message_is_passed_over(tmp_path: Path) -> None:
    claude = Claude()
    path = tmp_path / "s.jsonl"
    write_lines(path, claude.person("Before"))
    with path.open("ab") as file:
        file.write(b'{"type": "user", "image": "')
        for _ in range(33):
            file.write(b"x" * (1 << 20))
        file.write(b'"}\n')
    with path.open("a", encoding="utf-8") as file:
        file.write(write_lines(tmp_path / "more.jsonl", claude.person("After it")).read_text(encoding="utf-8"))
    tally = Tally()
    assert said(read(path, tally), "person") == ["Before", "After it"]
    assert tally.damaged == 1


def test_a_message_that_no_model_wrote_is_not_the_assistants_word(tmp_path: Path) -> None:
    claude = Claude()
    notice = claude.says("No response requested.", "m2")
    notice["message"]["model"] = "<synthetic>"
    path = write_lines(tmp_path / "s1.jsonl", claude.person("two"), claude.says("Done.", "m1"), notice)
    assert said(read(path), "assistant") == ["Done."]


@given(st.integers(0, 2**32))
def test_fields_of_any_type_break_no_reader(seed: int) -> None:
    """A log is written by a program we do not know: what does not fit is passed over."""
    random = Random(seed)
    claude = Claude()
    lines = [
        claude.person("two", promptId="p1"),
        claude.says("I will.", "m1"),
        *claude.edit("c1", "/w/app.py", "1\n", "1", "2"),
        claude.line("attachment", attachment={"type": "queued_command", "prompt": "three", "commandMode": "prompt"}),
    ]
    with TemporaryDirectory() as folder:
        path = write_lines(
            Path(folder) / "s1.jsonl", *(fields for line in lines if isinstance(fields := _shaken(line, random), dict))
        )
        for source in ("claude-code", "codex", "gemini-cli", "qwen-code", "cursor"):
            list(read_transcript(path, Tally(), source=source))
        source_of(path)


_ODD = (
    None,
    True,
    -1,
    10**400,
    1e300,
    "",
    "\ud800",
    "a\0b",
    [],
    {},
    [None],
    [[]],
    {"type": 5},
    "0001-01-01T00:00:00+23:59",
)


def _shaken(value: Any, random: Random) -> Any:
    if random.random() < 0.05:
        return random.choice(_ODD)
    if isinstance(value, dict):
        return {key: _shaken(inner, random) for key, inner in cast("dict[str, Any]", value).items()}
    return [_shaken(inner, random) for inner in cast("list[Any]", value)] if isinstance(value, list) else value
