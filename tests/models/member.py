"""A process of a data directory that does with its models what it is told, one JSON line at a time."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

HEAVY = "onnxruntime"


class Member:
    """One such process, from the outside."""

    def __init__(self, home: Path, **settings: Any) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__, str(home), json.dumps(settings)], stdin=-1, stdout=-1, text=True
        )
        self.pid = self._process.pid

    def __enter__(self) -> "Member":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def say(self, **command: Any) -> None:
        """Give a command without waiting for what comes of it."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        """What came of the oldest command not heard of yet."""
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())

    def do(self, **command: Any) -> dict[str, Any]:
        """Give a command and hear what came of it."""
        self.say(**command)
        return self.hear()

    def embed(self, *texts: str, wait_s: float = 60) -> dict[str, Any]:
        """Vectors (rounded), `heavy` (whether the model is in that process), `state` and `why`."""
        return self.do(do="embed", texts=texts, wait_s=wait_s)

    def end(self) -> int:
        """Let it end by itself; its exit code."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        return self._process.wait(60)

    def kill(self) -> None:
        """End it as a crash would."""
        self._process.kill()
        self._process.wait(60)


def main() -> None:
    """Serve commands from stdin until it ends."""
    from memhub_mcp.errors import ModelError
    from memhub_mcp.models.load import Models
    from memhub_mcp.settings import Settings

    home = Path(sys.argv[1])
    models = Models(Settings(home=home, cwd=home, person_home=home, **json.loads(sys.argv[2])))
    for line in sys.stdin:
        command = json.loads(line)
        door = models.embedder
        reply: dict[str, Any] = {}
        embedder = None if command["do"] == "state" else door.get(command.get("wait_s", 0))
        if embedder is not None:
            try:
                if command["do"] == "embed":
                    reply["vectors"] = embedder.embed(command["texts"]).round(4).tolist()
                elif command["do"] == "encode":
                    encoding = embedder.encode(command["texts"])
                    reply["vectors"] = encoding.vectors.round(4).tolist()
                    reply["tokens"] = [[token.pieces, token.words, token.vectors.shape] for token in encoding.tokens]
                elif command["do"] == "cut":
                    reply["pieces"] = embedder.split(command["text"])
                    reply["share"] = embedder.known_share(command["text"])
                    reply["space"], reply["window"] = embedder.space.name, embedder.window_tokens
                elif command["do"] == "score":
                    reranker = models.reranker.get(60)
                    assert reranker is not None, models.reranker.why()
                    reply["scores"] = reranker.score(command["query"], command["passages"]).round(5).tolist()
            except ModelError as error:
                reply["failed"] = str(error)
        reply |= {"state": door.state(), "why": door.why(), "heavy": HEAVY in sys.modules, "pid": os.getpid()}
        print(json.dumps(reply), flush=True)
    models.close()


if __name__ == "__main__":
    main()
