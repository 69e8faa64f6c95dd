"""Models of the shape of bge-m3 and its reranker, small enough to be made in a test (under 0.3 MB, random weights)."""

import hashlib
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import AddedToken, Tokenizer
from tokenizers.models import Unigram
from tokenizers.normalizers import NFKC
from tokenizers.pre_tokenizers import Metaspace
from tokenizers.processors import TemplateProcessing
from tokenizers.trainers import UnigramTrainer

from memhub_mcp.models.manifest import PinnedFile, PinnedModel

DIMENSION = 1_024
_HIDDEN = 16
_POSITIONS = 1_100

_LINES = [
    "the retry limit is five and the deploy script runs at night",
    "why did the retry limit change in the last release",
    "we choose the vector store because search must work offline",
    "部署脚本在夜间运行，重试次数上限为五次",
    "为什么上一个版本修改了重试次数",
] * 4


def make_models(root: Path) -> list[PinnedModel]:
    """An embedder and a reranker under `root`, as a folder of models keeps them, and the pins that they match."""
    pins: list[PinnedModel] = []
    for name in ("bge-m3", "bge-reranker-v2-m3"):
        folder = root / name / "r1"
        folder.mkdir(parents=True)
        make_tokenizer(folder / "tokenizer.json")
        if name == "bge-m3":
            make_embedder(folder / "model.onnx", external=True)
        else:
            make_reranker(folder / "model.onnx")
        pins.append(
            PinnedModel(
                name=name,
                kind="embedder" if name == "bge-m3" else "reranker",
                repository=f"someone/{name}",
                revision="r1",
                licence="MIT",
                quantisation="float32",
                graph=_pin(folder / "model.onnx"),
                tokenizer=_pin(folder / "tokenizer.json"),
                more=tuple(_pin(path) for path in folder.glob("*_data")),
                dimension=DIMENSION if name == "bge-m3" else 0,
            )
        )
    return pins


def _pin(path: Path) -> PinnedFile:
    content = path.read_bytes()
    return PinnedFile(source=f"onnx/{path.name}", size=len(content), sha256=hashlib.sha256(content).hexdigest())


def make_tokenizer(path: Path) -> Tokenizer:
    """A tokenizer.json with the special tokens and the template of XLM-RoBERTa, and its nuisances switched on."""
    tokenizer = Tokenizer(Unigram())
    tokenizer.normalizer = NFKC()
    tokenizer.pre_tokenizer = Metaspace()
    specials = [AddedToken(token, special=True) for token in ("<s>", "<pad>", "</s>", "<unk>")]
    trainer = UnigramTrainer(vocab_size=300, special_tokens=specials, unk_token="<unk>", show_progress=False)
    tokenizer.train_from_iterator(_LINES, trainer)
    tokenizer.post_processor = TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    tokenizer.enable_padding(pad_id=1, pad_token="<pad>", length=128)
    tokenizer.enable_truncation(max_length=128)
    tokenizer.save(str(path))
    return tokenizer


def make_embedder(path: Path, *, outputs: str = "tokens", dimension: int = DIMENSION, external: bool = False) -> None:
    """A graph with one attention block.

    `outputs`: `tokens` (last_hidden_state), `pooled` (token_embeddings, sentence_embedding), `three` (dense_vecs,
    sparse_vecs, colbert_vecs), `wrong` (a lone output of rank 2 that is not a sentence vector).
    """
    graph = _Graph(seed=7)
    hidden = graph.encoder(dimension)
    first = graph.node("Gather", [hidden, graph.constant("zero", np.array(0, np.int64))], axis=1)
    unit = graph.node("LpNormalization", [first], axis=1, p=2)
    symbolic = ["batch", "sequence"]
    if outputs == "tokens":
        graph.output(hidden, "last_hidden_state", [*symbolic, dimension])
    elif outputs == "pooled":
        graph.output(hidden, "token_embeddings", [*symbolic, dimension])
        graph.output(unit, "sentence_embedding", ["batch", dimension])
    elif outputs == "three":
        weights = graph.node("ReduceMean", [hidden], axes=[2], keepdims=0)
        graph.output(unit, "dense_vecs", ["batch", dimension])
        graph.output(weights, "sparse_vecs", symbolic)
        graph.output(hidden, "colbert_vecs", [*symbolic, dimension])
    else:
        graph.output(graph.node("ReduceMean", [hidden], axes=[2], keepdims=0), "weights", symbolic)
    graph.save(path, external=external)


def make_reranker(path: Path) -> None:
    """A graph that scores a pair: logits [batch, 1]."""
    graph = _Graph(seed=11)
    hidden = graph.encoder(_HIDDEN)
    first = graph.node("Gather", [hidden, graph.constant("zero", np.array(0, np.int64))], axis=1)
    logits = graph.node("MatMul", [first, graph.random("head", (_HIDDEN, 1))])
    graph.output(logits, "logits", ["batch", 1])
    graph.save(path, external=False)


class _Graph:
    def __init__(self, *, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self._nodes: list[onnx.NodeProto] = []
        self._weights: list[onnx.TensorProto] = []
        self._outputs: list[onnx.ValueInfoProto] = []

    def encoder(self, dimension: int) -> str:
        """Word and position embeddings, one attention block that masks padding, a projection to `dimension`."""
        mask = self.node("Cast", ["attention_mask"], to=TensorProto.FLOAT)
        counted = self.node("CumSum", [mask, self.constant("one", np.array(1, np.int64))])
        places = self.node("Add", [self.node("Mul", [counted, mask]), self.constant("start", np.array(1, np.float32))])
        position = self.node("Cast", [places], to=TensorProto.INT64)
        words = self.node("Gather", [self.random("words", (300, _HIDDEN)), "input_ids"])
        spots = self.node("Gather", [self.random("positions", (_POSITIONS, _HIDDEN), scale=0.1), position])
        layer = self.norm(self.node("Add", [words, spots]), _HIDDEN)
        query = self.node("MatMul", [layer, self.random("query", (_HIDDEN, _HIDDEN), scale=0.1)])
        key = self.node(
            "Transpose", [self.node("MatMul", [layer, self.random("key", (_HIDDEN, _HIDDEN))])], perm=[0, 2, 1]
        )
        value = self.node("MatMul", [layer, self.random("value", (_HIDDEN, _HIDDEN))])
        absent = self.node("Sub", [self.constant("full", np.array(1, np.float32)), mask])
        barred = self.node("Mul", [absent, self.constant("low", np.array(-1e9, np.float32))])
        barrier = self.node("Unsqueeze", [barred, self.constant("axis", np.array([1], np.int64))])
        share = self.node("Softmax", [self.node("Add", [self.node("MatMul", [query, key]), barrier])], axis=-1)
        seen = self.norm(self.node("Add", [self.node("MatMul", [share, value]), layer]), _HIDDEN)
        return self.node("MatMul", [seen, self.random("projection", (_HIDDEN, dimension))])

    def norm(self, name: str, width: int) -> str:
        scale = self.constant(f"scale{len(self._nodes)}", np.ones(width, np.float32))
        return self.node("LayerNormalization", [name, scale], axis=-1)

    def node(self, operator: str, inputs: list[str], **attributes: object) -> str:
        name = f"n{len(self._nodes)}"
        self._nodes.append(helper.make_node(operator, inputs, [name], **attributes))
        return name

    def constant(self, name: str, value: np.ndarray) -> str:
        self._weights.append(numpy_helper.from_array(value, name))
        return name

    def random(self, name: str, shape: tuple[int, ...], *, scale: float = 1.0) -> str:
        return self.constant(name, self._random.normal(0, scale, shape).astype(np.float32))

    def output(self, source: str, name: str, shape: list[object]) -> None:
        self._nodes.append(helper.make_node("Identity", [source], [name]))
        self._outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))

    def save(self, path: Path, *, external: bool) -> None:
        inputs = [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "sequence"])
            for name in ("input_ids", "attention_mask")
        ]
        graph = helper.make_graph(self._nodes, "tiny", inputs, self._outputs, self._weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
        # Small shape tensors must stay inside, or shape inference fails.
        onnx.save_model(
            model, str(path), save_as_external_data=external, location=f"{path.name}_data", size_threshold=1_024
        )
