"""Several processes and threads at once: nothing is lost, nothing counted twice."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from git_repository import GitRepository

from memhub_mcp.bootstrap import open_hub
from memhub_mcp.domain.revision import EditEvent
from memhub_mcp.domain.scope import Caller
from memhub_mcp.service.edits import record_edit
from memhub_mcp.service.hub import Hub
from memhub_mcp.settings import load_settings


@pytest.fixture
def repo(tmp_path: Path) -> GitRepository:
    repo = GitRepository.create(tmp_path / "repository")
    repo.commit("start", {"app.py": "def send():\n    return 0\n"})
    return repo


@pytest.fixture
def hub(tmp_path: Path, repo: GitRepository) -> Iterator[Hub]:
    hub = open_hub(load_settings(home=tmp_path / "home", environ={}, cwd=repo.root))
    yield hub
    hub.close()


def caller(repo: GitRepository) -> Caller:
    return Caller(source="test", cwd=repo.root, roots=(repo.root,))


def edit(repo: GitRepository, name: str) -> EditEvent:
    return EditEvent(
        tool="Edit",
        path=str(repo.root / "app.py"),
        source="claude-code",
        session="s1",
        tool_call=name,
        time=datetime(2026, 1, 1, tzinfo=UTC),
        cwd=str(repo.root),
        content_after=f"def send():\n    return {name!r}\n",
        new_text=f"    return {name!r}\n",
    )


def kept(hub: Hub, repo: GitRepository) -> tuple[int, int]:
    """How many edits there are, and how many places in their order."""
    store = hub.scopes.resolve(caller(repo)).store
    assert store is not None
    edits = store.edits.by_path("app.py", 1_000)
    return len(edits), len({edit.generation for edit in edits})


def test_threads_lose_no_edit(repo: GitRepository, hub: Hub) -> None:
    def work(number: int) -> None:
        for turn in range(50):
            record_edit(hub.scopes, hub.capturing, edit(repo, f"{number}-{turn}"))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert kept(hub, repo) == (400, 400)


WORK = """
    import sys
    from pathlib import Path
    from memhub_mcp.bootstrap import open_hub
    from memhub_mcp.domain.scope import Caller
    from memhub_mcp.settings import load_settings

    home, root = sys.argv[1:3]
    hub = open_hub(load_settings(home=home, environ={}, cwd=Path(root)))
"""


def start(body: str, *arguments: object) -> subprocess.Popen[str]:
    script = textwrap.dedent(WORK) + textwrap.dedent(body)
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_processes_lose_no_edit(repo: GitRepository, hub: Hub, tmp_path: Path) -> None:
    body = """
        from datetime import UTC, datetime
        from memhub_mcp.domain.revision import EditEvent
        from memhub_mcp.service.edits import record_edit

        for turn in range(50):
            event = EditEvent(
                tool="Edit", path=f"{root}/app.py", source="codex", session=sys.argv[3], cwd=root,
                tool_call=f"{sys.argv[3]}-{turn}", time=datetime(2026, 1, 1, tzinfo=UTC), new_text=f"{turn}\\n",
            )
            assert record_edit(hub.scopes, hub.capturing, event)
    """
    assert kept(hub, repo) == (0, 0)
    running = [start(body, tmp_path / "home", repo.root, number) for number in range(4)]
    assert [process.communicate()[1] for process in running] == [""] * 4
    assert kept(hub, repo) == (200, 200)


@pytest.mark.skipif(os.name == "nt", reason="no SIGKILL")
def test_an_index_that_was_killed_goes_on(repo: GitRepository, hub: Hub, tmp_path: Path) -> None:
    for number in range(130):
        repo.write("app.py", f"def send():\n    return {number}\n")
        repo.commit(f"change {number}")
    body = """
        def progress(done, total):
            print(done, flush=True)
            if done < total:
                sys.stdin.read()

        hub.indexing.index(hub.scopes.resolve(Caller(source="t", cwd=Path(root))), progress=progress)
    """
    script = textwrap.dedent(WORK) + textwrap.dedent(body)
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "home"), str(repo.root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    done = int(process.stdout.readline())
    process.send_signal(signal.SIGKILL)
    process.communicate()
    report = hub.indexing.index(hub.scopes.resolve(caller(repo)))
    assert 0 < done < 131
    assert (report.added, report.total, report.complete) == (131 - done, 131, True)
