"""`memhub-mcp eval` as a person runs it."""

import json
from pathlib import Path

import pytest


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    """Two conversations of turns, and one of memories."""
    said = ["I bought a red bicycle in Oslo.", "Nice! How much was it?", "Four hundred, with the lamp."]
    turns: list[dict[str, object]] = [
        {
            "id": f"{conv}/{n}",
            "conv": conv,
            "session": 1,
            "pos": n,
            "time": "2024-03-01T10:00:00",
            "speaker": ("Ada", "Ben")[n % 2],
            "text": text,
        }
        for conv in ("one", "two")
        for n, text in enumerate(said)
    ]
    turns += [
        {"id": "m1", "conv": "facts", "text": "Deploys go through the blue-green script zirconium-7"},
        {"id": "m2", "conv": "facts", "text": "def parse(line):\n    return line.split(',')"},
    ]
    asked = [
        {"qid": "q1", "conv": "one", "query": "What did Ada buy in Oslo?", "cat_name": "turns", "evidence": ["one/0"]},
        {"qid": "q2", "conv": "facts", "query": "zirconium-7", "cat_name": "facts", "evidence": ["m1"]},
        {"qid": "q3", "conv": "facts", "query": "best pizza in Rome", "cat_name": "nothing", "evidence": []},
    ]
    folder = tmp_path / "set"
    folder.mkdir()
    for name, rows in (("turns", turns), ("questions", asked)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def test_a_set_is_measured_recorded_and_compared(questions: Path, memhub) -> None:
    report = json.loads(memhub("eval", "retrieval", str(questions), "--json", "--record", "first").stdout)
    assert report["questions"] == 2
    assert report["metrics"]["mrr"] == 1.0
    assert set(report["by_category"]) == {"turns", "facts"}
    assert set(report["per_query"]) == {"p50_ms", "p95_ms", "cpu_ms"}
    again = json.loads(memhub("eval", "retrieval", str(questions), "--json", "--baseline", "first").stdout)
    assert again["against"]["mrr"]["difference"] == 0
    assert "first: set, 2 questions" in memhub("eval", "runs").stdout


def test_nothing_is_answered_where_nothing_is_known(questions: Path, memhub) -> None:
    report = json.loads(memhub("eval", "abstain", str(questions), "--json").stdout)
    assert report["rightly_refused"] == 1.0
    assert report["wrongly_refused"] == 0.0


def test_the_data_directory_of_the_person_stays_as_it_was(
    questions: Path, tmp_path: Path, memhub, words_alone: None
) -> None:
    shown = memhub("eval", "retrieval", str(questions))
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.startswith("set: 2 questions")
    assert not list((tmp_path / "memhub").rglob("memory.db"))


def test_a_missing_set_is_a_sentence(tmp_path: Path, memhub) -> None:
    shown = memhub("eval", "retrieval", str(tmp_path / "none"))
    assert shown.returncode == 1
    assert "cannot be read" in shown.stderr
