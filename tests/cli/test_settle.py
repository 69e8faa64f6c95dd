"""Sessions are remembered for someone who has hooks and the command line, and never a server."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from tests.cli.conftest import SCRIPT, Memhub
from tests.support.transcript_lines import Claude, write_lines

from memhub_mcp.capture import spool

pytestmark = pytest.mark.usefixtures("words_alone")
PATIENCE = 60


@pytest.fixture
def end(environment: dict[str, str], home: Path, project: Path, tmp_path: Path):
    """A session of so many characters ends, as its hook reports it."""

    def run(session: str, asked: str, length: int) -> None:
        claude = Claude(session, cwd=project.as_posix())
        lines = [claude.person(asked), claude.says("word " * (length // 5), "m1"), claude.says("It is done.", "m2")]
        file = write_lines(tmp_path / f"{session}.jsonl", *lines)
        payload = {"session_id": session, "cwd": str(project), "transcript_path": str(file), "reason": "exit"}
        subprocess.run(
            [SCRIPT, "hook", "claude-code", "session-end", "--home", home],
            env=environment,
            input=json.dumps(payload).encode(),
            check=True,
        )

    return run


def test_a_short_session_is_there_with_the_next_question(memhub: Memhub, home: Path, project: Path, end) -> None:
    end("s1", "let the zeppelin land softly", 1_000)
    assert "zeppelin" in memhub("recall", "how does the zeppelin land", cwd=project).stdout
    assert spool.pending(home) == []
    assert not (home / "run" / "settling").exists()


def test_a_long_session_is_remembered_while_nobody_waits(memhub: Memhub, home: Path, project: Path, end) -> None:
    end("s1", "let the zeppelin land softly", 2_000_000)
    assert "zeppelin" not in memhub("recall", "how does the zeppelin land", cwd=project).stdout
    for _ in range(PATIENCE):
        if not spool.pending(home):
            break
        memhub("status", cwd=project)
    assert "zeppelin" in memhub("recall", "how does the zeppelin land", cwd=project).stdout
    found = json.loads(memhub("list", "--kinds", "summary", "--json", cwd=project).stdout)
    assert len(found["hits"]) == 1


def test_a_clock_that_was_put_back_delays_nothing(memhub: Memhub, home: Path, project: Path, end) -> None:
    end("s1", "let the zeppelin land softly", 2_000_000)
    marker = home / "run" / "settling"
    marker.parent.mkdir(exist_ok=True)
    marker.touch()
    year_2100 = 4_102_444_800
    os.utime(marker, (year_2100, year_2100))
    memhub("recall", "zeppelin", cwd=project)
    for _ in range(PATIENCE):
        if not spool.pending(home):
            break
        memhub("status", cwd=project)
    assert spool.pending(home) == []


def test_where_it_failed_it_is_not_tried_with_every_command(memhub: Memhub, home: Path, project: Path, end) -> None:
    end("s1", "let the zeppelin land softly", 2_000_000)
    marker = home / "run" / "settling"
    marker.parent.mkdir(exist_ok=True)
    marker.touch()  # as one that was killed leaves it
    begun = marker.stat().st_mtime_ns
    memhub("recall", "zeppelin", cwd=project)
    assert marker.stat().st_mtime_ns == begun
    assert len(spool.pending(home)) == 1
    memhub("init", cwd=project)  # takes the time
    assert spool.pending(home) == []
