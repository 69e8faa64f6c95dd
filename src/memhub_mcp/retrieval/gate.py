"""Whether a hit bears on the question at all. Nothing relevant is an answer; padding is not."""

from memhub_mcp.domain.hit import Evidence


def passes(evidence: Evidence, *, lookup: bool) -> bool:
    """Whether the evidence suffices."""
    cosine = evidence.cosine or 0.0
    return evidence.share >= 0.5 or cosine >= 0.45 or evidence.share + cosine >= 0.7
