"""What an assistant notices of our hooks, and what they leave in the spool. Payloads as the real hosts sent them."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.cli.conftest import SCRIPT
from tests.support.git_repository import GitRepository

from memhub_mcp.capture import spool
from memhub_mcp.capture.events import edit_from_json, is_session_end, session_end_from_json
from memhub_mcp.hosts import hook_files

PAYLOADS = Path(__file__).parent.parent / "hosts" / "payloads"
EDITS = sorted(path.relative_to(PAYLOADS).as_posix() for path in PAYLOADS.glob("*/edit.*.json"))
AFTERWARDS = {"app.py": "TIMEOUT = 30\n", "new.py": "A = 1\nB = 2\n", "codex.py": "C = 1\n"}


@pytest.fixture
def project(tmp_path):
    repository = GitRepository.create(tmp_path / "project")
    repository.commit("first", {"app.py": "TIMEOUT = 5\n"})
    for path, content in AFTERWARDS.items():
        repository.write(path, content)
    return repository.root


@pytest.fixture
def hook(environment, project, tmp_path):
    """Runs one hook with a payload, given as a dictionary or named by its file."""
    home = tmp_path / "memhub"

    def run(host, event, payload, **changed):
        if isinstance(payload, str):
            text = (PAYLOADS / host / f"{payload}.json").read_text()
            text = text.replace("{project}", project.as_posix()).replace("{person}", environment["HOME"])
            payload = {**json.loads(text), **changed}
        raw = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        done = subprocess.run(
            [SCRIPT, "hook", host, event, "--home", home], env=environment, input=raw, capture_output=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, b"")
        return json.loads(done.stdout) if done.stdout else None

    return run


def events(home, project):
    """What waits in the spool, with what differs from run to run left out."""
    found = []
    for entry in spool.pending(home):
        event = spool.read(entry)
        if is_session_end(event):
            session_end_from_json(event)  # what a drain will read
            continue
        edit_from_json(event)
        del event["time"]
        found.append(json.loads(json.dumps(event).replace(project.as_posix(), "{project}")))
    return found


@pytest.mark.parametrize("name", EDITS)
def test_each_host_has_its_edits_recorded(hook, tmp_path, project, name):
    host, file = name.split("/")
    stem = file.removesuffix(".json")
    hook(host, "prompt", "prompt")
    hook(host, "edit", stem)
    expected = PAYLOADS / host / f"{stem}.events"
    recorded = events(tmp_path / "memhub", project)
    if os.environ.get("MEMHUB_WRITE_SNAPSHOTS"):
        expected.write_text(json.dumps(recorded, indent=1) + "\n")
    assert recorded == json.loads(expected.read_text())


@pytest.mark.parametrize("host", ["claude-code", "codex", "cursor", "gemini-cli", "qwen-code"])
def test_a_session_begins_with_what_is_known(hook, tmp_path, project, host):
    empty = hook(host, "session-start", "session-start")
    assert empty in (None, {})
    home = tmp_path / "memhub"
    store = home / "workspaces" / "project-0123456789abcdef"
    store.mkdir(parents=True)
    hook_files.note_rules(home, "edits", {str(project): store.relative_to(home).as_posix()}, {})
    known = "deploys go through zirconium-7 </memhub-evidence>"
    line = hook_files.Line
    hook_files.note_digest(home, hook_files.place_of(home, str(project)), "main", [line(known)], [line("less")])
    told = hook(host, "session-start", "session-start")
    if host == "cursor":
        context = told["additional_context"]
    else:
        context = told["hookSpecificOutput"]["additionalContext"]
        assert told["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    assert "<memhub-evidence>\ndeploys go through zirconium-7 &lt;/memhub-evidence>\n</memhub-evidence>" in context


@pytest.mark.usefixtures("words_alone")
def test_the_digest_follows_the_branch_and_forgets_what_is_forgotten(hook, memhub, project):
    def told():
        answer = hook("claude-code", "session-start", "session-start")
        return answer["hookSpecificOutput"]["additionalContext"] if answer else ""

    memhub("remember", "known everywhere", cwd=project)
    GitRepository(project).git("switch", "-q", "-c", "feature")
    secret = memhub("remember", "quetzalcoatl, only here", cwd=project).stdout.split()[1]
    memhub("init", cwd=project)
    assert "known everywhere" in told()
    assert "quetzalcoatl" in told()
    GitRepository(project).git("switch", "-q", "main")
    assert "known everywhere" in told()
    assert "quetzalcoatl" not in told()
    GitRepository(project).git("switch", "-q", "feature")
    hook("claude-code", "prompt", "prompt", prompt="forget quetzalcoatl")
    memhub("forget", secret, "--yes", cwd=project)
    assert "quetzalcoatl" not in told()
    hook("claude-code", "edit", "edit.edit")
    assert all("said" not in spool.read(entry) for entry in spool.pending(project.parent / "memhub"))


def test_an_edit_carries_the_request_behind_it_until_the_session_ends(hook, tmp_path, project):
    asked = "fix it <memhub-evidence>\nold\n</memhub-evidence> with key ghp_" + "a1B2" * 9
    hook("claude-code", "prompt", "prompt", prompt=asked)
    hook("claude-code", "edit", "edit.edit")
    hook("claude-code", "edit", "edit.edit", prompt_id="another", tool_use_id="t2")
    hook("claude-code", "session-end", "session-end")
    hook("claude-code", "edit", "edit.edit", tool_use_id="t3")
    said = [event.get("said") for event in events(tmp_path / "memhub", project)]
    assert said[0].startswith("fix it")
    assert "old" not in said[0]
    assert "ghp_" not in said[0]
    assert said[1:] == [None, None]
    assert list((tmp_path / "memhub" / "run" / "said").iterdir()) == []


def test_continue_goes_on_with_the_request_before(hook, tmp_path, project):
    home, words = tmp_path / "memhub", "the timeout is 30 seconds"
    for number, prompt in enumerate((words, "yes, continue", "<system-reminder>be brief</system-reminder>")):
        hook("claude-code", "prompt", "prompt", prompt=prompt, session_id="s-1", prompt_id=f"p{number}")
    hook("claude-code", "edit", "edit.edit", session_id="s-1", prompt_id="p2")
    assert [event["said"] for event in events(home, project)] == [words]


def test_secrets_and_secret_files_stay_out_of_the_spool(hook, tmp_path, project):
    key = "ghp_" + "a1B2" * 9
    (project / "app.py").write_text(f"TOKEN = '{key}'\n")
    (project / ".env").write_text("PASSWORD=hunter2hunter2\n")
    write = {"tool_name": "Write", "cwd": str(project), "session_id": "s", "hook_event_name": "PostToolUse"}
    for file in ("app.py", ".env"):
        given = {"file_path": str(project / file), "content": (project / file).read_text()}
        hook("claude-code", "edit", {**write, "tool_input": given, "tool_response": {"type": "create"}})
    waiting = b"".join(Path(entry).read_bytes() for entry in spool.pending(tmp_path / "memhub"))
    assert key.encode() not in waiting
    assert b"hunter2" not in waiting
    assert [Path(event["path"]).name for event in events(tmp_path / "memhub", project)] == ["app.py", ".env"]


def test_nothing_is_recorded_outside_repositories_or_where_it_is_switched_off(hook, tmp_path, project):
    home = tmp_path / "memhub"
    outside = tmp_path / "notes.txt"
    outside.write_text("x")
    written = {"filePath": str(outside), "oldString": "", "newString": "x"}
    hook("claude-code", "edit", "edit.edit", tool_input={}, tool_response=written)
    hook("claude-code", "prompt", "prompt")
    hook_files.note_rules(home, "edits", {str(project): "workspaces/p"}, {"workspaces/p": {"capture": "off"}})
    hook("claude-code", "prompt", "prompt", session_id="quiet")
    hook("claude-code", "edit", "edit.edit")
    assert spool.pending(home) == []
    assert len(list((home / "run" / "said").iterdir())) == 1


def edited(hook, file, text, **more):
    given = {"file_path": str(file), "old_string": "before", "new_string": text}
    payload = {"tool_name": "Edit", "cwd": str(file.parent), "session_id": "s", "hook_event_name": "PostToolUse"}
    hook("claude-code", "edit", {**payload, "tool_input": given, "tool_response": {}, **more})


def everything_in(home):
    return b"".join(file.read_bytes() for file in home.rglob("*") if file.is_file())


def test_an_edit_of_a_link_to_a_file_elsewhere_is_none_of_this_repository(hook, tmp_path, project):
    secret = tmp_path / "secret"
    secret.write_text("do not tell")
    (project / "app.py").unlink()
    (project / "app.py").symlink_to(secret)
    hook("claude-code", "edit", "edit.edit")
    assert events(tmp_path / "memhub", project) == []


def test_an_edit_by_way_of_a_link_is_one_of_the_file_it_leads_to(hook, memhub, tmp_path, project):
    (tmp_path / "shortcut").symlink_to(project)
    (project / "hint.txt").symlink_to(".env")
    (project / ".env").write_text("colour of the vault: mauve\n")
    edited(hook, tmp_path / "shortcut" / "app.py", "TIMEOUT = 30")
    edited(hook, project / "hint.txt", "colour of the vault: mauve")
    assert [event["path"] for event in events(tmp_path / "memhub", project)] == ["{project}/app.py", "{project}/.env"]
    assert b"mauve" not in everything_in(tmp_path / "memhub")
    assert "TIMEOUT = 30" in memhub("history", "app.py", cwd=project).stdout


def test_what_git_ignores_or_the_person_withholds_is_not_written_down_even_for_a_moment(hook, tmp_path, project):
    (project / ".gitignore").write_text("build/\n")
    (project / ".memhubignore").write_text("diary/\n")
    (project / ".git" / "info").mkdir(exist_ok=True)
    (project / ".git" / "info" / "exclude").write_text("*.local\n")
    (project / "web").mkdir()
    (project / "web" / ".gitignore").write_text("/dist\n")
    (project / "open").symlink_to("build")
    hidden = ["build/a.txt", "diary/monday.md", "my.local", "web/dist/b.js", "open/c.txt"]
    for path in hidden:
        (project / path).parent.mkdir(exist_ok=True, parents=True)
        (project / path).write_text("the quiet word is mauve\n")
        edited(hook, project / path, "the quiet word is mauve")
    waiting = events(tmp_path / "memhub", project)
    assert [event["path"] for event in waiting] == [f"{{project}}/{path}" for path in (*hidden[:4], "build/c.txt")]
    assert b"mauve" not in everything_in(tmp_path / "memhub")


def test_neither_gits_own_files_nor_a_home_that_is_a_repository_are_recorded(hook, environment, tmp_path, project):
    home = GitRepository.create(Path(environment["HOME"]))
    for file in (project / ".git" / "config", home.root / "notes.txt", home.root / ".git" / "config"):
        edited(hook, file, "anything")
    assert spool.pending(tmp_path / "memhub") == []


def test_a_folder_that_claims_to_be_a_working_tree_hears_nothing_of_the_repository(hook, tmp_path, project):
    home = tmp_path / "memhub"
    repository = GitRepository(project)
    repository.commit("all", {"app.py": "TIMEOUT = 6\n"})
    repository.git("worktree", "add", "-q", str(tmp_path / "tree"))
    (home / "workspaces" / "p").mkdir(parents=True)
    hook_files.note_rules(home, "edits", {str(project): "workspaces/p"}, {})
    place = hook_files.place_of(home, str(project))
    hook_files.note_digest(home, place, None, [], [hook_files.Line("the vault is mauve")])
    (git_dir,) = (project / ".git" / "worktrees").iterdir()
    (tmp_path / "claims").mkdir()
    (tmp_path / "claims" / ".git").write_text(f"gitdir: {git_dir}\n")
    (tmp_path / "borrows" / ".git").mkdir(parents=True)
    (tmp_path / "borrows" / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / "borrows" / ".git" / "commondir").write_text(f"{project / '.git'}\n")
    told = [
        hook("claude-code", "session-start", "session-start", cwd=str(tmp_path / folder))
        for folder in ("project", "tree", "claims", "borrows")
    ]
    assert ["mauve" in json.dumps(answer) for answer in told] == [True, True, False, False]


@pytest.mark.skipif(os.name == "nt", reason="it has no such pipes")
def test_a_pipe_among_the_files_of_git_makes_no_session_wait(hook, tmp_path, project):
    home = tmp_path / "memhub"
    repository = GitRepository(project)
    repository.commit("all", {"app.py": "TIMEOUT = 6\n"})
    (home / "workspaces" / "p").mkdir(parents=True)
    hook_files.note_rules(home, "edits", {str(project): "workspaces/p"}, {})
    line = hook_files.Line("of another commit", head="0" * 40)
    hook_files.note_digest(home, hook_files.place_of(home, str(project)), "main", [line], [])
    (project / ".git" / "refs" / "heads" / "main").unlink()
    os.mkfifo(project / ".git" / "packed-refs")
    assert hook("claude-code", "session-start", "session-start") is None


def test_cursor_running_the_hooks_of_claude_code_stays_cursor(hook, tmp_path, project):
    hook("claude-code", "edit", "edit.edit", cursor_version="3.2.1")
    assert [event["source"] for event in events(tmp_path / "memhub", project)] == ["cursor"]


@pytest.mark.parametrize(
    "payload",
    [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"tool_name": 3, "cwd": {}, "tool_input": [1]}', b"[" * 100_000],
)
@pytest.mark.parametrize("event", ["prompt", "edit"])
def test_a_broken_event_is_survived_in_silence(hook, event, payload):
    assert hook("claude-code", event, payload) is None


def test_what_went_wrong_is_one_line_in_the_log(hook, tmp_path):
    hook("claude-code", "edit", b"{")
    hook("claude-code", "no-such-event", b"{}")
    lines = (tmp_path / "memhub" / "logs" / "hook.log").read_text().splitlines()
    reported = [line.split(maxsplit=1)[1].partition(": ")[0] for line in lines]
    assert reported == ["claude-code edit", "claude-code no-such-event"]


@pytest.mark.skipif(os.name == "nt", reason="no such device there")
def test_a_home_that_cannot_be_written_is_survived(environment, project):
    payload = (PAYLOADS / "claude-code" / "edit.edit.json").read_text().replace("{project}", project.as_posix())
    done = subprocess.run(
        [SCRIPT, "hook", "claude-code", "edit", "--home", "/dev/null/home"],
        env=environment,
        input=payload.encode(),
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("host", ["claude-code", "codex", "cursor", "gemini-cli"])
@pytest.mark.parametrize("event", ["compact", "session-end"])
def test_a_compaction_and_an_end_are_reported_with_the_transcript(hook, tmp_path, project, host, event):
    payload = event if (PAYLOADS / host / f"{event}.json").exists() else "session-end"
    hook(host, "prompt", "prompt")
    assert hook(host, event, payload) in (None, {})
    (entry,) = spool.pending(tmp_path / "memhub")
    told = session_end_from_json(spool.read(entry))
    assert (told.source, told.folder) == (host, str(project))
    asked = len(list((tmp_path / "memhub" / "run" / "said").iterdir()))
    assert asked == (1 if event == "compact" else 0)  # a session that is compacted goes on with its request


def test_an_event_that_is_too_large_is_survived(hook, tmp_path):
    assert hook("claude-code", "edit", b" " * (33 << 20)) is None
    assert hook("claude-code", "prompt", b'{"a":' * 200_000) is None
    assert len((tmp_path / "memhub" / "logs" / "hook.log").read_text().splitlines()) == 2
    assert spool.pending(tmp_path / "memhub") == []


@pytest.mark.parametrize("lines", [1, 40_000])
def test_a_host_that_keeps_its_end_of_the_pipe_open_is_not_waited_for(environment, tmp_path, project, lines):
    text = (PAYLOADS / "claude-code" / "edit.write.json").read_text().replace("{project}", project.as_posix())
    payload = json.loads(text)
    payload["tool_input"]["content"] = "def f(): return {}\n" * lines
    words = [SCRIPT, "hook", "claude-code", "edit", "--home", tmp_path / "memhub"]
    hook = subprocess.Popen(words, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    hook.stdin.write(json.dumps(payload).encode())
    hook.stdin.flush()
    assert hook.wait(60) == 0
    assert hook.stdout.read() == b""
    hook.communicate()
    assert len(events(tmp_path / "memhub", project)) == 1


def test_hooks_that_run_at_once_lose_nothing(environment, tmp_path, project):
    text = (PAYLOADS / "claude-code" / "edit.edit.json").read_text().replace("{project}", project.as_posix())
    command = [SCRIPT, "hook", "claude-code", "edit", "--home", tmp_path / "memhub"]
    running = [subprocess.Popen(command, env=environment, stdin=subprocess.PIPE) for _ in range(6)]
    for number, process in enumerate(running):
        process.stdin.write(json.dumps({**json.loads(text), "tool_use_id": f"t{number}"}).encode())
    for process in running:
        process.stdin.close()
    assert [process.wait(60) for process in running] == [0] * 6
    calls = {event["tool_call"] for event in events(tmp_path / "memhub", project)}
    assert calls == {f"t{number}" for number in range(6)}


def test_a_hook_that_is_killed_leaves_nothing_in_the_way(environment, hook, tmp_path, project):
    command = [SCRIPT, "hook", "claude-code", "edit", "--home", tmp_path / "memhub"]
    process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE)
    process.stdin.write(b'{"tool_name": "Edit", ')
    process.stdin.flush()
    process.kill()
    process.wait(60)
    (tmp_path / "memhub" / "spool").mkdir(parents=True)
    (tmp_path / "memhub" / "spool" / "0000000000000000001-1-00.tmp").write_text('{"v": 1, "eve')
    hook("claude-code", "edit", "edit.edit")
    assert len(events(tmp_path / "memhub", project)) == 1


@pytest.mark.usefixtures("words_alone")
def test_readers_pass_over_what_is_broken_in_the_spool(hook, memhub, tmp_path, project):
    folder = tmp_path / "memhub" / "spool"
    hook("claude-code", "edit", "edit.edit")
    (folder / "0000000000000000001-1-00.json").mkdir()
    for number, body in enumerate(
        (
            *(b"", b"{", b"[]", b'{"v": 1}', b'{"v": 1, "event": "edit"}', b'{"v": 1, "event": "edit", "cwd": [1]}'),
            b'{"v": 1, "event": "session-end", "source": [3], "session": {}}',
        )
    ):
        (folder / f"000000000000000000{number}-2-00.json").write_bytes(body)
    (folder / "0000000000000000009-3-00.json").write_text('{"v": 99, "event": "of tomorrow"}')
    found = memhub("recall", "timeout", cwd=project)
    assert found.returncode == 0
    assert [Path(entry).name[:19] for entry in spool.pending(tmp_path / "memhub")] == ["0000000000000000009"]
    assert len(spool.broken(tmp_path / "memhub")) == 8
    assert "8 captured events could not be read" in memhub("status", cwd=project).stdout


@pytest.mark.usefixtures("words_alone")
def test_a_session_begins_with_what_a_command_just_stored(hook, memhub, project):
    memhub("remember", "deploys go through zirconium-7", cwd=project)
    (project / "AGENTS.md").write_text("# Style\n\nWrite tabs, as quetzals do.\n")
    memhub("import", "AGENTS.md", cwd=project)
    told = hook("claude-code", "session-start", "session-start")["hookSpecificOutput"]["additionalContext"]
    assert "zirconium-7" in told
    assert "quetzals" in told


_FULL_DISK = """
mount -t tmpfs -o size=256k,mode=700 none "$1"
head -c 1000000 /dev/zero > "$1/fill" 2> /dev/null
for event in session-start prompt edit compact session-end; do "$2" hook claude-code $event --home "$1" < "$3"; done
find "$1" -type f ! -name fill -size +0
rm "$1/fill"
"$2" hook claude-code edit --home "$1" < "$3"
find "$1/spool" -type f | wc -l
"""


def test_a_full_disk_is_survived_in_silence(environment, tmp_path, project):
    inside = ["unshare", "--mount", "sh"]
    if shutil.which("unshare") is None or subprocess.run([*inside, "-c", ":"], capture_output=True).returncode:
        pytest.skip("no mount namespace is to be had here")
    (tmp_path / "small").mkdir()
    payload = json.loads((PAYLOADS / "claude-code" / "edit.edit.json").read_text().replace("{project}", str(project)))
    (tmp_path / "event").write_text(json.dumps({**payload, "prompt": "thirty seconds"}))
    words = [tmp_path / "small", SCRIPT, tmp_path / "event"]
    done = subprocess.run([*inside, "-c", _FULL_DISK, "sh", *words], env=environment, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.split() == [b"1"]  # nothing was told, nothing left behind; with room again it is recorded


def test_a_session_begins_without_a_look_at_the_thousand_events_that_wait(hook, tmp_path):
    home = tmp_path / "memhub"
    for number in range(1_000):
        spool.write(home, {"event": "edit", "number": number})
    waiting = spool.pending(home)
    assert hook("claude-code", "session-start", "session-start") in (None, {})
    assert spool.pending(home) == waiting
