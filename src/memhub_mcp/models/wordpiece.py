"""The tokenizer of MiniLM, made of its vocabulary alone."""

import unicodedata
from importlib.resources import as_file, files

from tokenizers import Encoding, Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

from memhub_mcp.models.digest import check_digest

PAD, UNKNOWN, CLS, SEP = 0, 100, 101, 102

_VOCABULARY = "minilm_vocab.txt"
_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"


def load_wordpiece() -> Tokenizer:
    """The uncased BERT tokenizer, without padding, truncation or special tokens: a text holding "[SEP]" is text.

    Raises:
        ModelError: the vocabulary is missing or damaged.
    """
    with as_file(files("memhub_mcp.models") / "data" / _VOCABULARY) as path:
        check_digest(path, _SHA256, remedy="reinstall memhub-mcp")
        # Not splitlines(): some entries are line separators to Python.
        entries = path.read_bytes().decode("utf-8").removesuffix("\n").split("\n")
    vocabulary = {entry: place for place, entry in enumerate(entries)}
    tokenizer = Tokenizer(WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = BertNormalizer(clean_text=True, handle_chinese_chars=True, lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    return tokenizer


def words_of(encoding: Encoding, text: str) -> list[tuple[str, list[int]]]:
    """Each word of an encoded text, lower-cased, with the places of its tokens; punctuation is left out."""
    offsets, numbers = encoding.offsets, encoding.word_ids
    found: list[tuple[str, list[int]]] = []
    last: int | None = None
    for place, number in enumerate(numbers):
        if number is not None and number == last:
            found[-1][1].append(place)
        else:
            found.append(("", [place]))
        last = number
    words = [(text[offsets[at[0]][0] : offsets[at[-1]][1]].lower(), at) for _, at in found]
    return [(word, at) for word, at in words if any(map(str.isalnum, word)) or not _is_punctuation(word)]


def known_share(tokenizer: Tokenizer, text: str) -> float:
    """The share of the words of `text` that an English vocabulary stands for, 0 to 1; 0 when it has no words.

    Letters of other scripts are in the vocabulary one by one, which says nothing about the words they make; a word
    in shreds (less than 1.5 characters a token) is not known either.
    """
    encoding = tokenizer.encode(text, add_special_tokens=False)
    words = words_of(encoding, text)
    if not words:
        return 0.0
    known = sum(
        1
        for word, places in words
        if _is_latin(word)
        and not any(encoding.ids[place] == UNKNOWN for place in places)
        and (len(places) == 1 or len(word) >= 1.5 * len(places))
    )
    return known / len(words)


def _is_latin(word: str) -> bool:
    return all(letter < "\u0250" or "\u1e00" <= letter < "\u1f00" for letter in word if letter.isalpha())


def _is_punctuation(word: str) -> bool:
    return all(unicodedata.category(character)[0] in "PSZC" for character in word)
