"""The rearranged graph is smaller in memory and the same in what it says."""

import numpy as np
import onnx
import onnxruntime as ort

from memhub_mcp.models.files import read_embedded
from memhub_mcp.models.slim import pick_before_scaling

TABLE = "inner.embeddings.word_embeddings.weight"


def test_the_rearranged_model_gives_the_same_numbers_to_the_bit():
    original = read_embedded()
    rearranged = pick_before_scaling(original, TABLE)
    ids = np.random.default_rng(0).integers(0, 30_522, (3, 40))
    feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    before, after = (ort.InferenceSession(model).run(None, feed)[0] for model in (original, rearranged))
    assert np.array_equal(before, after)


def test_the_rearranged_model_is_valid_and_scales_rows_not_the_table():
    model = onnx.load_from_string(pick_before_scaling(read_embedded(), TABLE))
    onnx.checker.check_model(model)
    graph = model.graph
    assert not any(TABLE in node.output for node in graph.node)
    assert any(node.op_type == "Gather" and node.input[0] == f"{TABLE}_q" for node in graph.node)


def test_another_model_comes_back_as_it_is():
    original = read_embedded()
    assert pick_before_scaling(original, "no such table") == original
    assert pick_before_scaling(b"", TABLE) == b""
