"""What each assistant reports about an edit, in the shape it reports it."""

import json

import pytest

from memhub_mcp.capture.changes import Change
from memhub_mcp.capture.edits import changes_of, is_edit_tool

APP = "def greet(name):\n    return name\n\n\ndef part():\n    pass\n"
GREETED = APP.replace("return name", 'return f"hi {name}"')


def only(changes: list[Change]) -> Change:
    assert len(changes) == 1
    return changes[0]


def facts(change: Change) -> tuple[str, str, tuple[tuple[int, int, int, int], ...], str | None, str | None]:
    return change.kind, change.path, change.hunks, change.old_text, change.new_text


GREETING = ("modify", "/w/app.py", ((2, 1, 2, 1),), "    return name\n", '    return f"hi {name}"\n')
CLAUDE_EDIT = {"file_path": "/w/app.py", "old_string": "return name", "new_string": 'return f"hi {name}"'}
CLAUDE_RESULT = {
    "filePath": "/w/app.py",
    "oldString": "return name",
    "newString": 'return f"hi {name}"',
    "originalFile": APP,
    "replaceAll": False,
    "userModified": False,
    "structuredPatch": [
        {
            "oldStart": 1,
            "oldLines": 4,
            "newStart": 1,
            "newLines": 4,
            "lines": [" def greet(name):", "-    return name", '+    return f"hi {name}"', " ", " "],
        }
    ],
}


def test_claude_edit() -> None:
    change = only(changes_of("Edit", CLAUDE_EDIT, CLAUDE_RESULT))
    assert facts(change) == GREETING
    assert (change.before, change.after) == (APP, GREETED)


def test_claude_edit_of_a_file_too_large_to_be_repeated() -> None:
    change = only(changes_of("Edit", CLAUDE_EDIT, {**CLAUDE_RESULT, "originalFile": None}))
    assert facts(change) == GREETING


def test_claude_edit_that_the_person_changed_before_accepting() -> None:
    accepted = {**CLAUDE_RESULT, "newString": "return str(name)", "userModified": True}
    assert only(changes_of("Edit", CLAUDE_EDIT, accepted)).new_text == "    return str(name)\n"


def test_claude_edit_at_every_place() -> None:
    given = {"file_path": "a", "old_string": "x", "new_string": "y", "replace_all": True}
    change = only(changes_of("Edit", given, {"originalFile": "x\nk\nx\n", "replaceAll": True}))
    assert change.hunks == ((1, 1, 1, 1), (3, 1, 3, 1))
    assert (change.old_text, change.new_text) == ("x\nx\n", "y\ny\n")


def test_claude_multi_edit_is_one_change() -> None:
    edits = [
        {"old_string": "return name", "new_string": "return name.title()"},
        {"old_string": "title()", "new_string": "upper()"},
        {"old_string": "    pass", "new_string": "    return 1"},
    ]
    change = only(changes_of("MultiEdit", {"file_path": "a", "edits": edits}, {"originalFileContents": APP}))
    assert change.hunks == ((2, 1, 2, 1), (6, 1, 6, 1))
    assert change.new_text == "    return name.upper()\n    return 1\n"


def test_claude_write_of_a_new_file() -> None:
    result = {"type": "create", "filePath": "/w/n.py", "content": "a\nb\n", "structuredPatch": [], "originalFile": None}
    change = only(changes_of("Write", {"file_path": "/w/n.py", "content": "a\nb\n"}, result))
    assert facts(change) == ("add", "/w/n.py", ((0, 0, 1, 2),), "", "a\nb\n")


def test_claude_write_over_a_file() -> None:
    result = {"type": "update", "filePath": "/w/app.py", "content": GREETED, "originalFile": APP, "structuredPatch": []}
    assert facts(only(changes_of("Write", {"file_path": "/w/app.py", "content": GREETED}, result))) == GREETING


def test_a_write_that_says_nothing_of_the_file_before() -> None:
    change = only(changes_of("Write", {"file_path": "a", "content": "x\n"}))
    assert (change.hunks, change.old_text, change.new_text, change.after) == ((), None, "x\n", "x\n")


def test_claude_notebook_edit() -> None:
    given = {"notebook_path": "n.ipynb", "cell_id": "c1", "new_source": "print(2)", "edit_mode": "replace"}
    before = '{\n "cells": [\n  "print(1)"\n ]\n}\n'
    after = before.replace("print(1)", "print(2)")
    change = only(changes_of("NotebookEdit", given, {"original_file": before, "updated_file": after}))
    assert (change.path, change.hunks) == ("n.ipynb", ((3, 1, 3, 1),))
    assert only(changes_of("NotebookEdit", given)).new_text == "print(2)"


@pytest.mark.parametrize(
    "result",
    [
        "Error: String to replace not found in file.",
        "The user doesn't want to proceed with this tool use.",
        {"error": "no such file"},
        {"success": False},
        {"status": "cancelled"},
        {"applyFailed": True},
        {"is_error": True},
    ],
)
def test_failed_and_rejected_edits_are_left_out(result: object) -> None:
    assert changes_of("Edit", CLAUDE_EDIT, result) == []


def test_an_edit_that_changes_nothing_is_none() -> None:
    assert changes_of("Edit", {**CLAUDE_EDIT, "new_string": "return name"}, {"originalFile": APP}) == []


PATCH = """\
*** Begin Patch
*** Add File: new.py
+one
+two
*** Update File: app.py
@@ def greet(name):
-    return name
+    return f"hi {name}"
@@
 def part():
-    pass
+    return 1
*** Delete File: old.py
*** Update File: from.py
*** Move to: to.py
@@
-import a
+import b
*** End Patch
"""


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("apply_patch", PATCH),
        ("apply_patch", {"input": PATCH}),
        ("apply_patch", {"command": PATCH}),
        ("shell", {"command": ["bash", "-lc", f"cd src && apply_patch <<'EOF'\n{PATCH}EOF\n"]}),
        ("exec_command", {"cmd": f"apply_patch <<'PATCH'\n{PATCH}PATCH"}),
        ("local_shell", {"type": "exec", "command": ["apply_patch", PATCH]}),
    ],
)
def test_codex_patch(tool: str, given: object) -> None:
    after = {"app.py": GREETED.replace("pass", "return 1"), "to.py": "import b\n", "new.py": "one\ntwo\n"}
    changes = changes_of(tool, given, {}, after.get)
    assert [(change.kind, change.path, change.old_path) for change in changes] == [
        ("add", "new.py", None),
        ("modify", "app.py", None),
        ("delete", "old.py", None),
        ("rename", "to.py", "from.py"),
    ]
    assert changes[1].hunks == ((2, 1, 2, 1), (6, 1, 6, 1))
    assert changes[1].new_text == '    return f"hi {name}"\n    return 1\n'
    assert changes[3].hunks == ((1, 1, 1, 1),)


def test_codex_patch_without_the_files() -> None:
    changes = changes_of("apply_patch", PATCH)
    assert [change.kind for change in changes] == ["add", "modify", "delete", "rename"]
    assert changes[1].hunks == ((0, 1, 0, 1), (0, 2, 0, 2))
    assert changes[1].old_text == "    return name\ndef part():\n    pass"


def test_codex_patch_with_the_recorded_diff() -> None:
    diff = "@@ -41,3 +41,3 @@\n def greet(name):\n-    return name\n+    return 2\n \n"
    for entry in ({"type": "update", "unified_diff": diff, "move_path": None}, {"update": {"unified_diff": diff}}):
        patch = "*** Begin Patch\n*** Update File: app.py\n@@\n-    return name\n+    return 2\n*** End Patch"
        change = only(changes_of("apply_patch", patch, {"changes": {"/w/app.py": entry}, "success": True}))
        assert change.hunks == ((42, 1, 42, 1),)


def test_a_shell_command_that_only_mentions_a_patch_is_no_edit() -> None:
    assert changes_of("bash", {"command": "grep -rn '*** Begin Patch' ."}) == []
    assert changes_of("bash", {"command": "ls"}) == []


def test_cursor_after_file_edit() -> None:
    payload = {
        "conversation_id": "c",
        "generation_id": "g",
        "file_path": "/w/app.py",
        "edits": [
            {"old_string": "return name", "new_string": 'return f"hi {name}"'},
            {"old_string": "pass", "new_string": "..."},
        ],
    }
    now = GREETED.replace("pass", "...")
    change = only(changes_of("afterFileEdit", payload, None, lambda path: now if path == "/w/app.py" else None))
    assert change.hunks == ((2, 1, 2, 1), (6, 1, 6, 1))
    unplaced = only(changes_of("afterFileEdit", payload))
    assert (unplaced.hunks, unplaced.old_text) == (((0, 1, 0, 1), (0, 1, 0, 1)), "return name\npass")


def test_cursor_edit_file_with_its_chunks() -> None:
    result = {
        "diff": {"chunks": [{"diffString": "-a\n+b", "oldStart": 7, "newStart": 7, "oldLines": 1, "newLines": 1}]}
    }
    given = {"relativeWorkspacePath": "src/a.ts", "code_edit": "// ... existing code ...\nb"}
    assert facts(only(changes_of("edit_file", given, result))) == ("modify", "src/a.ts", ((7, 1, 7, 1),), "a\n", "b\n")


@pytest.mark.parametrize("tool", ["replace", "edit"])
def test_gemini_and_qwen_replace(tool: str) -> None:
    given = {"file_path": "/w/app.py", "old_string": "return name", "new_string": 'return f"hi {name}"'}
    shown = {"fileName": "app.py", "fileDiff": "…", "originalContent": APP, "newContent": GREETED}
    assert facts(only(changes_of(tool, given, shown))) == GREETING
    assert facts(only(changes_of(tool, given, {"llmContent": "ok", "returnDisplay": shown}))) == GREETING
    diff = "--- app.py\n+++ app.py\n@@ -1,3 +1,3 @@\n def greet(name):\n-    return name\n"
    diff += '+    return f"hi {name}"\n \n'
    assert facts(only(changes_of(tool, given, {"fileDiff": diff}))) == GREETING


def test_gemini_write_file() -> None:
    given = {"file_path": "docs/n.md", "content": "# N\n"}
    made = {"fileName": "n.md", "fileDiff": "…", "originalContent": None, "newContent": "# N\n"}
    assert facts(only(changes_of("write_file", given, made))) == ("add", "docs/n.md", ((0, 0, 1, 1),), "", "# N\n")
    said = {"output": "Successfully created and wrote to new file: /w/docs/n.md."}
    assert only(changes_of("write_file", given, said)).kind == "add"
    over = {**made, "originalContent": "# M\n"}
    assert only(changes_of("write_file", given, over)).hunks == ((1, 1, 1, 1),)


def test_qwen_session_with_its_diff_cut_short() -> None:
    cut = {"fileDiff": "omitted", "originalContent": "…", "newContent": "…", "truncatedForSession": True}
    given = {"file_path": "a", "old_string": "x", "new_string": "y"}
    change = only(changes_of("edit", given, cut))
    assert (change.hunks, change.old_text, change.new_text) == ((), "x", "y")


def test_opencode_edit() -> None:
    given = {"filePath": "/w/app.py", "oldString": "return name", "newString": 'return f"hi {name}"'}
    diff = 'Index: /w/app.py\n@@ -2,1 +2,1 @@\n-    return name\n+    return f"hi {name}"\n'
    assert facts(only(changes_of("edit", given, {"diff": diff}))) == GREETING
    assert facts(only(changes_of("edit", given, {"file": "/w/app.py", "before": APP, "after": GREETED}))) == GREETING


@pytest.mark.parametrize("tool", ["str_replace_editor", "str_replace_based_edit_tool"])
def test_the_editor_tool(tool: str) -> None:
    made = only(changes_of(tool, {"command": "create", "path": "a", "file_text": "x\n"}))
    assert (made.kind, made.hunks) == ("add", ((0, 0, 1, 1),))
    given = {"command": "str_replace", "path": "/w/app.py", "old_str": "return name", "new_str": 'return f"hi {name}"'}
    assert facts(only(changes_of(tool, given, None, lambda _: GREETED))) == GREETING
    put = only(changes_of(tool, {"command": "insert", "path": "a", "insert_line": 3, "insert_text": "n\nm\n"}))
    assert (put.hunks, put.new_text) == (((3, 0, 4, 2),), "n\nm\n")
    assert changes_of(tool, {"command": "view", "path": "a"}) == []
    assert changes_of(tool, {"command": "undo_edit", "path": "a"}) == []


def test_tools_that_edit_nothing() -> None:
    assert not any(map(is_edit_tool, ("Read", "Grep", "mcp__memhub__recall", "TodoWrite")))
    assert is_edit_tool("mcp__files__write_file")
    assert changes_of("Read", {"file_path": "a"}, {"file": {"content": "x"}}) == []


@pytest.mark.parametrize("given", [None, [], "x", 3, {}, {"file_path": 3}, {"file_path": "a", "edits": [1, {}]}])
@pytest.mark.parametrize("tool", ["Edit", "Write", "NotebookEdit", "apply_patch", "str_replace_editor", "bash", "?"])
@pytest.mark.parametrize("result", [None, {}, "ok", {"structuredPatch": [{"oldStart": "1"}]}, json.loads("[1]")])
def test_a_shape_nobody_knows_is_no_edit(tool: str, given: object, result: object) -> None:
    assert changes_of(tool, given, result) == []
