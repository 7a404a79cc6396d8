"""What was said in a line, without what surgery put there in place of a picture (spec D4)."""

from __future__ import annotations

from sessions.core.events import blocks_of, text_of
from sessions.core.lines import Line
from sessions.core.squash import LEFT_OUT_WORDS, left_out


def spoken(line: Line) -> str:
    """The words of a line as `text_of` has them; a mark for a picture that was left out is nobody's."""
    text = text_of(line)
    if LEFT_OUT_WORDS not in text:
        return text
    texts = [block.text for block in blocks_of(line) if block.type == "text" and block.text]
    return "\n".join(each for each in texts if left_out(each) is None)
