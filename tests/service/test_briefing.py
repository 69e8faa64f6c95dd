"""Nothing that is hidden now is told from a digest that was written before."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from git_steps import Git
from hubs import Desk, desk_in
from transcript_lines import Claude, write_lines

from memhub_mcp.capture import spool
from memhub_mcp.domain.session import Utterance
from memhub_mcp.hosts import hook_files
from memhub_mcp.service.dialogue import add_turns


def told_at(desk: Desk, folder: Path) -> str:
    """What a session that begins in `folder` is told without a server."""
    home = str(desk.hub.settings.home)
    return hook_files.digest_of(home, hook_files.place_of(home, str(folder))) or ""


def brief(desk: Desk) -> None:
    while desk.hub.maintenance.run_once(desk.caller):
        pass


def supersede(desk: Desk, memory_id: str) -> None:
    desk.remember("Retries are 7", subject="retries")


def archive(desk: Desk, memory_id: str) -> None:
    desk.hub.memories.update(desk.caller, memory_id, status="archived")


def correct(desk: Desk, memory_id: str) -> None:
    desk.hub.memories.update(desk.caller, memory_id, text="Retries are 7")


def judge(desk: Desk, memory_id: str) -> None:
    desk.hub.memories.update(desk.caller, memory_id, feedback="wrong")


def forget(desk: Desk, memory_id: str) -> None:
    desk.hub.memories.forget(desk.caller, [memory_id], confirm=True)


@pytest.mark.parametrize("hide", [supersede, archive, correct, judge, forget])
def test_what_holds_no_longer_is_not_told(desk: Desk, hide: Callable[[Desk, str], None]) -> None:
    [memory_id] = desk.remember("Retries are 5", subject="retries")
    desk.remember("The shop sells tea")
    brief(desk)
    root = desk.hub.settings.cwd
    assert "Retries are 5" in told_at(desk, root)
    hide(desk, memory_id)
    told = told_at(desk, root)
    assert "Retries are 5" not in told
    if hide is not forget:
        assert "The shop sells tea" in told
    if hide in (supersede, correct):
        assert "Retries are 7" in told


def test_other_worktrees_do_not_tell_it_either(desk: Desk, repository: Git, tmp_path: Path) -> None:
    [memory_id] = desk.remember("Retries are 5")
    repository.run("worktree", "add", "-q", str(tmp_path / "tree"), "-b", "topic")
    with desk_in(tmp_path / "tree", home=desk.hub.settings.home) as other:
        brief(other)
        assert "Retries are 5" in told_at(other, tmp_path / "tree")
        archive(desk, memory_id)
        assert "Retries are 5" not in told_at(other, tmp_path / "tree")


def test_what_expires_is_not_told_afterwards(repository: Git) -> None:
    with desk_in(repository.root) as desk:
        desk.remember("The shop sells tea")
        brief(desk)
        patience = timedelta(seconds=1)
        while True:
            soon = datetime.now(UTC) + patience
            desk.remember("The freeze is on", valid_until=soon.isoformat(), subject="freeze")
            brief(desk)
            told = told_at(desk, repository.root)
            if datetime.now(UTC) < soon:
                break
            patience *= 2  # a busy machine looked too late
        assert "The freeze is on" in told
        while datetime.now(UTC) <= soon:  # the clock of the machine is what a hook goes by
            time.sleep(0.05)
        assert "The freeze is on" not in told_at(desk, repository.root)
        assert "The shop sells tea" in told_at(desk, repository.root)


def test_work_that_was_merged_is_not_told_once_the_merge_is_undone(desk: Desk, repository: Git) -> None:
    before = repository.run("rev-parse", "HEAD").strip()
    repository.run("switch", "-q", "-c", "topic")
    repository.commit("work", more__py="1\n")
    desk.remember("Topic needs Redis")
    repository.run("switch", "-q", "main")
    brief(desk)
    assert "Topic needs Redis" not in told_at(desk, repository.root)
    repository.run("merge", "-q", "--no-ff", "-m", "merge topic", "topic")
    brief(desk)
    assert "Topic needs Redis" in told_at(desk, repository.root)
    repository.run("pack-refs", "--all")
    assert "Topic needs Redis" in told_at(desk, repository.root)
    repository.run("reset", "-q", "--hard", before)
    assert "Topic needs Redis" not in told_at(desk, repository.root)


def test_another_commit_without_a_branch_is_told_what_all_branches_see(desk: Desk, repository: Git) -> None:
    before = repository.run("rev-parse", "HEAD").strip()
    desk.remember("The shop sells tea")
    repository.run("switch", "-q", "-c", "topic")
    after = repository.commit("work", more__py="1\n")
    desk.remember("Topic needs Redis")
    repository.run("checkout", "-q", after)
    brief(desk)
    assert "Topic needs Redis" in told_at(desk, repository.root)
    repository.run("checkout", "-q", before)
    assert "Topic needs Redis" not in told_at(desk, repository.root)
    assert "The shop sells tea" in told_at(desk, repository.root)


def test_raw_turns_are_not_told(desk: Desk) -> None:
    store = desk.hub.scopes.resolve(desk.caller).store
    assert store is not None
    said = Utterance(position=0, speaker="Ada", text="I like tea", time=datetime.now(UTC))
    add_turns(store, source="cursor", host_session="s", said=[said])
    assert "I like tea" not in desk.hub.memories.digest(desk.caller)


def test_a_session_that_ended_is_told_when_the_next_one_begins_after_any_command(
    desk: Desk, repository: Git, tmp_path: Path
) -> None:
    folder, claude = repository.root.as_posix(), Claude("s1", cwd=repository.root.as_posix())
    asked = claude.person("Retry six times")
    file = write_lines(tmp_path / "s1.jsonl", asked, *claude.edit("c1", f"{folder}/app.py", "retries = 5\n", "5", "6"))
    end = {"event": "session-end", "source": "claude-code", "session": "s1", "folder": folder, "transcript": str(file)}
    spool.write(desk.hub.settings.home, end)
    desk.hub.memories.status(desk.caller)
    assert "Task: Retry six times" in told_at(desk, repository.root)
