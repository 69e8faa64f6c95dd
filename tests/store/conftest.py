"""A fresh store in a temporary data directory."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from store_steps import HandClock, open_store

from memhub_mcp.store.file import Store


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def store(home: Path, clock: HandClock) -> Iterator[Store]:
    opened = open_store(home, clock)
    yield opened
    opened.close()
