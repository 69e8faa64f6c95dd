"""What a text is to a model: tokens, the words they belong to, pieces that fit a window."""

from collections.abc import Sequence
from typing import Protocol

from tokenizers import Encoding, Tokenizer


class Vocabulary(Protocol):
    """One tokenizer with what its model expects around a text. Safe to share between models and threads."""

    first: int
    last: int
    pad: int

    @property
    def tokenizer(self) -> Tokenizer: ...

    def ids(self, encoding: Encoding) -> list[int]:
        """The token ids of a text; never those of the special tokens."""
        ...

    def words(self, encoding: Encoding, text: str) -> list[tuple[int, str]]:
        """The places of the tokens that are words or parts of words, each with its lower-cased word."""
        ...

    def known_share(self, text: str) -> float:
        """The share of `text` that the vocabulary stands for, 0 to 1; 0 when it has no words."""
        ...


def tokenize(vocabulary: Vocabulary, text: str) -> Encoding:
    """`text` as tokens, without special tokens; halves of surrogate pairs count as "?"."""
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")
    return vocabulary.tokenizer.encode(text, add_special_tokens=False)


def chunks(encoding: Encoding, text: str) -> list[tuple[str, list[int]]]:
    """The words as the tokenizer cut them, each with the places of its tokens."""
    found: list[list[int]] = []
    last: int | None = None
    for place, number in enumerate(encoding.word_ids):
        if number is not None and number == last:
            found[-1].append(place)
        else:
            found.append([place])
        last = number
    offsets = encoding.offsets
    return [(text[offsets[places[0]][0] : offsets[places[-1]][1]], places) for places in found]


def split(vocabulary: Vocabulary, text: str, *, window: int, overlap: int) -> list[str]:
    """`text` itself when it has at most `window` tokens, else pieces of it, in order.

    Neighbouring pieces share about `overlap` tokens; a word is cut only when it alone is longer than half a window.
    """
    encoding = tokenize(vocabulary, text)
    count = len(encoding.ids)
    if count <= window:
        return [text]
    offsets, words = encoding.offsets, encoding.word_ids
    pieces: list[str] = []
    start = 0
    while True:
        end = min(start + window, count)
        if end < count:
            end = _word_start(words, end, not_before=start + window // 2)
        pieces.append(text[offsets[start][0] : offsets[end - 1][1]])
        if end == count:
            return pieces
        start = _word_start(words, end - overlap, not_before=start + 1)


def _word_start(words: Sequence[int | None], position: int, *, not_before: int) -> int:
    """The nearest place at or before `position` where a word begins, or `position` when that is too far back."""
    at = position
    while at > not_before and words[at] is not None and words[at] == words[at - 1]:
        at -= 1
    return position if words[at] is not None and words[at] == words[at - 1] else at
