"""Indexing the commits of a repository for the first time."""

import os
import subprocess
import sys
import time
from argparse import Namespace
from pathlib import Path
from tempfile import TemporaryDirectory


def measure(args: Namespace) -> list[dict[str, object]]:
    """`memhub-mcp init` on a fresh data directory, beside `git log -p` over the same commits."""
    count = int(_git(args.repo, "rev-list", "--count", "HEAD"))
    started = time.perf_counter()
    _git(args.repo, "log", "-p", "-M", "--format=%H")
    git_s = time.perf_counter() - started
    with TemporaryDirectory(prefix="memhub-bench-") as folder:
        command = [str(Path(sys.executable).parent / "memhub-mcp"), "init", "--home", str(Path(folder) / "home")]
        started = time.perf_counter()
        peak_mb = _peak_mb(command, args.repo)
        seconds = time.perf_counter() - started
    return [
        {
            "commits": count,
            "init s": round(seconds, 1),
            "commits/s": round(count / seconds),
            "git log -p s": round(git_s, 1),
            "× git log -p": round(seconds / git_s, 1),
            "peak RSS MB": peak_mb,
        }
    ]


def _peak_mb(command: list[str], cwd: Path) -> int:
    process = subprocess.Popen(command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError(f"{' '.join(command)} ended with {status}")
    return round(usage.ru_maxrss / 1024)


def _git(repo: Path, *words: str) -> bytes:
    return subprocess.run(["git", "-C", str(repo), *words], check=True, capture_output=True).stdout
