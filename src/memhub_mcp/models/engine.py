"""ONNX Runtime as we use it: few threads that sleep when idle, no arena, small runs."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memhub_mcp.errors import ModelError
from memhub_mcp.models.heap import give_back, return_large_blocks

# Importing it leaves an identifier of this machine in the cache folder, and a queue of events to be sent.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
import onnxruntime as ort


class Engine:
    """One loaded graph. Safe to call from several threads."""

    def __init__(self, model: Path | bytes, *, threads: int) -> None:
        """Load a graph from a file, or from its content.

        Raises:
            ModelError: the engine cannot load it.
        """
        return_large_blocks()
        ort.disable_telemetry_events()
        options = ort.SessionOptions()
        options.intra_op_num_threads = max(1, min(threads, os.cpu_count() or 1))
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        # The arena keeps the largest batch for ever: 250 MB instead of 108 MB after 16 texts, and no faster.
        options.enable_cpu_mem_arena = False
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.add_session_config_entry("session.inter_op.allow_spinning", "0")
        # External data behind a symlink is refused by the runtime, hence resolve().
        source = model if isinstance(model, bytes) else str(model.resolve())
        try:
            self._session = ort.InferenceSession(source, options, providers=["CPUExecutionProvider"])
        except Exception as error:
            name = "the model" if isinstance(model, bytes) else model.name
            raise ModelError(f"onnxruntime cannot load {name}: {_first_line(error)}") from error
        # It keeps the content for a change of provider, which never comes.
        vars(self._session).pop("_model_bytes", None)
        del source, model
        give_back()
        self.inputs = frozenset(node.name for node in self._session.get_inputs())
        self.outputs: dict[str, list[Any]] = {node.name: list(node.shape) for node in self._session.get_outputs()}

    def run(self, feed: dict[str, NDArray[np.int64]], outputs: Sequence[str]) -> list[NDArray[np.float32]]:
        """The named outputs for one batch; inputs that the graph does not declare are left out.

        Raises:
            ModelError: the run failed.
        """
        known = {name: value for name, value in feed.items() if name in self.inputs}
        try:
            found = self._session.run(list(outputs), known)
        except Exception as error:
            raise ModelError(f"the model failed: {_first_line(error)}") from error
        return [np.asarray(value, dtype=np.float32) for value in found]


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
