"""Text → search terms, one way for writing and for asking.

A term is a folded word or identifier without whitespace, at most 64 characters. The store joins terms by one
space and quotes them: nothing a person types is ever read as search syntax.

    "Deploys go through core/config.py"  →  deploy, go, through, core/config.py, config.py, core, config, py
    "身份验证"                             →  身份, 份验, 验证, 身, 份, 验, 证
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b

import snowballstemmer

TERMS_VERSION = 1
"""Raised whenever a text would get other terms, or others of its texts are indexed; stored beside what was indexed."""

MAX_TERM = 64
"""Characters. A longer identifier keeps its beginning and a digest of the whole."""

MAX_QUERY_CHARACTERS = 4_096
"""A question is read up to here; the texts that are stored are read whole."""

PATCH_TERMS = 192
"""Distinct changed identifiers that a patch is found by."""

_PATCH_CHARACTERS = 65_536
_MAX_BARE = 64

_STOP_WORDS = """
a an the of to in on at for with and or is are was were be been being am do does did doing done has have had having
what which who whom whose when where why how that this these those it its as by from about into than then so such
there here their theirs his her hers him he she they them i me my mine you your yours we us our ours if but not no nor
only own same too very just also any some each both more most other few all again once would could should can cannot
will shall may might must s t re ve ll d m don doesn didn isn aren wasn weren hasn haven hadn couldn wouldn shouldn
won ain
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""English words that carry no search meaning. They count only in a text that has nothing else."""

# Scripts written without spaces between words become overlapping bigrams: Han, Kana, Hangul, Thai, Lao, Myanmar, Khmer.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
)
# \w leaves out the vowel signs of Indic scripts; the whole blocks count as letters.
_INDIC = "\u0900-\u0dff"
_LETTER = rf"(?:[^\W{_UNSPACED}]|[{_INDIC}])"
_JOIN = r"[-./\\:@+]{1,3}"
_TOKEN = re.compile(
    rf"(?P<unspaced>[{_UNSPACED}]+)"
    rf"|(?:(?<![\w)\]])(?:--?|[.#@$]))?{_LETTER}+(?:{_JOIN}{_LETTER}+)*(?:\+\+|\#)?"
    r"|(?P<symbol>[^\w\s\x00-\x7f])"
)
_ASCII_TOKEN = re.compile(r"(?:(?<![\w)\]])(?:--?|[.#@$]))?\w+(?:[-./\\:@+]{1,3}\w+)*(?:\+\+|#)?", re.ASCII)
_SPLIT = re.compile(r"[-./\\:@+#$_]+")
_HUMPS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_LINE_NUMBER = re.compile(r"(?<=\w):\d+(?::\d+)?$")
_HEX = re.compile(r"[0-9a-f]{7,64}")
_MARKS = re.compile("[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670]")
_LETTERS_APART = str.maketrans({"ı": "i", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe"})
_CHANGED_LINE = re.compile(r"^[+-](?!\+\+ |-- )(.*)$", re.MULTILINE)
_IDENTIFIER = re.compile(r"[^\W\d]\w{2,}(?:\.[^\W\d]\w+)*")

_stemmer = snowballstemmer.stemmer("english")


@dataclass(frozen=True, slots=True)
class Query:
    """A question as terms.

    `terms` hold every distinct term once, in the order of the question. `wholes` are those among them that
    stand for an identifier all of whose parts are terms too: one that nobody ever wrote may be left out.
    `characters` are single characters of unspaced scripts, for when no bigram is known. `lookup` marks a
    question of at most three words that names an identifier, a path or a flag.
    """

    terms: tuple[str, ...]
    wholes: frozenset[str]
    characters: tuple[str, ...]
    lookup: bool


def index_terms(text: str) -> list[str]:
    """The terms a text is found by, repeats included (they are its term frequencies)."""
    terms, characters = _scan(text)
    return _without_stop_words(terms) + characters or _bare(text)


def name_terms(*names: str | None) -> list[str]:
    """The terms of subjects, paths and symbols."""
    return [term for name in names if name for term in index_terms(name)]


def query_terms(text: str) -> list[str]:
    """The distinct terms of a question, in its order; single characters only when there is nothing else."""
    query = parse_query(text)
    return list(query.terms or query.characters)


def parse_query(text: str) -> Query:
    """The question as terms, with what is known of their role."""
    text = text[:MAX_QUERY_CHARACTERS]
    found, characters = _scan(text)
    terms = dict.fromkeys(_without_stop_words(found) or ([] if characters else _bare(text)))
    matches = list(_matches(text))
    tokens = [match[0] for match in matches if match.lastgroup is None]
    return Query(
        terms=tuple(terms),
        wholes=frozenset(whole for token in tokens for whole in _wholes(token)) & terms.keys(),
        characters=tuple(dict.fromkeys(characters)),
        lookup=len(matches) <= 3 and any(map(_is_identifier, tokens)),
    )


def changed_terms(patch: str) -> list[str]:
    """The distinct identifiers on changed lines of a unified diff, whole and split, the first 192 of them."""
    lines = "\n".join(_CHANGED_LINE.findall(patch, 0, _PATCH_CHARACTERS))
    found: dict[str, None] = {}
    for name in dict.fromkeys(_IDENTIFIER.findall(lines if lines.isascii() else _normal(lines))):
        found.update(dict.fromkeys(_expand(name)))
        if len(found) >= PATCH_TERMS:
            break
    return [term for term in found if term not in _STOP_STEMS][:PATCH_TERMS]


def fold(text: str) -> str:
    """`text` in one spelling: compatibility forms, case and accents folded, ß as ss, Turkish i as i."""
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFD", _normal(text).casefold())
    return unicodedata.normalize("NFC", _MARKS.sub("", apart)).translate(_LETTERS_APART)


def _normal(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def _matches(text: str) -> Iterator[re.Match[str]]:
    return _ASCII_TOKEN.finditer(text) if text.isascii() else _TOKEN.finditer(_normal(text))


def _scan(text: str) -> tuple[list[str], list[str]]:
    """Terms in order of the text, stop words included, and the single characters of unspaced scripts."""
    terms: list[str] = []
    characters: list[str] = []
    for match in _matches(text):
        group = match.lastgroup
        if group is None:
            terms += _expand(match[0])
        elif group == "unspaced":
            run = fold(match[0])
            characters += run
            terms += [run[i : i + 2] for i in range(len(run) - 1)]
        elif unicodedata.category(match[0]) in ("So", "Sm", "Sc"):
            terms.append(match[0])
    return terms, characters


@lru_cache(maxsize=65_536)
def _expand(token: str) -> tuple[str, ...]:
    """A word as its stem; an identifier as itself, folded, then its parts (of a path also its endings)."""
    if _SPLIT.search(token) is None:
        return tuple(dict.fromkeys(_part_terms(token)))
    if len(token) > 256:
        return (_clip(fold(token)), *dict.fromkeys(_clip(fold(part)) for part in _SPLIT.split(token) if part))
    whole = fold(_LINE_NUMBER.sub("", token))
    bare = whole.lstrip("-.#@$")
    found = [whole, bare]
    if "/" in bare or "\\" in bare:
        steps = [step for step in bare.replace("\\", "/").split("/") if step]
        found += ["/".join(steps[-n:]) for n in range(min(4, len(steps)), 0, -1)]
    if bare[:1] == "v" and bare[1:2].isdigit():
        found.append(bare[1:])
    terms = [_clip(name) for name in found if len(name) > 1]
    for part in _SPLIT.split(token):
        if len(part) > 1:
            terms += _part_terms(part)
    return tuple(dict.fromkeys(terms))


def _part_terms(part: str) -> list[str]:
    """A part of an identifier, or a plain word: its stem, then what its capitals and digits separate."""
    return [_stem(_clip(fold(part))), *(_stem(hump.lower()) for hump in _humps(part) if len(hump) > 1)]


def _humps(part: str) -> list[str]:
    if not part.isascii() or len(part) > MAX_TERM or part.isdigit() or _HEX.fullmatch(part):
        return []
    if part.isalpha() and (part.islower() or part.istitle() or part.isupper()):
        return []
    return _HUMPS.findall(part)


@lru_cache(maxsize=4_096)
def _wholes(token: str) -> frozenset[str]:
    """The terms of an identifier that its other terms spell out completely."""
    parts = [part for part in _SPLIT.split(token) if part]
    humps = {part: _humps(part) for part in parts}
    split = {part for part in parts if len(humps[part]) > 1 and all(len(hump) > 1 for hump in humps[part])}
    wholes = {_stem(_clip(fold(part))) for part in split}
    if all(len(part) > 1 for part in parts):
        wholes.update(term for term in _expand(token) if _SPLIT.search(term))
    return frozenset(wholes)


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    # Beyond twenty letters it is no English word, and stemming is the costly step.
    if 2 < len(word) <= 20 and word.isascii() and word.isalpha():
        return _stemmer.stemWord(word)
    return word


def _clip(term: str) -> str:
    if len(term) <= MAX_TERM:
        return term
    return term[: MAX_TERM - 21] + "~" + blake2b(term.encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()


_STOP_STEMS = STOP_WORDS | {_stemmer.stemWord(word) for word in STOP_WORDS}


def _without_stop_words(terms: list[str]) -> list[str]:
    return [term for term in terms if term not in _STOP_STEMS] or terms


def _bare(text: str) -> list[str]:
    """The terms of a text of symbols alone: its chunks between spaces."""
    chunks = ("".join(c for c in chunk if unicodedata.category(c)[0] in "LMNPS") for chunk in text.casefold().split())
    return [_clip(chunk) for chunk in chunks if chunk][:_MAX_BARE]


def _is_identifier(token: str) -> bool:
    """Whether a token names a thing in code: a digit among letters, a path, a flag, capitals inside."""
    body = token.strip("-.#@$")
    return (
        token[:1] in "-.#@$"
        or token[-1:] in "+#"
        or (any(c.isdigit() for c in body) and (len(body) > 2 or not body.isdigit()))
        or any(c in "./\\:@_" for c in body)
        or (body[1:] != body[1:].lower() and not body.isupper())
    )
