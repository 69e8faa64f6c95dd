"""The scope of a call in a large repository: many commits, many branches, each with memories."""

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from benches.measuring import Laps
from memhub_mcp.domain.clock import system_clock
from memhub_mcp.domain.memory import Draft
from memhub_mcp.domain.scope import Caller, Tier
from memhub_mcp.service.scope import Scope, Scopes
from memhub_mcp.service.stores import Stores
from memhub_mcp.settings import Settings
from memhub_mcp.store.file import Store
from memhub_mcp.store.workspaces import Workspaces

COMMITS, BRANCHES, MEMORIES = 100_000, 500, 10_000
CALLS = 50
OWN_COMMITS = 4
MOVED = 100


def measure(args: object) -> list[dict[str, object]]:
    """First look, a call when nothing changed, after HEAD moved, after a checkout, and what a call waits at most."""
    commits = getattr(args, "commits", COMMITS)
    branches = getattr(args, "branches", BRANCHES)
    memories = getattr(args, "memories", MEMORIES)
    with TemporaryDirectory(prefix="memhub-bench-") as folder:
        root = Path(folder) / "repository"
        _build(root, commits, branches)
        with _scopes(Path(folder), root, patience_s=600.0) as scopes:
            first = scopes.resolve(Caller(source="bench"))
            if first.store is None:
                raise SystemExit("the bench repository has no store")
            _fill(first.store, root, branches, memories)
            rows = [_row("first look, in the background", lambda: _call(scopes))]
            warm = Laps()
            for _ in range(CALLS):
                warm.time(lambda: _call(scopes))
            rows.append({"what": "a call, nothing changed", **warm.row(), "aim ms": 20})
            _commit(root, MOVED)
            rows.append(_row(f"after {MOVED} commits", lambda: _call(scopes), aim_ms=200))
            _git(root, "checkout", "-q", "-f", "feat7")
            rows.append(_row("after a checkout of a branch", lambda: _call(scopes)))
        with _scopes(Path(folder), root, patience_s=600.0) as scopes:
            rows.append(_row("the first call of the next process", lambda: _call(scopes)))
        _git(root, "checkout", "-q", "-f", "main")
        _commit(root, 40 * MOVED)
        with _scopes(Path(folder), root) as scopes:
            rows.append(_row(f"after {40 * MOVED} commits, as long as a call waits", lambda: _call(scopes), aim_ms=400))
    return rows


def _call(scopes: Scopes) -> Scope:
    scope = scopes.resolve(Caller(source="bench"))
    scope.reply()
    return scope


def _row(what: str, call: Callable[[], object], *, aim_ms: int | None = None) -> dict[str, object]:
    laps = Laps()
    laps.time(call)
    return {"what": what, **laps.row(), **({"aim ms": aim_ms} if aim_ms else {})}


@contextmanager
def _scopes(folder: Path, root: Path, **options: float) -> Iterator[Scopes]:
    settings = Settings(home=folder / "home", cwd=root, person_home=folder / "nobody")
    registry, stores = Workspaces(settings.home, system_clock), Stores(settings.home, system_clock)
    scopes = Scopes(settings=settings, registry=registry, stores=stores, **options)
    try:
        yield scopes
    finally:
        scopes.close()
        stores.close()
        registry.close()


def _build(root: Path, commits: int, branches: int) -> None:
    """One long main, and branches of a few commits that left it in its last third."""
    _git(root.parent, "init", "-q", "-b", "main", str(root))
    stream = subprocess.Popen(["git", "fast-import", "--quiet"], cwd=root, stdin=subprocess.PIPE)
    assert stream.stdin is not None
    for number in range(commits):
        path = f"src/d{number % 50}/f{(number * 7) % 400}.py"
        stream.stdin.write(_entry("main", number + 1, number, path, f"line {number}\n" * 20))
    mark = commits
    for branch in range(branches):
        base = commits - (branch * 37) % max(1, commits // 3)
        for step in range(OWN_COMMITS):
            mark += 1
            content = f"branch {branch} {step}\n" * 5
            entry = _entry(f"feat{branch}", mark, mark, f"src/b{branch}/x{step}.py", content, base if not step else 0)
            stream.stdin.write(entry)
    stream.stdin.close()
    stream.wait()
    _git(root, "checkout", "-q", "-f", "main")
    _git(root, "pack-refs", "--all")


def _entry(branch: str, mark: int, minute: int, path: str, content: str, base: int = 0) -> bytes:
    head = f"commit refs/heads/{branch}\nmark :{mark}\ncommitter A <a@b> {1_600_000_000 + 60 * minute} +0000\n"
    left = f"from :{base}\n" if base else ""
    return f"{head}data 6\nchange\n{left}M 644 inline {path}\ndata {len(content)}\n{content}\n".encode()


def _fill(store: Store, root: Path, branches: int, memories: int) -> None:
    anchors: dict[str, list[int]] = {}
    with store.write() as tx:
        for number in range(memories):
            branch = f"feat{number % branches}"
            if number < branches:
                own = _git(root, "rev-list", f"--max-count={OWN_COMMITS}", branch).split()
                anchors[branch] = [store.anchors.ensure(tx, branch, commit, None) for commit in own]
            store.memories.add(
                tx,
                Draft(text=f"memory {number}"),
                id=f"m_{number:012}",
                tier=Tier.BRANCH,
                branch=branch,
                anchor=anchors[branch][(number // branches) % OWN_COMMITS],
                commit=None,
                source="bench",
                session=None,
                origin_workspace=None,
                content_key=str(number).encode(),
                subject_key=None,
                now=system_clock(),
                redaction=1,
            )


def _commit(root: Path, count: int) -> None:
    """`count` further commits on the checked out branch, without a working tree."""
    branch = _git(root, "symbolic-ref", "--short", "HEAD").strip()
    tip = _git(root, "rev-parse", branch).strip()
    stream = subprocess.Popen(["git", "fast-import", "--quiet", "--force"], cwd=root, stdin=subprocess.PIPE)
    assert stream.stdin is not None
    now = int(time.time())
    for number in range(count):
        head = f"commit refs/heads/{branch}\ncommitter A <a@b> {now + number} +0000\ndata 6\nchange\n"
        left = f"from {tip}\n" if not number else ""
        content = f"further {now} {number}\n"
        stream.stdin.write(f"{head}{left}M 644 inline src/d1/new.py\ndata {len(content)}\n{content}\n".encode())
    stream.stdin.close()
    stream.wait()
    _git(root, "reset", "-q", "--hard")


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout
