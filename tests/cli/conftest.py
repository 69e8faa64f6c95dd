"""The installed script, as a person starts it."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from git_repository import GitRepository

SCRIPT = Path(sys.executable).parent / ("memhub-mcp.exe" if os.name == "nt" else "memhub-mcp")

Memhub = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A person of their own: nothing of this machine's configuration is seen or touched."""
    person = tmp_path / "person"
    person.mkdir()
    return {
        "HOME": str(person),
        "USERPROFILE": str(person),
        "MEMHUB_HOME": str(tmp_path / "memhub"),
        "PATH": os.defpath,
        "SYSTEMROOT": os.environ.get("SYSTEMROOT", ""),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
    }


@pytest.fixture
def memhub(environment: dict[str, str], tmp_path: Path) -> Memhub:
    """Runs one command; `stdin` is text, nothing is a terminal."""

    def run(*words: str, cwd: Path = tmp_path, stdin: str = "", **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(SCRIPT), *words],
            cwd=cwd,
            env={**environment, **more},
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )

    return run


@pytest.fixture
def words_alone(tmp_path: Path) -> None:
    """No model is loaded, where meaning is not the point."""
    (tmp_path / "memhub").mkdir(mode=0o700)
    (tmp_path / "memhub" / "config.toml").write_text('embedder = "off"\n')


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The data directory of `memhub`."""
    return tmp_path / "memhub"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with one commit and one file."""
    repository = GitRepository.create(tmp_path / "project")
    repository.commit("first", {"app.py": "TIMEOUT = 5\n"})
    return repository.root
