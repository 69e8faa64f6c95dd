"""What in a file of memories is the person's, and what is not."""

import pytest

from memhub_mcp.capture.memory_files import MOST_LINES, read_memory_file, text_of_file
from memhub_mcp.errors import InvalidInput


def texts(text: str, *, is_note: bool = False) -> list[str]:
    return [passage.text for passage in read_memory_file(text, is_note=is_note).passages]


@pytest.mark.parametrize(
    ("begin", "end"),
    [
        ("memhub:begin", "memhub:end"),
        ("nx configuration start", "nx configuration end"),
        ("BEGIN:framework-rules", "END:framework-rules"),
        ("OPENSPEC:START", "OPENSPEC:END"),
        ("tool-instructions v2", "/tool-instructions"),
        ("START toc generated, keep this comment", "END toc generated, keep this comment"),
    ],
)
def test_blocks_that_tools_wrote_are_left_out(begin: str, end: str) -> None:
    text = f"Before.\n\n<!-- {begin} -->\n## Theirs\n\nTheir text.\n<!-- {end} -->\n\n## Ours\n\nAfter.\n"
    read = read_memory_file(text)
    assert [(passage.text, passage.line) for passage in read.passages] == [("Before.", 1), ("After.", 11)]
    assert read.generated == ("memhub" not in begin)


def test_comments_that_name_nothing_or_stand_in_code_take_nothing_along() -> None:
    assert texts("<!-- start -->\nKept.\n<!-- end -->\n") == ["Kept."]
    assert texts("<!-- TODO: more -->\nKept.\n<!-- the end of build -->\n") == ["Kept."]
    fenced = "```md\n<!-- x:begin -->\nshown\n<!-- x:end -->\n```"
    assert texts(fenced) == [fenced]


def test_what_was_told_to_a_model_is_left_out() -> None:
    told = "<memhub-evidence>\nold\n</memhub-evidence>\nMine.\n<system-reminder>\nnote\n</system-reminder>\n"
    assert [(passage.text, passage.line) for passage in read_memory_file(told).passages] == [("Mine.", 4)]


def test_the_head_of_a_rule_says_when_it_matters() -> None:
    read = read_memory_file(
        "---\ndescription: Rules for the API\nglobs: src/api/**/*.ts,*.tsx\nalwaysApply: false\n---\nUse zod.\n"
    )
    assert (read.description, read.paths) == ("Rules for the API", ("src/api/**/*.ts", "*.tsx"))
    assert [(passage.text, passage.line) for passage in read.passages] == [("Use zod.", 6)]
    listed = read_memory_file('---\npaths:\n  - "src/**/*.py"\n  - tests/**\n---\nx\n')
    assert listed.paths == ("src/**/*.py", "tests/**")


def test_a_note_of_an_assistant_is_one_memory_and_its_index_none() -> None:
    head = "---\nname: retry-limit\ndescription: why five\nmetadata:\n  type: feedback\n---\n"
    read = read_memory_file(f"{head}\nFive.\n\n## Why\n\nThe gateway.\n", is_note=True)
    assert (read.sort, read.description) == ("feedback", "why five")
    assert [(passage.text, passage.line) for passage in read.passages] == [("Five.\n\n## Why\n\nThe gateway.", 8)]
    assert texts("- [Retry limit](retry-limit.md) — why five\n- The port is 4000.\n", is_note=True) == [
        "- The port is 4000."
    ]


@pytest.mark.parametrize(
    "noise",
    [
        "[![CI](https://ci.example/a.svg)](https://ci.example) ![cov](https://cov.example/b.svg)",
        "This file provides guidance to Claude Code (claude.ai/code) when working with code in this repository.",
        "1. [Build](#build)\n   - [Fast](#fast)\n2. [測試](#測試)",
    ],
)
def test_what_says_nothing_is_no_memory(noise: str) -> None:
    assert texts(f"# Shop\n\n{noise}\n\n## Build\n\nSee [the guide](#guide) ![shot](a.png).\n") == [
        "See [the guide](#guide) ![shot](a.png)."
    ]


def test_a_link_that_was_checked_out_as_text_leads_to_its_file() -> None:
    read = read_memory_file("AGENTS.md")
    assert (read.imports, read.passages) == (("AGENTS.md",), ())
    assert texts("See AGENTS.md\n") == ["See AGENTS.md"]


def test_imports_are_found_outside_of_code_and_say_nothing_themselves() -> None:
    text = "@AGENTS.md\n\n## More\n\nSee @docs/git.md, and mail ann@example.org.\n\n`@no.md`\n\n```\n@neither.md\n```\n"
    read = read_memory_file(text)
    assert read.imports == ("AGENTS.md", "docs/git.md")
    assert len(read.passages) == 1


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\x89PNG\0\0", "NUL"),
        (b"caf\xe9\n", "not UTF-8"),
        (b"\xff\xfeab\xd8", "not UTF-16"),
        (b"x\n" * (MOST_LINES + 1), "lines"),
    ],
)
def test_what_is_no_text_is_refused_in_a_sentence(data: bytes, why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        text_of_file(data)


@pytest.mark.parametrize("data", ["\ufeffå\r\nb\r\n".encode(), "å\nb\n".encode("utf-16"), "å\rb\n".encode()])
def test_marks_and_line_ends_of_any_system_are_read(data: bytes) -> None:
    assert text_of_file(data) == "å\nb\n"
