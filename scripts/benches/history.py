"""Chains of blocks, from the index and without it, beside git's own line log; and a drained edit."""

import subprocess
import time
from argparse import Namespace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from benches.measuring import Laps
from memhub_mcp.bootstrap import open_hub
from memhub_mcp.capture import spool
from memhub_mcp.domain.scope import Caller
from memhub_mcp.settings import Settings

PLACES = 20
EDITS = 50
CODE = ("*.py", "*.go", "*.js", "*.ts", "*.java", "*.rs", "*.c", "*.cc", "*.cpp", "*.h", "*.rb", "*.php", "*.swift")


def measure(args: Namespace) -> list[dict[str, object]]:
    """code_history by line for the middle of the largest source files of `args.repo`."""
    repo: Path = args.repo.resolve()
    places = _places(repo)
    with TemporaryDirectory(prefix="memhub-bench-") as folder:
        settings = Settings(home=Path(folder) / "home", cwd=repo, person_home=Path(folder), embedder="off")
        caller = Caller(source="bench", cwd=repo)
        git, bare, indexed, drained = Laps(), Laps(), Laps(), Laps()
        hub = open_hub(settings)
        try:
            for path, line in places:
                git.time(lambda path=path, line=line: _git(repo, "log", f"-L{line},{line + 10}:{path}", "HEAD"))
                bare.time(lambda path=path, line=line: hub.history.code_history(caller, path=path, line=line))
            started = time.perf_counter()
            report = hub.indexing.index(hub.scopes.resolve(caller))
            index_s = time.perf_counter() - started
            hub.history.code_history(caller, path=places[0][0], line=places[0][1])
            for path, line in places:
                indexed.time(lambda path=path, line=line: hub.history.code_history(caller, path=path, line=line))
            for number in range(EDITS):
                spool.write(settings.home, _edit(repo, places[0][0], number))
                drained.time(hub.maintenance.drain)
        finally:
            hub.close()
    rows = [("git log -L", git), ("chain without an index", bare), ("chain from the index", indexed)]
    return [
        *({"what": what, **laps.row(), "× git log -L": round(laps.p50_ms / git.p50_ms, 2)} for what, laps in rows),
        {"what": "drained edit", **drained.row()},
        {"what": f"index, {report.total} commits", "commits/s": round(report.added / index_s)},
    ]


def _places(repo: Path) -> list[tuple[str, int]]:
    names = _git(repo, "ls-files", "-z", "--", *CODE).decode().split("\0")
    sizes = {name: (repo / name).stat().st_size for name in names if name and (repo / name).is_file()}
    largest = sorted((name for name, size in sizes.items() if size < 1 << 20), key=lambda name: -sizes[name])[:PLACES]
    return [(name, max(1, (repo / name).read_bytes().count(b"\n") // 2)) for name in largest]


def _edit(repo: Path, path: str, number: int) -> dict[str, object]:
    return {
        "event": "edit",
        "tool": "Edit",
        "path": str(repo / path),
        "source": "bench",
        "session": "bench",
        "tool_call": f"call-{number}",
        "time": datetime.now(UTC).isoformat(),
        "kind": "modify",
        "ordinal": 0,
        "cwd": str(repo),
        "old_text": "x",
        "new_text": f"y{number}",
    }


def _git(repo: Path, *words: str) -> bytes:
    return subprocess.run(["git", "-C", str(repo), *words], check=True, capture_output=True).stdout
