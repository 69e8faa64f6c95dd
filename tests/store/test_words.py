"""Words find what holds them, the rarer the better, and nothing a query says is syntax."""

import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from store_steps import remember

from memhub_mcp.domain.memory import Filter
from memhub_mcp.store.file import Store
from memhub_mcp.store.words import K1, MAX_TERMS, B

TERM = st.text(st.characters(codec="utf-8", categories=("L", "M", "N", "P", "S")), min_size=1, max_size=12).map(
    str.lower
)


def found(store: Store, *terms: str, filter: Filter | None = None, limit: int = 10) -> list[str]:
    matches = store.words.search(terms, filter or Filter(), limit)
    memories = store.memories.by_seqs(match.seq for match in matches)
    return [memories[match.seq].text for match in matches]


def test_rarer_words_weigh_more(store: Store) -> None:
    for text in ("deploy on monday", "deploy on tuesday", "deploy by zirconium-7", "lunch on monday"):
        remember(store, text)
    assert found(store, "deploy", "zirconium-7")[0] == "deploy by zirconium-7"
    assert found(store, "lunch") == ["lunch on monday"]
    assert found(store, "unheard") == []
    assert found(store) == []


def test_a_match_says_which_terms_it_holds(store: Store) -> None:
    remember(store, "alpha beta")
    remember(store, "beta gamma gamma")
    matches = store.words.search(["alpha", "beta", "gamma", "delta"], Filter(), 10)
    assert {match.seq: match.matched for match in matches} == {
        1: frozenset({"alpha", "beta"}),
        2: frozenset({"beta", "gamma"}),
    }


def test_scores_are_bm25_and_stay_below_the_best_possible(store: Store) -> None:
    texts = ["a a b", "a c", "d e f g h", "b b b b"]
    for text in texts:
        remember(store, text)
    documents = [text.split() for text in texts]
    average = sum(map(len, documents)) / len(documents)

    def idf(term: str) -> float:
        df = sum(term in document for document in documents)
        return math.log(1 + (len(documents) - df + 0.5) / (df + 0.5))

    def bm25(document: list[str], terms: list[str]) -> float:
        norm = K1 * (1 - B + B * len(document) / average)
        return sum(idf(t) * document.count(t) * (K1 + 1) / (document.count(t) + norm) for t in terms)

    terms = ["a", "b", "zzz"]
    assert store.words.idf(terms) == pytest.approx({term: idf(term) for term in terms})
    matches = store.words.search(terms, Filter(), 10)
    assert {match.seq: match.score for match in matches} == pytest.approx(
        {seq: bm25(document, terms) for seq, document in enumerate(documents, 1) if {"a", "b"} & set(document)}
    )
    assert [match.score for match in matches] == sorted((match.score for match in matches), reverse=True)
    assert all(0 < match.score < sum(store.words.idf(terms).values()) * (K1 + 1) for match in matches)


def test_columns_have_their_weights(store: Store) -> None:
    for text in ("one", "two"):
        remember(store, text)
    with store.write() as tx:
        store.words.index(tx, 1, {"body": ["target"], "caption": ["other"]})
        store.words.index(tx, 2, {"body": ["other"], "caption": ["target"]})
    assert found(store, "target") == ["one", "two"]


@settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None
)
@given(terms=st.lists(TERM, min_size=1, max_size=20))
def test_any_terms_can_be_stored_and_asked_for(store: Store, terms: list[str]) -> None:
    with store.write() as tx:
        store.words.index(tx, 1, {"body": terms, "name": terms[:1]})
    assert [match.seq for match in store.words.search(terms, None, 5)] == [1]


@pytest.mark.parametrize(
    "term",
    ['"', "*", "a*", "a OR b", "NEAR(a b)", "body:a", "^a", "-a", "a AND", "(", "'; DROP TABLE words; --", "\ud800"],
)
def test_a_query_is_never_syntax(store: Store, term: str) -> None:
    remember(store, "a b body near")
    store.words.search([term], Filter(), 5)
    assert found(store, "near", term) == ["a b body near"]


@pytest.mark.parametrize("term", ["🤖", "𐓟osage", "ꭰꮯ", "a\u200db", "naïve", "日本", "c++", "don't", 'say"'])
def test_every_visible_character_is_part_of_a_term(store: Store, term: str) -> None:
    remember(store, "it", terms=[term])
    remember(store, "its parts", terms=list(term))
    assert store.words.frequencies([term]) == {term: 1 if len(term) > 1 else 2}
    assert found(store, term)[0] == "it"


def test_replacing_and_removing(store: Store) -> None:
    memory = remember(store, "before")
    remember(store, "between")
    with store.write() as tx:
        store.words.index(tx, memory.seq, {"body": ["after"]})
    assert (found(store, "before"), found(store, "after")) == ([], ["before"])
    assert (store.words.total(), store.words.average_length()) == (2, 1.0)
    with store.write() as tx:
        store.words.remove(tx, [memory.seq])
    assert (found(store, "after"), store.words.total()) == ([], 1)
    assert store.words.frequencies(["after", "between"]) == {"after": 0, "between": 1}


def test_long_queries_keep_their_rarest_terms(store: Store) -> None:
    for number in range(40):
        remember(store, f"text {number}", terms=[f"t{k}" for k in range(number + 1)])
    [first, *_] = store.words.search([f"t{k}" for k in range(40)], Filter(), 1)
    assert first.matched == {f"t{k}" for k in range(40 - MAX_TERMS, 40)}


def test_common_terms_add_to_the_score_but_bring_nothing_in_by_themselves(store: Store) -> None:
    with store.write() as tx:
        for seq in range(1, 8_001):
            store.words.index(tx, seq, {"body": ["common", "rare"] if seq == 4_000 else ["common"]})
        store.words.index(tx, 9_000, {"body": ["rare"]})
    with_common = store.words.search(["rare", "common"], None, 10)
    assert {match.seq: match.matched for match in with_common} == {4_000: {"rare", "common"}, 9_000: {"rare"}}
    assert len(store.words.search(["common"], None, 10)) == 10


def test_refilling_the_index(store: Store) -> None:
    remember(store, "before")
    with store.write() as tx:
        store.words.clear(tx)
        store.words.index(tx, 1, {"body": ["again"]})
    assert found(store, "before") == []
    assert found(store, "again") == ["before"]
    assert store.words.total() == 1


def test_an_empty_index_answers(store: Store) -> None:
    assert store.words.search(["anything"], Filter(), 5) == []
    assert (store.words.total(), store.words.average_length()) == (0, 0.0)
