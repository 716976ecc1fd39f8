"""What tests of the app share: what a reader sees of a page."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

_TAGS = re.compile(r"<(style).*?</style>|<[^>]+>", re.DOTALL)


def markup(test: Any) -> str:
    """Return the page's own HTML."""
    return " ".join(element.proto.body for element in test.get("html"))


def words(test: Any) -> str:
    """Return everything that a reader sees, as plain text."""
    assert not test.exception, test.exception
    parts = [element.value for kind in (test.title, test.header, test.markdown, test.caption) for element in kind]
    labels = [element.label for kind in (test.button, test.selectbox) for element in kind]
    return " ".join([*parts, *labels, unescape(_TAGS.sub(" ", markup(test)))])
