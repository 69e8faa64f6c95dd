"""The entry point the bundle format asks for; the manifest starts the installed command itself."""

import sys

from memhub_mcp.cli.main import main

sys.exit(main(["serve", *sys.argv[1:]]))
