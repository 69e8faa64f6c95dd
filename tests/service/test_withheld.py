"""What git ignores, what `.memhubignore` names and what holds secrets by its name is not kept."""

from pathlib import Path

import pytest
from git_repository import GitRepository

from memhub_mcp.capture.withheld import Withheld
from memhub_mcp.repo.checkout import read_checkout
from memhub_mcp.service.withheld import withheld_in


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    return GitRepository.create(tmp_path / "shop")


def withheld(repository: GitRepository) -> Withheld:
    checkout = read_checkout(repository.root)
    assert checkout is not None
    return withheld_in(checkout)


def test_each_of_the_files_that_say_so_counts(repository: GitRepository) -> None:
    repository.write(".gitignore", "build/\n*.log\n!keep.log\n")
    repository.write("web/.gitignore", "/dist\n")
    repository.write(".memhubignore", "notes/private.md\n")
    repository.write(".git/info/exclude", "scratch*\n")
    rules = withheld(repository)
    hidden = ["build/a.o", "web/x.log", "web/dist/a.js", "notes/private.md", "src/scratch.py", ".env", "a/id_rsa"]
    assert [path for path in hidden if not rules.holds(path)] == []
    kept = ["src/app.py", "keep.log", "dist/a.js", "notes/public.md", "web/app/dist/a.js"]
    assert [path for path in kept if rules.holds(path)] == []


def test_rules_outside_the_repository_are_not_read(repository: GitRepository, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / ".gitignore").write_text("*\n")
    (repository.root / "link").symlink_to(tmp_path / "elsewhere")
    (repository.root / ".gitignore").symlink_to(tmp_path / "elsewhere" / ".gitignore")
    assert not withheld(repository).holds("link/app.py")


def test_a_repository_without_rules_keeps_everything(repository: GitRepository) -> None:
    assert not withheld(repository).holds("src/app.py")
