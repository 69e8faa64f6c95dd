"""What the tests of the use cases stand on."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from git_steps import Git, git_init
from hubs import Desk, desk_in


@pytest.fixture
def repository(tmp_path: Path) -> Git:
    """A repository with one commit on main."""
    git = git_init(tmp_path / "shop")
    git.commit("start the shop", app__py="retries = 5\n")
    return git


@pytest.fixture
def desk(repository: Git) -> Iterator[Desk]:
    """An assistant in that repository."""
    with desk_in(repository.root) as desk:
        yield desk
