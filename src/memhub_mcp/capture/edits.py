"""One parser for the ways in which assistants report an edit, in hooks and in transcripts alike.

Known: Claude Code `Edit`, `MultiEdit`, `Write`, `NotebookEdit`; Codex `apply_patch`, also inside a shell command;
Cursor `afterFileEdit` and its editing tools; Gemini and Qwen `replace`, `edit`, `write_file`; OpenCode `edit`, `write`,
`patch`; `str_replace_editor` and `str_replace_based_edit_tool`. Standard library only: the hook path imports this.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from memhub_mcp.capture.changes import (
    Change,
    Replacement,
    change_between,
    change_of_patch,
    change_of_replacing,
    change_undone,
    change_unplaced,
)
from memhub_mcp.capture.patches import change_of, patches_in

Fields = Mapping[str, object]
FileReader = Callable[[str], str | None]
"""The text of a file as it is now, None when it is not known."""

_REPLACING = frozenset(
    {"edit", "multiedit", "multi_edit", "replace", "search_replace", "strreplace", "edit_file", "edit_file_v2"}
    | {"afterfileedit"}
)
_WRITING = frozenset({"write", "write_file", "create_file"})
_NOTEBOOK = frozenset({"notebookedit", "edit_notebook", "notebook_edit", "editnotebook"})
_EDITORS = frozenset({"str_replace_editor", "str_replace_based_edit_tool", "str_replace"})
_PATCHING = frozenset({"apply_patch", "patch", "applypatch"})
_SHELLS = frozenset(
    {"shell", "bash", "exec_command", "local_shell", "local_shell_call", "shell_command", "container.exec"}
    | {"run_shell_command", "run_terminal_cmd", "run_terminal_command", "run_terminal_command_v2"}
)
_DELETING = frozenset({"delete_file"})

_PATH = ("file_path", "filePath", "notebook_path", "path", "target_file", "relativeWorkspacePath", "filepath", "file")
_OLD = ("old_string", "oldString", "old_str", "oldText")
_NEW = ("new_string", "newString", "new_str", "newText")
_CONTENT = ("content", "file_text", "contents", "code_edit")
_BEFORE = ("originalFile", "originalFileContents", "original_file", "originalContent", "before")
_AFTER = ("updated_file", "newContent", "after")
_DIFF = ("fileDiff", "diff", "unified_diff", "patch")
_HUNK_HEADER = re.compile(r"@@ -(\d{1,9})(?:,\d{1,9})? \+(\d{1,9})(?:,\d{1,9})? @@")

_FAILURES = ("Error:", "<tool_use_error>", "The user doesn't want", "Failed", "String to replace not found")


def is_edit_tool(tool: str) -> bool:
    """Whether a call of this tool may change a file in a way we understand."""
    return _plain(tool) in _REPLACING | _WRITING | _NOTEBOOK | _EDITORS | _PATCHING | _SHELLS | _DELETING


def changes_of(tool: str, given: object, result: object = None, read: FileReader | None = None) -> list[Change]:
    """What a successful call changed, one entry for each file; empty when it failed or changed no file.

    `given` is the tool's input, `result` what the host kept of its outcome. `read` gives a file as it is now, when now
    is right after the call.
    """
    name, result = _plain(tool), _unwrapped(result)
    if _failed(result):
        return []
    if name in _PATCHING or name in _SHELLS:
        return _patched(given, result, read)
    if not isinstance(given, Mapping):
        return []
    fields: Fields = given
    outcome: Fields = result if isinstance(result, Mapping) else {}
    path = _text(fields, _PATH) or _text(outcome, _PATH)
    if not path:
        return []
    if name in _EDITORS and (fields.get("command") or name == "str_replace"):
        change = _editor(path, fields, outcome, read)
    elif name in _WRITING:
        change = _written(path, fields, outcome)
    elif name in _NOTEBOOK:
        change = _notebook(path, fields, outcome)
    elif name in _DELETING:
        change = Change(path, kind="delete")
    elif name in _REPLACING:
        change = _replaced(path, _replacements(fields, outcome), outcome, read)
    else:
        change = None
    return [] if change is None else [change]


def _plain(tool: str) -> str:
    return tool.rpartition("__")[2].rpartition(".")[2].lower() if tool.lower() != "container.exec" else tool.lower()


def _unwrapped(result: object) -> object:
    """The outcome with what the person was shown, which Gemini's hooks wrap."""
    shown = result.get("returnDisplay") if isinstance(result, Mapping) else None
    return {**result, **shown} if isinstance(result, Mapping) and isinstance(shown, Mapping) else result


def _failed(result: object) -> bool:
    if isinstance(result, str):
        return result.lstrip().startswith(_FAILURES)
    if not isinstance(result, Mapping):
        return False
    fields: Fields = result
    if fields.get("error") or fields.get("is_error") or fields.get("isError") or fields.get("applyFailed"):
        return True
    return fields.get("success") is False or fields.get("status") in ("error", "failed", "cancelled", "declined")


def _replaced(
    path: str, replacements: Sequence[Replacement], outcome: Fields, read: FileReader | None
) -> Change | None:
    before, after = _text(outcome, _BEFORE), _text(outcome, _AFTER)
    if before is not None and after is not None and not outcome.get("truncatedForSession"):
        return _unless_same(change_between(path, before, after), before)
    if not before and len(replacements) == 1 and not replacements[0][0]:
        return _added(path, replacements[0][1])
    if before is not None and replacements:
        placed = change_of_replacing(path, before, replacements)
        if placed is not None:
            return _unless_same(placed, before)
    shown = _shown_diff(path, outcome, before)
    if shown is not None:
        return shown
    if not replacements:
        return None
    now = read(path) if read is not None else None
    placed = change_undone(path, now, replacements) if now is not None else None
    return placed or change_unplaced(path, replacements)


def _written(path: str, fields: Fields, outcome: Fields) -> Change | None:
    content = _text(outcome, _AFTER)
    content = _text(fields, _CONTENT) if content is None else content
    if content is None:
        return None
    before = _text(outcome, _BEFORE)
    is_new = outcome.get("type") == "create" or outcome.get("isNewFile") is True or outcome.get("exists") is False
    if before:
        return _unless_same(change_between(path, before, content), before)
    if is_new or _says_created(outcome) or "originalContent" in outcome:
        return _added(path, content)
    shown = _shown_diff(path, outcome, None)
    if shown is not None:
        shown.after = content
        return shown
    # Whether there was a file is not known: what it became is.
    return Change(path, new_text=content, after=content)


def _notebook(path: str, fields: Fields, outcome: Fields) -> Change | None:
    before, after = _text(outcome, _BEFORE), _text(outcome, _AFTER)
    if before is not None and after is not None:
        return _unless_same(change_between(path, before, after), before)
    replacements = _replacements(fields, outcome)
    if replacements:
        return change_unplaced(path, replacements)
    source = fields.get("new_source")
    return Change(path, new_text=source) if isinstance(source, str) else None


def _editor(path: str, fields: Fields, outcome: Fields, read: FileReader | None) -> Change | None:
    command = fields.get("command", "str_replace")
    if command == "create":
        change = _written(path, fields, outcome)
        if change is not None and change.before is None and not change.hunks:
            change = _added(path, change.after or "")
        return change
    if command == "str_replace":
        return _replaced(path, _replacements(fields, outcome), outcome, read)
    if command == "insert":
        return _inserted(path, fields, outcome, read)
    return None


def _inserted(path: str, fields: Fields, outcome: Fields, read: FileReader | None) -> Change | None:
    line, text = fields.get("insert_line"), _text(fields, ("insert_text", "new_str", "text"))
    if not isinstance(line, int) or text is None:
        return None
    lines = text.removesuffix("\n").split("\n")
    change = change_of_patch(path, [(line + 1, line + 1, ["+" + part for part in lines])], None)
    if change is not None and read is not None:
        change.after = read(path)
    return change


def _patched(given: object, result: object, read: FileReader | None) -> list[Change]:
    command = _command(given)
    outcome: Fields = result if isinstance(result, Mapping) else {}
    diffs = outcome.get("changes")
    found: list[Change] = []
    for patch in patches_in(command):
        after = read(patch.move_to or patch.path) if read is not None and patch.action != "Delete" else None
        shown = _recorded_diff(patch.path, diffs) if patch.action == "Update" and after is None else None
        if shown is not None and patch.move_to is not None:
            shown.kind, shown.path, shown.old_path = "rename", patch.move_to, patch.path
        change = shown or change_of(patch, None, after)
        found.append(change)
    return found


def _recorded_diff(path: str, diffs: object) -> Change | None:
    """The change that the host recorded as a unified diff for `path`, whose key may be the absolute path."""
    if not isinstance(diffs, Mapping):
        return None
    entries: Mapping[str, object] = diffs
    for key, entry in entries.items():
        if isinstance(entry, Mapping) and (key == path or key.replace("\\", "/").endswith("/" + path)):
            update = entry.get("update")
            diff = (update if isinstance(update, Mapping) else entry).get("unified_diff")
            return _from_diff(path, diff, None) if isinstance(diff, str) else None
    return None


def _shown_diff(path: str, outcome: Fields, before: str | None) -> Change | None:
    """The change as the host showed it: `structuredPatch`, chunks, or a unified diff."""
    hunks = outcome.get("structuredPatch")
    if isinstance(hunks, Sequence) and hunks and not isinstance(hunks, str):
        patch = [_structured(hunk) for hunk in hunks]
        return change_of_patch(path, [hunk for hunk in patch if hunk is not None], before) if all(patch) else None
    diff: object = outcome.get("diff")
    chunks = diff.get("chunks") if isinstance(diff, Mapping) else None
    if isinstance(chunks, Sequence) and chunks:
        patch = [_structured(chunk) for chunk in chunks]
        return change_of_patch(path, [hunk for hunk in patch if hunk is not None], before) if all(patch) else None
    text = _text(outcome, _DIFF)
    return None if text is None or outcome.get("truncatedForSession") else _from_diff(path, text, before)


def _structured(hunk: object) -> tuple[int, int, list[str]] | None:
    if not isinstance(hunk, Mapping):
        return None
    old, new, lines = hunk.get("oldStart"), hunk.get("newStart"), hunk.get("lines", hunk.get("diffString"))
    if isinstance(lines, str):
        lines = lines.split("\n")
    if not isinstance(old, int) or not isinstance(new, int) or not isinstance(lines, list):
        return None
    if not all(isinstance(line, str) for line in lines):
        return None
    return old, new, lines


def _from_diff(path: str, diff: str, before: str | None) -> Change | None:
    patch: list[tuple[int, int, list[str]]] = []
    for line in diff.removesuffix("\n").split("\n"):
        header = _HUNK_HEADER.match(line)
        if header is not None:
            patch.append((int(header[1]), int(header[2]), []))
        elif patch:
            patch[-1][2].append(line)
    return change_of_patch(path, patch, before) if patch else None


def _replacements(fields: Fields, outcome: Fields) -> list[Replacement]:
    """What was replaced: as it was applied if the host says so, else as it was asked for."""
    applied = _pair(outcome, fields)
    if applied is not None:
        return [applied]
    edits = fields.get("edits")
    if isinstance(edits, Sequence) and not isinstance(edits, str):
        pairs = [_pair(edit, fields) for edit in edits if isinstance(edit, Mapping)]
        return [pair for pair in pairs if pair is not None]
    asked = _pair(fields, fields)
    return [] if asked is None else [asked]


def _pair(fields: Fields, defaults: Fields) -> Replacement | None:
    old, new = _text(fields, _OLD), _text(fields, _NEW)
    if old is None or new is None:
        return None
    everywhere = [fields.get(name, defaults.get(name)) for name in ("replace_all", "replaceAll", "allow_multiple")]
    expected = defaults.get("expected_replacements")
    return old, new, True in everywhere or (isinstance(expected, int) and expected > 1)


def _command(given: object) -> str:
    """The patch or shell command in a tool's input: a text, a list of arguments, or a field holding one."""
    if isinstance(given, str):
        return given
    if isinstance(given, Sequence):
        return "\n".join(part for part in given if isinstance(part, str))
    if isinstance(given, Mapping):
        for name in ("input", "patch", "patchText", "command", "cmd", "script"):
            found = given.get(name)
            if found:
                return _command(found)
    return ""


def _says_created(outcome: Fields) -> bool:
    text = _text(outcome, ("output", "llmContent"))
    return text is not None and "created and wrote to new file" in text[:400]


def _text(fields: Fields, names: Sequence[str]) -> str | None:
    """The first of `names` that holds a text."""
    for name in names:
        value = fields.get(name)
        if isinstance(value, str):
            return value
    return None


def _added(path: str, content: str) -> Change:
    change = change_between(path, "", content)
    change.kind, change.before = "add", None
    return change


def _unless_same(change: Change, before: str) -> Change | None:
    return change if change.after != before else None
