"""`python -m memhub_mcp`: the command line where no script is installed."""

import sys

from memhub_mcp.cli.main import main

sys.exit(main())
