"""What is asked finds what is known, by word and by meaning, and nothing else."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memhub_mcp.domain.hit import CommitHit, MemoryHit
from memhub_mcp.domain.memory import Draft, Filter, Status
from memhub_mcp.domain.revision import ChangeKind, Commit, FileChange
from memhub_mcp.errors import InvalidInput
from memhub_mcp.retrieval.recall import Answer, Place, Recall
from memhub_mcp.retrieval.terms import changed_terms, index_terms, name_terms
from memhub_mcp.store.file import Store

from .conftest import NOW, Shelf

DEPLOY = "Deploys go through the blue-green script zirconium-7"


def texts(answer: Answer) -> list[str]:
    return [hit.text for hit in answer.hits]


def ask(recall: Recall, shelf: Shelf, question: str, **filter: object) -> list[str]:
    return texts(recall.ask(question, [Place(store=shelf.store, filter=Filter(**filter))]))  # type: ignore[arg-type]


@pytest.mark.parametrize("others", [[], ["We use ruff.", "Tests run with pytest -q.", "The retry limit is five."]])
@pytest.mark.parametrize("question", ["zirconium-7", "what is our deployment process"])
def test_a_name_and_a_paraphrase_both_find_the_memory(
    shelf: Shelf, recall: Recall, question: str, others: list[str]
) -> None:
    shelf.put(DEPLOY, *others)
    assert ask(recall, shelf, question)[0] == DEPLOY


def test_a_name_is_found_without_a_model_and_the_reply_says_so(plain_shelf: Shelf, recall_by_words: Recall) -> None:
    plain_shelf.put(DEPLOY)
    answer = recall_by_words.ask("zirconium-7", [Place(store=plain_shelf.store, filter=Filter())])
    assert texts(answer) == [DEPLOY]
    assert (answer.mode.dense, answer.mode.rerank) == ("off", "off")
    assert "meaning is switched off" in (answer.mode.why or "")


def test_chinese_is_found_by_its_words(shelf: Shelf, recall: Recall) -> None:
    shelf.put("用户身份验证模块在网关层", "部署早报脚本", "缓存层使用Redis")
    assert ask(recall, shelf, "身份验证")[0] == "用户身份验证模块在网关层"
    assert ask(recall, shelf, "早报")[0] == "部署早报脚本"


def test_what_the_asker_may_not_see_is_not_found(shelf: Shelf, recall: Recall) -> None:
    shelf.put(Draft(text=DEPLOY, files=("deploy.sh",)))
    assert ask(recall, shelf, "zirconium-7", files=("other.sh",)) == []
    assert ask(recall, shelf, "zirconium-7", files=("deploy.sh",)) == [DEPLOY]
    assert ask(recall, shelf, "zirconium-7", exclude_sources=frozenset({"claude-code"})) == []


def test_of_two_equal_answers_the_later_comes_first(shelf: Shelf, recall: Recall) -> None:
    shelf.put("The database is MySQL", now=NOW - timedelta(days=160))
    shelf.put("The database is Postgres", now=NOW - timedelta(days=2))
    assert ask(recall, shelf, "which database") == ["The database is Postgres", "The database is MySQL"]


def test_what_replaced_an_answer_comes_before_it(shelf: Shelf, recall: Recall) -> None:
    shelf.put("DB is MySQL", now=NOW - timedelta(days=170))
    shelf.put("moved DB to Postgres", now=NOW - timedelta(days=140))
    assert ask(recall, shelf, "which DB") == ["moved DB to Postgres", "DB is MySQL"]


def test_a_memory_judged_wrong_steps_back(shelf: Shelf, recall: Recall) -> None:
    first, second = shelf.put("The build cache lives in .cache/build", "The build cache lives in tmp/build")
    before = ask(recall, shelf, "where is the build cache")
    with shelf.store.write() as tx:
        shelf.store.memories.judge(tx, first if before[0].endswith(".cache/build") else second, "wrong")  # type: ignore[arg-type]
    assert ask(recall, shelf, "where is the build cache") == before[::-1]


def test_what_a_good_hit_is_linked_with_comes_along(shelf: Shelf, recall: Recall) -> None:
    near, far, hidden = shelf.put(DEPLOY, "Ask Rosa before touching it on a Friday", "An old remark of Tim")
    with shelf.store.write() as tx:
        shelf.store.memories.link(tx, near, far, "related")
        shelf.store.memories.link(tx, near, hidden, "related")
        shelf.store.memories.set_status(tx, hidden, Status.ARCHIVED, NOW)
    assert ask(recall, shelf, "zirconium-7") == [DEPLOY, "Ask Rosa before touching it on a Friday"]


def test_commits_answer_beside_memories_at_most_three(shelf: Shelf, recall: Recall) -> None:
    shelf.put("The retry limit is five", "We use ruff")
    with shelf.store.write() as tx:
        shelf.store.commits.add(tx, [_fields(commit(n)) for n in range(6)], redaction=1)
    answer = recall.ask("why did the retry limit change", [Place(store=shelf.store, filter=Filter(), commits=True)])
    assert sum(isinstance(hit, CommitHit) for hit in answer.hits) == 3
    assert "The retry limit is five" in texts(answer)


def test_hits_of_two_stores_stand_in_one_order(
    shelf: Shelf, recall: Recall, open_store: Callable[[str], Store]
) -> None:
    other = Shelf(open_store("user"), shelf.embedder)
    shelf.put("The session store keeps tokens for an hour", "We use ruff")
    other.put("I prefer tabs over spaces", DEPLOY)
    places = [
        Place(store=shelf.store, filter=Filter(), name="shop"),
        Place(store=other.store, filter=Filter()),
    ]
    best = recall.ask("zirconium-7", places).hits[0]
    assert isinstance(best, MemoryHit)
    assert (best.text, best.workspace) == (DEPLOY, None)


def test_newest_first_page_by_page(shelf: Shelf, recall: Recall, open_store: Callable[[str], Store]) -> None:
    other = Shelf(open_store("user"), None)
    for n in range(4):
        shelf.put(f"here {n}", now=NOW - timedelta(hours=2 * n))
        other.put(f"mine {n}", now=NOW - timedelta(hours=2 * n + 1))
    places = [Place(store=shelf.store, filter=Filter()), Place(store=other.store, filter=Filter())]
    seen: list[str] = []
    cursor = None
    for _ in range(8):
        page = recall.newest(places, limit=3, cursor=cursor)
        seen += [hit.text for hit in page.hits]
        cursor = page.cursor
        if cursor is None:
            break
    assert sorted(seen) == sorted([f"here {n}" for n in range(4)] + [f"mine {n}" for n in range(4)])
    assert [t for t in seen if t.startswith("here")] == [f"here {n}" for n in (3, 2, 1, 0)]


@pytest.mark.parametrize("cursor", ["nonsense", "1.2_3.4_5.6", "", "1"])
def test_a_foreign_cursor_is_refused(shelf: Shelf, recall: Recall, cursor: str) -> None:
    with pytest.raises(InvalidInput, match="cursor"):
        recall.newest([Place(store=shelf.store, filter=Filter())] * 2, limit=3, cursor=cursor)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None, max_examples=60
)
@given(st.text(max_size=300))
def test_any_question_is_answered(plain_shelf: Shelf, recall_by_words: Recall, question: str) -> None:
    if not plain_shelf.store.words.total():
        plain_shelf.put(DEPLOY, "*", "NEAR AND OR NOT", "用户身份验证模块在网关层")
    recall_by_words.ask(question, [Place(store=plain_shelf.store, filter=Filter(), commits=True)])


@pytest.mark.parametrize("question", ["*", '"', "NEAR(", "a AND", "col:x", "'; DROP TABLE memory; --", "-", "^", "\0"])
def test_a_question_is_never_read_as_syntax(shelf: Shelf, recall: Recall, question: str) -> None:
    shelf.put(DEPLOY, "*")
    assert ask(recall, shelf, question) in ([], ["*"])


def commit(n: int) -> Commit:
    return Commit(
        sha=f"{n:040x}",
        parents=(),
        author="A",
        authored_at=datetime(2025, 1, 1, tzinfo=UTC),
        committed_at=datetime(2025, 1, 1, tzinfo=UTC),
        message=f"Change the retry limit, attempt {n}",
        patch_id=None,
        changes=(
            FileChange(path="retry.py", old_path=None, kind=ChangeKind.MODIFY, blob_before=None, blob_after=None),
        ),
        patch=f"-RETRY_LIMIT = {n}\n+RETRY_LIMIT = {n + 1}",
    )


def _fields(made: Commit) -> tuple[Commit, dict[str, list[str]]]:
    return made, {
        "message": index_terms(made.message),
        "name": name_terms(*(change.path for change in made.changes)),
        "changed": changed_terms(made.patch),
    }
