"""The vocabulary of MiniLM: English, uncased."""

import unicodedata
from importlib.resources import as_file, files

from tokenizers import Encoding, Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

from memhub_mcp.models.digest import read_checked
from memhub_mcp.models.manifest import MINILM_VOCABULARY
from memhub_mcp.models.vocabulary import chunks, tokenize

_UNKNOWN = 100


class WordPieceVocabulary:
    """A Vocabulary made of the entries alone: no padding, no truncation, and "[SEP]" in a text is text."""

    first, last, pad = 101, 102, 0

    def __init__(self) -> None:
        """Read the vocabulary that ships with the package.

        Raises:
            ModelError: it is missing or damaged.
        """
        with as_file(files("memhub_mcp.models") / MINILM_VOCABULARY.source) as path:
            content = read_checked(path, MINILM_VOCABULARY.sha256, remedy="reinstall memhub-mcp")
        # Not splitlines(): some entries are line separators to Python.
        entries = content.decode("utf-8").removesuffix("\n").split("\n")
        numbers = {entry: place for place, entry in enumerate(entries)}
        self.tokenizer = Tokenizer(WordPiece(numbers, unk_token="[UNK]", max_input_chars_per_word=100))
        self.tokenizer.normalizer = BertNormalizer(clean_text=True, handle_chinese_chars=True, lowercase=True)
        self.tokenizer.pre_tokenizer = BertPreTokenizer()

    def ids(self, encoding: Encoding) -> list[int]:
        """The token ids of a text."""
        return encoding.ids

    def words(self, encoding: Encoding, text: str) -> list[tuple[int, str]]:
        """The places of the tokens that are not punctuation, each with its word."""
        return [(place, word.lower()) for word, places in _words(encoding, text) for place in places]

    def known_share(self, text: str) -> float:
        """The share of the words of `text` that an English vocabulary stands for.

        Letters of other scripts are in it one by one, which says nothing about the words they make; a word in
        shreds (less than 1.5 characters a token) is not known either.
        """
        encoding = tokenize(self, text)
        words = _words(encoding, text)
        if not words:
            return 0.0
        unknown = {place for place, token in enumerate(encoding.ids) if token == _UNKNOWN}
        known = [
            word
            for word, places in words
            if _is_latin(word) and unknown.isdisjoint(places) and (len(places) == 1 or len(word) >= 1.5 * len(places))
        ]
        return len(known) / len(words)


def _words(encoding: Encoding, text: str) -> list[tuple[str, list[int]]]:
    return [(word, places) for word, places in chunks(encoding, text) if not _is_punctuation(word)]


def _is_latin(word: str) -> bool:
    return all(letter < "\u0250" or "\u1e00" <= letter < "\u1f00" for letter in word if letter.isalpha())


def _is_punctuation(word: str) -> bool:
    return all(unicodedata.category(character)[0] in "PSZC" for character in word)
