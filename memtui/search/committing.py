"""Committing: what is new and what is gone, on the disk in one go or not at all."""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from whoosh.index import clean_files

from memtui.search import merging, postings, schema
from memtui.search.documents import Document

HALF_LISTED = ".toc."
"""In the names of lists of what is in the index, until they are written whole."""


MEMORY_MB = 64
"""How much of what is written is held in memory."""


MANY = 200
"""Who writes so many documents at once does not wait for any one of them."""


def commit(opened: Any, documents: Sequence[Document], gone: Sequence[str]) -> None:
    """Write documents, and delete all there were of some nodes.

    Args:
        opened: The index, as Whoosh opens it.
        documents: What is new.
        gone: The ids of nodes.
    """
    writer = opened.writer(limitmb=MEMORY_MB, codec=postings.Codec())
    try:
        _delete(writer, gone)
        for document in documents:
            writer.add_document(**schema.row(document))
        most = merging.LARGE if len(documents) >= MANY else merging.SMALL
        writer.commit(mergetype=partial(merging.merge, largest=most))
    except BaseException:
        _drop(opened, writer)
        raise


def _delete(writer: Any, node_ids: Sequence[str]) -> None:
    """Delete all documents of nodes."""
    if not node_ids:
        return
    reader = writer.reader()
    try:
        for leaf, start in reader.leaf_readers():
            for node_id in node_ids if leaf.doc_count_all() else ():
                for number in postings.listed(leaf, *schema.place(node_id))[0]:
                    writer.delete_document(start + number)
    finally:
        reader.close()


def _drop(opened: Any, writer: Any) -> None:
    """Drop what was not committed, with its files and the lock.

    The next commit would delete the files: on a full disk that may be long in coming.
    """
    if writer.is_closed:
        return
    with suppress(Exception):
        writer._close_segment()
    with suppress(Exception):
        latest, storage = opened._read_toc(), opened.storage
        kept = latest.generation, latest.segments
        clean_files(storage, opened.indexname, *kept)
        for name in storage.list():
            if HALF_LISTED in name:
                storage.delete_file(name)
    writer._finish()
