"""`.memhubignore` means what the same lines mean in a `.gitignore`."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memhub_mcp.capture.ignore_rules import IgnoreRules

LINES = [
    *("*.py", "/a", "a/", "docs/*", "docs/**", "**/x.py", "a/b", "!a/x.py", "!*.py", "a/**/b", "?", "[ab]", "[!a]"),
    *("# note", "\\#c", "a*", "*", "!docs/", "/*", "!/a", "docs/a/**", "*.txt  ", "**", "**/b/**", "", "[z-a]"),
]
rules = st.lists(st.sampled_from(LINES), min_size=1, max_size=5)
names = st.sampled_from(["a", "b", "ab", "x.py", "y.py", "docs", "secret.txt", "#c"])
paths = st.lists(st.lists(names, min_size=1, max_size=4).map("/".join), min_size=1, max_size=8)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", root], check=True)
    return root


@given(rules, paths)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_rules_name_the_paths_that_git_would_ignore(repository: Path, rules: list[str], paths: list[str]) -> None:
    (repository / ".gitignore").write_text("\n".join(rules) + "\n", encoding="utf-8")
    asked = subprocess.run(
        ["git", "-C", repository, "check-ignore", "--no-index", "-z", "--stdin"],
        input="\0".join(paths) + "\0",
        capture_output=True,
        text=True,
        check=False,
    )
    found = IgnoreRules(rules)
    assert {path for path in paths if found.ignores(path)} == set(asked.stdout.split("\0")) - {""}


def test_rules_made_to_be_slow_are_not() -> None:
    assert not IgnoreRules(["*a" * 240 + "b"]).ignores("a" * 4000)
    assert not IgnoreRules(["**/a/" * 100 + "b"] * 500).ignores("a/" * 1000 + "c")
