"""History read by the git executable, for formats libgit2 does not know (sha256 objects, reftable).

Only plumbing that runs nothing of the repository: no hooks, filters, pagers, external diffs, or transports.
"""

import os
import subprocess
from collections.abc import Collection, Iterable
from pathlib import Path

from memhub_mcp.errors import RepoError
from memhub_mcp.repo.config import read_config
from memhub_mcp.repo.layout import Layout

_TIMEOUT_S = 20.0
_MOST_PATHS = 2_000
_HEADS, _REMOTES = "refs/heads/", "refs/remotes/"
_SAFE = (
    "--no-pager",
    "--no-replace-objects",
    "--no-optional-locks",
    "-c",
    "core.fsmonitor=false",
    "-c",
    f"core.hooksPath={os.devnull}",
    "-c",
    "core.commitGraph=false",
    "-c",
    "diff.external=",
    "-c",
    "gpg.program=false",
)


class GitHistory:
    """History as `git` tells it. The questions are those of `history.History`."""

    def __init__(self, layout: Layout, command: str) -> None:
        self._command = (command, *_SAFE)
        self._environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "GIT_DIR": str(layout.git_dir),
            "GIT_COMMON_DIR": str(layout.common_dir),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ALLOW_PROTOCOL": "none",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "LC_ALL": "C",
        }
        self._folder = layout.git_dir

    @staticmethod
    def can_read(layout: Layout) -> bool:
        """Whether only the format keeps libgit2 out of this repository, which must be ours."""
        if layout.limited is not None or not _is_ours(layout.git_dir) or not _is_ours(layout.common_dir):
            return False
        config = read_config(layout.common_dir / "config")
        if "include.path" in config or any(key.startswith("includeif.") for key in config):
            return False
        return (
            config.get("extensions.objectformat", "sha1").lower() == "sha256"
            or config.get("extensions.refstorage", "files").lower() == "reftable"
        )

    def symbolic(self, reference: str) -> str | None:
        return self._line("symbolic-ref", "-q", reference)

    def tip(self, reference: str) -> str | None:
        return self._line("rev-parse", "-q", "--verify", f"{reference}^{{commit}}")

    def tips(self) -> dict[str, str]:
        listed = self._run("for-each-ref", "--format=%(refname) %(objectname) %(symref)", _HEADS, _REMOTES)
        lines = [line.split(" ") for line in (listed or "").splitlines()]
        return {name: commit for name, commit, symbolic in lines if not symbolic}

    def holds(self, commit: str) -> bool:
        return self._run("cat-file", "-e", f"{commit}^{{commit}}") is not None

    def is_ancestor(self, commit: str, of: str) -> bool:
        return commit == of or self._run("merge-base", "--is-ancestor", commit, of) is not None

    def merge_base(self, commits: Collection[str]) -> str | None:
        present = [commit for commit in commits if self.holds(commit)]
        if len(present) < 2:
            return present[0] if present else None
        return self._line("merge-base", "--octopus", *present)

    def walk(
        self, tips: Iterable[str], hidden: Iterable[str] = (), *, first_parent: bool = False, limit: int | None = None
    ) -> list[str]:
        present = [commit for commit in tips if self.holds(commit)]
        if not present:
            return []
        options = [*(["--first-parent"] if first_parent else []), *([f"--max-count={limit}"] if limit else [])]
        without = [f"^{commit}" for commit in hidden if self.holds(commit)]
        return self._must("rev-list", "--topo-order", *options, *present, *without).split()

    def first(self, tip: str) -> str:
        return self._must("rev-list", "--first-parent", tip).split()[-1]

    def parents(self, commit: str) -> tuple[str, ...]:
        return tuple(self._must("rev-list", "--parents", "--max-count=1", commit).split()[1:])

    def patch_id(self, base: str | None, commit: str) -> str | None:
        changed = self.changed(base, commit)
        if not changed:
            return None
        arguments = ("-p", "-U0", "--full-index", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color")
        patch = self._output("diff-tree", "-r", *arguments, *self._between(base, commit))
        done = self._output("patch-id", "--stable", given=patch) if patch else None
        return done.split()[0].decode("ascii") if done else None

    def changed(self, base: str | None, commit: str) -> dict[str, str | None] | None:
        listed = self._run("diff-tree", "-r", "-z", "--no-renames", *self._between(base, commit))
        fields = [field for field in (listed or "").split("\0") if field]
        if len(fields) > 2 * _MOST_PATHS:
            return None
        found: dict[str, str | None] = {}
        for facts, path in zip(fields[::2], fields[1::2], strict=True):
            _, _, _, blob, status = facts.split(" ")
            found[path] = None if status == "D" else blob
        return found

    def blob(self, commit: str, path: str) -> str | None:
        listed = self._run("ls-tree", "-z", commit, "--", f":(literal){path}")
        return listed.split("\t")[0].split(" ")[2] if listed else None

    def _between(self, base: str | None, commit: str) -> tuple[str, ...]:
        if base is not None:
            return (base, commit)
        empty = self._must("hash-object", "-t", "tree", os.devnull).strip()
        return (empty, f"{commit}^{{tree}}")

    def _line(self, *arguments: str) -> str | None:
        return (self._run(*arguments) or "").strip() or None

    def _must(self, *arguments: str) -> str:
        found = self._run(*arguments)
        if found is None:
            raise RepoError(f"git {arguments[0]} failed")
        return found

    def _run(self, *arguments: str) -> str | None:
        output = self._output(*arguments)
        return None if output is None else output.decode("utf-8", "backslashreplace")

    def _output(self, *arguments: str, given: bytes = b"") -> bytes | None:
        """What git prints; None when it says no."""
        try:
            done = subprocess.run(
                [*self._command, *arguments],
                cwd=self._folder,
                env=self._environment,
                input=given,
                capture_output=True,
                timeout=_TIMEOUT_S,
                check=False,
            )
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            raise RepoError(f"git {arguments[0]} failed ({type(error).__name__})") from error
        return done.stdout if done.returncode == 0 else None


def _is_ours(folder: Path) -> bool:
    """git does not ask who owns a repository that is named to it, so we do."""
    return not hasattr(os, "geteuid") or folder.stat().st_uid == os.geteuid()
