"""What is written and what is asked meet in the same terms."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhub_mcp.retrieval.terms import MAX_TERM, changed_terms, index_terms, name_terms, parse_query, query_terms


def meets(stored: str, asked: str) -> bool:
    """Whether the question shares at least one term with the text."""
    return bool(set(query_terms(asked)) & set(index_terms(stored)))


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("migrations for the database run at boot", "database migration"),
        ("call parse_plan_text before the loop", "parse_plan_text"),
        ("call parse_plan_text before the loop", "plan"),
        ("call parsePlanText before the loop", "parse_plan"),
        ("HTTPAdapter.send retries twice", "HTTPAdapter.send"),
        ("HTTPAdapter.send retries twice", "adapter"),
        ("settings live in src/core/config.py", "src/core/config.py"),
        ("settings live in src/core/config.py", "core/config.py"),
        ("settings live in src/core/config.py", "config.py"),
        ("written in c++ mostly", "c++"),
        ("never pass --no-verify", "--no-verify"),
        ("never pass --no-verify", "verify"),
        ("error E4012 means the token expired", "E4012"),
        ("error E4012 means the token expired", "4012"),
        ("rename foo-bar to foo-baz", "foo-bar"),
        ("fix for POL-358", "POL-358"),
        ("fix for POL-358", "358"),
        ("since v2.3.1 it works", "v2.3.1"),
        ("since v2.3.1 it works", "2.3.1"),
        ("see docs/current.md", "current.md"),
        ("crash in src/a/b.py", "src/a/b.py:42"),
        ("crash in src/a/b.py:42", "src/a/b.py"),
        (r"C:\Users\me\notes.txt holds it", "notes.txt"),
        ("用户身份验证模块在网关层", "身份验证"),
        ("部署早报脚本", "早报"),
        ("使用SQLite存储数据", "sqlite"),
        ("データベースの移行", "データベース"),
        ("데이터베이스 마이그레이션", "데이터베이스"),
        ("la résidence d'été", "residence"),
        ("die Straße ist gesperrt", "STRASSE"),
        ("İstanbul office", "istanbul"),
        ("ISTANBUL office", "ıstanbul"),
        ("ＡＢＣ full width", "abc"),
        ("release 🎉 ★", "★"),
        ("release 🎉 ★", "🎉"),
        ("*", "*"),
        ('"', '"'),
        ("to be or not to be", "be"),
    ],
)
def test_a_question_meets_what_was_written(stored: str, asked: str) -> None:
    assert meets(stored, asked)


def test_stop_words_do_not_connect_texts() -> None:
    assert not meets("the build is on the old runner", "what is the name of it")


def test_a_single_chinese_character_is_asked_only_when_alone() -> None:
    assert parse_query("身份验证").terms == ("身份", "份验", "验证")
    assert parse_query("身份验证").characters == ("身", "份", "验", "证")
    assert query_terms("早") == ["早"]
    assert meets("部署早报脚本", "早")


def test_a_different_error_code_does_not_match() -> None:
    assert not meets("error E4012 means the token expired", "E4013")


def test_a_sentence_is_no_lookup_and_an_identifier_is() -> None:
    assert all(
        parse_query(q).lookup for q in ("E4012", "src/core/config.py", "--no-verify", "parse_plan_text", "make test-7")
    )
    assert not parse_query("deployment process").lookup
    assert not parse_query("where does configuration of the auth service live").lookup


def test_a_long_identifier_keeps_its_identity() -> None:
    long, other = "a" * 70 + "x", "a" * 70 + "y"
    assert meets(long, long)
    assert not meets(long, other)


def test_names_are_terms_of_all_given() -> None:
    assert {"retri", "config.py"} <= set(name_terms("retry policy", None, "src/config.py"))


def test_a_patch_is_found_by_what_changed_in_it() -> None:
    patch = "--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n unchanged_name = 1\n-old_limit = 3\n+retryLimit = 5\n"
    found = changed_terms(patch)
    assert {"old_limit", "retri", "limit"} <= set(found)
    assert "unchanged_name" not in found


def test_a_huge_patch_gives_few_terms() -> None:
    assert len(changed_terms("\n".join(f"+name_{n} = other_{n}" for n in range(50_000)))) <= 192


@given(st.text())
def test_every_term_fits_the_index(text: str) -> None:
    for term in (*index_terms(text), *query_terms(text), *changed_terms("+" + text)):
        assert term
        assert len(term) <= MAX_TERM
        assert not any(c.isspace() for c in term)


@given(st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1))
def test_every_visible_text_is_found_by_itself(text: str) -> None:
    assert meets(text, text)


@given(st.text(), st.text())
def test_terms_of_a_text_do_not_depend_on_what_was_read_before(first: str, second: str) -> None:
    before = index_terms(second)
    index_terms(first)
    assert index_terms(second) == before
