"""Turns are read with what was said around them, patterns do not fill an answer, the gate keeps the rest out."""

from datetime import timedelta

import numpy as np
import pytest

from memhub_mcp.domain.hit import Evidence
from memhub_mcp.domain.memory import Filter, Kind
from memhub_mcp.domain.session import Utterance
from memhub_mcp.models.protocols import Embedder
from memhub_mcp.retrieval.closeness import closeness
from memhub_mcp.retrieval.conversation import Conversation
from memhub_mcp.retrieval.forms import Form, form_of
from memhub_mcp.retrieval.fusion import fuse, idf, rank_scores, reciprocal_rank_fusion
from memhub_mcp.retrieval.gate import passes
from memhub_mcp.retrieval.late import KEPT_TOKENS, kept_tokens, late_scores
from memhub_mcp.retrieval.recall import Place, Recall
from memhub_mcp.service.dialogue import add_turns

from .conftest import NOW, Shelf


def say(shelf: Shelf, *lines: tuple[str, str], session: str = "s1") -> None:
    said = [
        Utterance(position=n, speaker=speaker, text=text, time=NOW - timedelta(minutes=60 - n))
        for n, (speaker, text) in enumerate(lines)
    ]
    add_turns(shelf.store, source="codex", host_session=session, said=said)


def ask(recall: Recall, shelf: Shelf, question: str) -> list[str]:
    answer = recall.ask(question, [Place(store=shelf.store, filter=Filter())], relevant_only=False)
    return [hit.text for hit in answer.hits]


def test_an_answer_is_found_by_the_question_before_it(plain_shelf: Shelf, recall_by_words: Recall) -> None:
    say(
        plain_shelf,
        ("Ada", "Which queue library did you pick for the billing worker?"),
        ("Ben", "Celery, in the end."),
        ("Ada", "Lunch?"),
        ("Ben", "Sure."),
    )
    found = ask(recall_by_words, plain_shelf, "queue library of the billing worker")
    assert "Celery, in the end." in found[:2]


def test_who_is_named_in_the_question_speaks_first(plain_shelf: Shelf, recall_by_words: Recall) -> None:
    say(plain_shelf, ("Ada", "I moved to Lisbon last spring."), session="one")
    say(plain_shelf, ("Ben", "I moved to Porto last spring."), session="two")
    assert ask(recall_by_words, plain_shelf, "where did Ben move")[0] == "I moved to Porto last spring."
    assert ask(recall_by_words, plain_shelf, "where did Ada move")[0] == "I moved to Lisbon last spring."


def test_the_word_user_is_not_a_speaker(plain_shelf: Shelf, recall_by_words: Recall) -> None:
    say(plain_shelf, ("user", "The tests are red."), ("assistant", "The user table lacks an index."))
    assert ask(recall_by_words, plain_shelf, "user table")[0] == "The user table lacks an index."


def test_a_replay_of_a_conversation_adds_nothing(plain_shelf: Shelf) -> None:
    say(plain_shelf, ("Ada", "Hello."), ("Ben", "Hello."))
    say(plain_shelf, ("Ada", "Hello."), ("Ben", "Hello."))
    assert plain_shelf.store.memories.count(Filter(kinds=frozenset({Kind.TURN}))) == 2


def test_many_memories_of_one_pattern_leave_room_for_others(shelf: Shelf, recall: Recall) -> None:
    shelf.put(*(f"The session store retries failed requests {n} times before it gives up." for n in range(2, 12)))
    shelf.put("The session store failed on Windows since paths were joined with a slash.")
    found = ask(recall, shelf, "why did the session store fail")
    assert any("Windows" in text for text in found[:3])


def test_closeness_of_tokens_tells_two_texts_apart(shelf: Shelf, minilm: Embedder) -> None:
    right, wrong = shelf.put("The retry limit of the uploader is five.", "We use ruff for linting.")
    space = shelf.store.vectors.active_space()
    assert space is not None
    with shelf.store.write() as tx:
        for seq, memory in shelf.store.memories.by_seqs([right, wrong]).items():
            kept = kept_tokens(minilm.encode([memory.text]).tokens[0], Form.TEXT)
            assert kept is not None
            shelf.store.token_bits.put(tx, seq, space.id, kept)
    tokens = minilm.encode(["how often are uploads retried"], query=True).tokens[0]
    scores = late_scores(tokens, {}, shelf.store.token_bits, space.id, [right, wrong], Conversation({}, {}))
    assert scores[right] > scores[wrong]


def test_a_memory_keeps_few_tokens_and_a_diff_none(minilm: Embedder) -> None:
    tokens = minilm.encode(["word " * 40 + " ".join(f"alpha{n}" for n in range(60))]).tokens[0]
    kept = kept_tokens(tokens, Form.CODE)
    assert kept is not None
    assert kept.shape == (KEPT_TOKENS, 384)
    assert np.packbits(kept > 0, axis=1).nbytes + 384 * 2 + 384 // 8 <= 2_048
    assert kept_tokens(tokens, Form.DIFF) is None


def test_words_and_meaning_weigh_by_form_and_lookups_by_words() -> None:
    assert fuse(0.4, 0.2, None, Form.DIFF, lookup=True) > fuse(0.4, 0.2, None, Form.DIFF, lookup=False)
    assert fuse(0.1, 0.8, None, Form.CODE, lookup=False) > fuse(0.1, 0.8, None, Form.DIFF, lookup=False)
    assert fuse(0.4, None, None, Form.TEXT, lookup=False) == 0.4
    assert idf(1, 1_000) > idf(900, 1_000) > 0


def test_by_ranks_alone_only_places_count() -> None:
    assert list(reciprocal_rank_fusion([["a", "b"], ["b", "c"]])) == ["b", "a", "c"]
    first, both, neither = rank_scores([Evidence(words=0.9), Evidence(words=0.1, cosine=0.2), Evidence()])
    assert (first, neither) == (0.5, 0.0)
    assert both == pytest.approx((61 / 62 + 1) / 2)


@pytest.mark.parametrize(
    ("evidence", "lookup", "bears"),
    [
        (Evidence(terms=frozenset({"zirconium-7"}), share=1.0, cosine=0.0), True, True),
        (Evidence(terms=frozenset({"a", "b"}), share=0.3, cosine=0.1), True, False),
        (Evidence(cosine=0.7), False, True),
        (Evidence(cosine=0.2), False, False),
        (Evidence(terms=frozenset({"a", "b", "c"}), share=0.9), False, True),
        (Evidence(terms=frozenset({"a"}), share=0.1), False, False),
        (Evidence(cosine=0.3, tokens=0.2), False, False),
    ],
)
def test_the_gate_asks_for_evidence(evidence: Evidence, lookup: bool, bears: bool) -> None:
    assert passes(evidence, Form.TEXT, lookup=lookup) is bears


def test_cosines_of_another_model_come_on_one_scale() -> None:
    assert closeness("all-MiniLM-L6-v2", 0.5, "a question") == 0.5
    assert closeness("multilingual-e5-small", 0.78, "a question") < 0.3
    assert closeness("multilingual-e5-small", 0.9, "a question") > 0.5
    assert closeness("multilingual-e5-small", 0.87, "问题") < closeness("multilingual-e5-small", 0.87, "a question")


def test_a_turn_is_dialogue() -> None:
    assert form_of(Kind.TURN, "anything") is Form.DIALOGUE
