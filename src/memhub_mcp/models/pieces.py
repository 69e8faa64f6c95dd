"""A text cut into pieces that fit a model's window."""

from tokenizers import Tokenizer


def split_by_tokens(tokenizer: Tokenizer, text: str, *, window: int, overlap: int) -> list[str]:
    """`text` itself when it has at most `window` tokens, else pieces of it, in order.

    Neighbouring pieces share about `overlap` tokens; a word is cut only when it alone is longer than half a window.
    """
    encoding = tokenizer.encode(text, add_special_tokens=False)
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


def _word_start(words: list[int | None], position: int, *, not_before: int) -> int:
    """The nearest place at or before `position` where a word begins, or `position` when that is too far back."""
    at = position
    while at > not_before and words[at] is not None and words[at] == words[at - 1]:
        at -= 1
    return position if words[at] is not None and words[at] == words[at - 1] else at
