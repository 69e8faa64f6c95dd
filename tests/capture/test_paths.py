"""A path in a transcript becomes one of the repository, or none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhub_mcp.capture.paths import path_within


@pytest.mark.parametrize(
    ("folder", "path", "within"),
    [
        ("/home/me/app", "/home/me/app/src/a.py", "src/a.py"),
        ("/home/me/app/", "/home/me/app/a b/ü.py", "a b/ü.py"),
        ("/home/me/app", "src/./a.py", "src/a.py"),
        ("/home/me/app", "/home/me/app/x/../a.py", "a.py"),
        ("C:\\Users\\me\\app", "c:\\Users\\me\\app\\src\\a.py", "src/a.py"),
        ("C:/app", "C:\\app\\a.py", "a.py"),
        ("/c:/app", "C:\\app\\a.py", "a.py"),
        (None, "src/a.py", "src/a.py"),
        ("/", "/etc/passwd", "etc/passwd"),
        ("/home/me/app", "/home/me/application/a.py", None),
        ("/home/me/app", "/etc/passwd", None),
        ("/home/me/app", "/home/me/app/../../x", None),
        ("/home/me/app", "../x", None),
        ("/home/me/app", "/home/me/app", None),
        ("/home/me/app", ".", None),
        (None, "/home/me/a.py", None),
        ("app", "/app/a.py", None),
        ("C:\\app", "D:\\app\\a.py", None),
    ],
)
def test_a_path_is_told_from_its_folder(folder: str | None, path: str, within: str | None) -> None:
    assert path_within(folder, path) == within


@given(st.text(st.sampled_from("ab./\\:C"), max_size=12), st.text(st.sampled_from("ab./\\:C"), max_size=16))
def test_no_path_leads_out_of_its_folder(folder: str, path: str) -> None:
    within = path_within(folder, path)
    assert within is None or not (within.startswith(("/", "../")) or within == "..")
