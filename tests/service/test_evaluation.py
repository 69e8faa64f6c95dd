"""Recall is measured as it is asked, and the figures are the usual ones."""

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhub_mcp.errors import InvalidInput, NotFound
from memhub_mcp.service.question_sets import OWN, read_set
from memhub_mcp.service.scoring import METRICS, compare, interval, measure, summary


def write_set(folder: Path, turns: list[dict[str, object]], questions: list[dict[str, object]]) -> Path:
    folder.mkdir()
    for name, rows in (("turns", turns), ("questions", questions)):
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return folder


def test_the_metrics_are_the_usual_ones() -> None:
    found = measure(["x", "a", "y", "b", "z", "w", "c"], ["a", "b", "c"])
    assert found["recall@1"] == 0
    assert found["recall@5"] == pytest.approx(2 / 3)
    assert found["recall@10"] == 1
    assert found["all@5"] == 0
    assert found["mrr"] == 0.5
    gain = 1 / math.log2(3) + 1 / math.log2(5) + 1 / math.log2(8)
    assert found["ndcg@10"] == pytest.approx(gain / (1 + 1 / math.log2(3) + 1 / 2))


def test_a_document_named_twice_counts_once() -> None:
    assert measure(["a", "a", "b"], ["b"])["mrr"] == 0.5


@given(st.lists(st.sampled_from("abcdefgh"), max_size=12), st.sets(st.sampled_from("abcdefgh"), min_size=1))
def test_every_metric_is_a_share(ranked: list[str], gold: set[str]) -> None:
    assert all(0 <= value <= 1 for value in measure(ranked, sorted(gold)).values())


def test_runs_are_compared_question_by_question() -> None:
    better = {f"q{n}": measure(["a"], ["a"]) for n in range(30)}
    worse = {f"q{n}": measure(["x", "a"], ["a"]) for n in range(30)}
    against = compare(better, worse | {"other": measure(["x"], ["a"])})
    assert against["mrr"] == {"difference": 0.5, "low": 0.5, "high": 0.5}
    assert set(against) == set(METRICS)
    low, high = interval([0.0, 1.0] * 50)
    assert 0.3 < low < summary(list(better.values()))["mrr"] / 2 < high < 0.7


def test_the_own_set_is_whole() -> None:
    own = read_set(OWN)
    documents = {document.id for document in own.documents["own"]}
    assert len(documents) == 150
    assert sum(bool(one.evidence) for one in own.questions) == 120
    assert sum(not one.evidence for one in own.questions) == 30
    assert all(set(one.evidence) <= documents for one in own.questions)


def test_adversarial_questions_are_left_out(tmp_path: Path) -> None:
    question = {"qid": "q", "conv": "c", "query": "?", "evidence": ["d"]}
    folder = write_set(
        tmp_path / "set",
        [{"id": "d", "conv": "c", "text": "x"}],
        [question | {"category": 5}, question | {"category": 2, "cat_name": "temporal"}],
    )
    assert [one.category for one in read_set(folder).questions] == ["temporal"]


def test_a_set_that_is_none_is_refused_by_name_and_line(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"turns\.jsonl"):
        read_set(tmp_path)
    folder = write_set(tmp_path / "set", [{"id": "d", "text": "x"}], [])
    with pytest.raises(InvalidInput, match=r"turns\.jsonl:1"):
        read_set(folder)
    (folder / "turns.jsonl").write_text("{not json\n")
    with pytest.raises(InvalidInput, match="not JSON"):
        read_set(folder)
