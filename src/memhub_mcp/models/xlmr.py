"""The vocabulary of XLM-RoBERTa, which bge-m3 and its reranker share: a hundred languages."""

from pathlib import Path

from tokenizers import Encoding, Tokenizer

from memhub_mcp.errors import ModelError
from memhub_mcp.models.vocabulary import chunks, tokenize

_UNKNOWN = 3
_SPACE = "▁"  # marks the beginning of a word; alone it stands for no letter of it


class XlmRobertaVocabulary:
    """A Vocabulary read from a tokenizer.json. It costs about 285 MB: make one and share it."""

    first, last, pad = 0, 2, 1

    def __init__(self, path: Path) -> None:
        """Read `path`, and switch off the padding and truncation it may ask for.

        Raises:
            ModelError: it is not a tokenizer of this kind.
        """
        try:
            self.tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:
            raise ModelError(f"{path} is not a tokenizer file ({error}); pull the model again") from error
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        specials = [self.tokenizer.token_to_id(token) for token in ("<s>", "<pad>", "</s>", "<unk>")]
        if specials != [self.first, self.pad, self.last, _UNKNOWN]:
            raise ModelError(f"{path} is not the tokenizer of bge-m3 (special tokens {specials}); pull the model again")

    def ids(self, encoding: Encoding) -> list[int]:
        """The token ids of a text; "</s>" in a text is an unknown word, not the end of it."""
        return [_UNKNOWN if token < _UNKNOWN else token for token in encoding.ids]

    def words(self, encoding: Encoding, text: str) -> list[tuple[int, str]]:
        """The places of the tokens that are not punctuation, each with its word.

        In a script without spaces the token itself is the word.
        """
        found: list[tuple[int, str]] = []
        offsets, tokens = encoding.offsets, encoding.tokens
        for chunk, places in chunks(encoding, text):
            whole = _trimmed(chunk) if chunk.isascii() else ""
            for place in places:
                start, end = offsets[place]
                own = _trimmed(text[start:end])
                if own and tokens[place] != _SPACE:
                    found.append((place, whole or own))
        return found

    def known_share(self, text: str) -> float:
        """The share of the tokens of `text` that are in the vocabulary."""
        encoding = tokenize(self, text)
        words = [place for place, _ in self.words(encoding, text)]
        ids = self.ids(encoding)
        return sum(1 for place in words if ids[place] != _UNKNOWN) / len(words) if words else 0.0


def _trimmed(word: str) -> str:
    """`word` lower-cased, without what is neither letter nor digit at its ends."""
    start, end = 0, len(word)
    while start < end and not word[start].isalnum():
        start += 1
    while end > start and not word[end - 1].isalnum():
        end -= 1
    return word[start:end].lower()
