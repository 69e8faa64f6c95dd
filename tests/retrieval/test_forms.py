"""Dialogue, code and prose are told apart."""

import pytest

from memhub_mcp.domain.memory import Kind
from memhub_mcp.retrieval.forms import Form, form_of


@pytest.mark.parametrize(
    "text",
    [
        "def retry(n):\n    return n + 1",
        "@app.route('/x')\nasync def show(request):\n    pass",
        "export default function App() {\n  return null;\n}",
        "func (s *Server) Close() error {\n\treturn nil\n}",
        "public static void main(String[] args) {\n}",
        "x = load()\nfor y in x:\n    print(y)",
        "const run = async () => {\n  await go();\n};",
    ],
)
def test_code_is_code(text: str) -> None:
    assert form_of(Kind.FACT, text) is Form.CODE


@pytest.mark.parametrize(
    "text",
    [
        "Deploys go through the blue-green script zirconium-7",
        "class of 2020 was (good)\nand more of it",
        "def is a keyword (in python)",
        "- first step\n- second: run it\n- third",
        "",
    ],
)
def test_prose_is_text(text: str) -> None:
    assert form_of(Kind.DECISION, text) is Form.TEXT


def test_a_turn_is_dialogue_whatever_it_says() -> None:
    assert form_of(Kind.TURN, "def retry(n):\n    return n") is Form.DIALOGUE


def test_a_diff_is_no_code() -> None:
    text = "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-def a():\n+def b():"
    assert form_of(Kind.FACT, text) is Form.DIFF
