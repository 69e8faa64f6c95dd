"""A desk for the real assistants, and models that follow a script."""

import pytest
from desk import Desk
from git_repository import GitRepository
from scripted_models import ScriptedModel


@pytest.fixture
def desk(tmp_path):
    (tmp_path / "person").mkdir()
    repository = GitRepository.create(tmp_path / "project")
    repository.commit("Begin with a timeout of five", {"app.py": "TIMEOUT = 5\n"})
    return Desk(tmp_path / "person", repository.root, tmp_path / "memhub")


@pytest.fixture
def model():
    """Starts a model that takes these steps."""
    models = []

    def follow(steps, agents=None):
        models.append(ScriptedModel(steps, agents))
        return models[-1]

    yield follow
    for scripted in models:
        scripted.close()
