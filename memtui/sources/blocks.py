"""Content blocks of a model's message, as text."""

from collections.abc import Iterator

from memtui.sources.records import text_of


def texts(content: object) -> Iterator[str]:
    """The readable parts of a message's content; a placeholder for each image.

    Blocks that are calls, results or thinking are left to those who know them.
    """
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for block in content:
            if isinstance(block, str):
                yield block
            elif isinstance(block, dict):
                yield from _readable(block)


def _readable(block: dict[str, object]) -> Iterator[str]:
    kind = block.get("type")
    if kind == "text":
        yield text_of(block.get("text"))
    elif kind in ("image", "document"):
        yield placeholder(block)


def placeholder(block: dict[str, object]) -> str:
    """What stands for an image or a document: its type and size, never its bytes."""
    source = block.get("source")
    if not isinstance(source, dict):
        return f"[{block.get('type')}]"
    kept = source.get("data")
    size = f", {len(kept) * 3 // 4 // 1024 or 1} kB" if isinstance(kept, str) else ""
    return f"[{block.get('type')}: {source.get('media_type', 'unknown type')}{size}]"


def result_text(content: object) -> str:
    """A tool's answer as text, whatever shape it has."""
    if isinstance(content, list):
        return "\n".join(filter(None, map(_result_block, content)))
    return text_of(content)


def _result_block(block: object) -> str:
    if not isinstance(block, dict):
        return text_of(block)
    kind = block.get("type")
    if kind == "text":
        return text_of(block.get("text"))
    return placeholder(block) if kind in ("image", "document") else text_of(block)
