"""What we put into a context is recognised again and never captured as someone's words."""

from hypothesis import given
from hypothesis import strategies as st

from memhub_mcp.capture.markers import CLOSING_MARKER, OPENING_MARKER, fence, strip_fenced

pieces = st.lists(
    st.sampled_from([OPENING_MARKER, CLOSING_MARKER, "<MEMHUB-evidence>", "<", "\n", "use uv", "&lt;", "</memhub-"]),
    max_size=8,
).map("".join)


@given(st.one_of(pieces, st.text(max_size=80)))
def test_evidence_cannot_close_its_own_fence(text: str) -> None:
    fenced = fence(text)
    assert fenced.count(OPENING_MARKER) == fenced.count(CLOSING_MARKER) == 1
    assert fenced.endswith(CLOSING_MARKER)


@given(st.one_of(pieces, st.text(max_size=80)), st.text("ab \n", max_size=20), st.text("ab \n", max_size=20))
def test_a_fenced_block_leaves_no_trace(text: str, before: str, after: str) -> None:
    stripped = strip_fenced(f"{before}\n{fence(text)}\n{after}")
    assert stripped == f"{before}\n{after}"


def test_a_block_without_its_end_is_dropped_to_the_end() -> None:
    assert strip_fenced(f"why?\n{OPENING_MARKER}\nold note cut o") == "why?\n"


def test_a_marker_in_a_sentence_is_no_block() -> None:
    text = f"what does {OPENING_MARKER} mean?"
    assert strip_fenced(text) == text
