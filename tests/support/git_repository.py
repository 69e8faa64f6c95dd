"""Real git repositories for tests, made with the git command, deaf to the machine's configuration."""

import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

_START = 1_700_000_000


_ENVIRONMENT = {
    **{key: value for key, value in os.environ.items() if not key.startswith("GIT_")},
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
    "GIT_EDITOR": "true",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ALLOW_PROTOCOL": "file",
}


def run_git(
    folder: Path, *arguments: str | bytes, at: int, given: bytes = b"", check: bool = True, **environment: str
) -> bytes:
    """The output of `git <arguments>` in `folder`; a commit made by it is of the second `at`."""
    stamps = {"GIT_AUTHOR_DATE": f"{at} +0000", "GIT_COMMITTER_DATE": f"{at} +0000"}
    env = {**_ENVIRONMENT, **stamps, **environment}
    done = subprocess.run(["git", *arguments], cwd=folder, env=env, input=given, capture_output=True, check=False)
    if check and done.returncode:
        raise AssertionError(f"git {arguments}: {done.stderr.decode('utf-8', 'replace')}")
    return done.stdout


@dataclass
class GitRepository:
    """A repository under `root`. Each commit is a minute later than the one before."""

    root: Path
    _minute: int = field(default=0)

    @classmethod
    def create(cls, root: Path, branch: str = "main") -> "GitRepository":
        root.mkdir(parents=True, exist_ok=True)
        repository = cls(root)
        repository.git("init", "-q", "-b", branch)
        return repository

    def git(self, *arguments: str | bytes, check: bool = True, **environment: str) -> str:
        """The output of one git command."""
        done = run_git(self.root, *arguments, at=_START + 60 * self._minute, check=check, **environment)
        return done.decode("utf-8", "replace").strip()

    def write(self, path: str, content: str | bytes) -> Path:
        """Writes a file of the working tree."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return file

    def commit(self, message: str = "change", files: dict[str, str | bytes | None] | None = None) -> str:
        """Writes `files` (None removes one), commits everything, answers the new commit."""
        for path, content in (files or {}).items():
            if content is None:
                (self.root / path).unlink()
            else:
                self.write(path, content)
        self._minute += 1
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "--allow-empty-message", "-m", message)
        return self.head()

    def merge(self, branch: str, message: str = "merge") -> bool:
        """Merges without fast-forward; False when there are conflicts, which then wait to be resolved."""
        self._minute += 1
        self.git("merge", "-q", "--no-ff", "-m", message, branch, check=False)
        return not self.git("ls-files", "-u")

    def head(self, revision: str = "HEAD") -> str:
        """The full id of a commit."""
        return self.git("rev-parse", f"{revision}^{{commit}}")
