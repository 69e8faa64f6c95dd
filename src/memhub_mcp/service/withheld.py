"""Which paths of a checkout have content that is not to be kept. Its rules are read without following links."""

from memhub_mcp.capture.withheld import Withheld
from memhub_mcp.domain.scope import Checkout
from memhub_mcp.repo.plain_files import read_inside, read_plain_file


def withheld_in(checkout: Checkout) -> Withheld:
    """The rules of `checkout` as they are now."""
    exclude = read_plain_file(checkout.common_dir / "info" / "exclude")
    return Withheld(lambda path: read_inside(checkout.root, path), exclude)
