"""Markdown as passages: findable parts, nothing cut."""

import re

from hypothesis import given
from hypothesis import strategies as st

from memhub_mcp.capture.markdown import SHORT_CHARACTERS, passages_of


def test_each_section_is_a_passage_under_its_headings() -> None:
    text = "# Shop\n\nWhat it is.\n\n## Build\n\nRun make.\n\n### Fast\n\nRun make -j.\n\nSetup\n-----\n\n- a\n- b\n"
    found = [(passage.headings, passage.text, passage.line) for passage in passages_of(text)]
    assert found == [
        (("Shop",), "What it is.", 3),
        (("Build",), "Run make.", 7),
        (("Build", "Fast"), "Run make -j.", 11),
        (("Setup",), "- a\n- b", 16),
    ]


def test_a_comment_in_code_is_no_heading() -> None:
    (passage,) = passages_of("## Run\n\n```sh\n# not a heading\nmake\n```\n")
    assert passage.text == "```sh\n# not a heading\nmake\n```"


def test_a_long_section_goes_apart_at_its_items_and_keeps_them_whole() -> None:
    long = " ".join(["word"] * 60)
    code = "  ```py\n  - x\n  ```"
    items = f"- **Tests**: {long}\n\n{code}\n- Style: {long}\n  - inner {long}"
    text = f"## Rules\n\nBefore a change:\n\n{items}\n"
    first, second = passages_of(text)
    assert first.text.startswith("Before a change:\n\n- **Tests**")
    assert first.text.endswith(code)
    assert second.text.endswith(f"- inner {long}")
    assert (first.lead, second.lead) == ("Before a change", "Style")


def test_a_long_list_of_short_items_and_a_long_paragraph_stay_in_one_piece() -> None:
    table = "\n".join(f"- `vendor/{n}/` is a library" for n in range(40))
    paragraph = " ".join(["All of this is one sentence that goes on and on."] * 40)
    assert [passage.text for passage in passages_of(table)] == [table]
    assert [passage.text for passage in passages_of(paragraph)] == [paragraph]


def test_code_stays_with_what_explains_it() -> None:
    lead = " ".join(["Compare builds like this."] * 20)
    code = "```sh\n" + "make compare\n" * 40 + "```"
    filler = " ".join(["Something else entirely."] * 20)
    assert f"{lead}\n\n{code}" in [one.text for one in passages_of(f"{filler}\n\n{lead}\n\n{code}\n")]


def test_a_bold_line_stays_with_what_it_stands_above() -> None:
    filler = " ".join(["Something else entirely."] * 40)
    found = [passage.text for passage in passages_of(f"{filler}\n\n**Never use reset**\n\nIt deletes files.\n")]
    assert found == [filler, "**Never use reset**\n\nIt deletes files."]


def test_names_stay_whole_in_headings_and_in_what_a_passage_is_about() -> None:
    (passage,) = passages_of("## `my_func(a_b)`, snake_case and **bold** _it_\n\nText.\n")
    assert passage.headings == ("my_func(a_b), snake_case and bold it",)
    long = " ".join(["word"] * 90)
    first, second = passages_of(
        f"- `Result::expect_err` is out: {long}\n- **`01_FACTORY.md`** and `src/*.py`: {long}\n"
    )
    assert (first.lead, second.lead) == ("Result::expect_err is out", "01_FACTORY.md and src/*.py")


def test_headings_without_text_and_comments_are_nothing() -> None:
    assert passages_of("# A\n\n## B\n\n<!-- note\nto self -->\n\n---\n") == []
    assert passages_of("") == []


def test_chinese_headings_and_texts_are_kept() -> None:
    (passage,) = passages_of("## 测试\n\n提交前运行:\n\n- `make test`\n")
    assert (passage.headings, passage.text) == (("测试",), "提交前运行:\n\n- `make test`")


_LINES = st.sampled_from(
    [
        *(
            "# H",
            "## H2",
            "- item",
            "  - inner",
            "1. one",
            "```",
            "text",
            "    code",
            "> quote",
            "| a | b |",
            "|---|---|",
        ),
        *("[a]: /b", "", "", "***", "Title", "\t- tab", "~~~", "text:", "word " * 50),
    ]
)


@given(st.lists(_LINES, max_size=40))
def test_no_word_is_lost(lines: list[str]) -> None:
    text = "\n".join(lines)
    found = passages_of(text)
    kept = " ".join(" ".join((*passage.headings, passage.text)) for passage in found)
    words = {word for line in lines if not re.match(r"#|\*|Title|$", line) for word in re.findall(r"\w+", line)}
    assert {word for word in words if word not in ("a", "b")} <= set(re.findall(r"\w+", kept)) | {"H", "H2"}
    assert all(len(passage.text) <= SHORT_CHARACTERS or passage.text in text for passage in found if passage.lead)
