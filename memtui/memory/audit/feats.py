"""Feats: how people and tools word that something was done, or failed."""

import re

_WHO = (
    r"(?:(?:(?:the )?(?:assistant|user|agent|ai)|i|we|they|it)"
    r"(?: has| have| had| then| also)* )?"
)
APART = re.compile(r"; |(?<=[.!?]) (?=[A-Z])")
DONE = re.compile(
    rf"{_WHO}(?P<verb>edited|wrote|ran|read|searched for|changed|updated|modified"
    r"|patched|created|executed|deleted|removed) (?P<things>.+)",
    re.IGNORECASE | re.DOTALL,
)
FAILED = re.compile(
    r"(?P<thing>[\w ./:\-@=+~*%#]+?) failed(?:: (?P<wrong>.+)|[.!]?$)", re.DOTALL
)
COMMITTED = re.compile(rf"{_WHO}committed (?=“)", re.IGNORECASE)
SUBJECT = re.compile("“([^”]+)(?:”|$)")
KINDS = {
    "changed": "edited",
    "updated": "edited",
    "modified": "edited",
    "patched": "edited",
    "created": "wrote",
    "executed": "ran",
    "deleted": "deleted",
    "removed": "deleted",
}
"""Verbs that speak of a deed only before the bare name of a file or a command."""

DID = {
    "edited": {"Edited", "Wrote"},
    "wrote": {"Wrote"},
    "ran": {"Ran"},
    "read": {"Read", "Ran", "Searched for"},
    "searched for": {"Searched for", "Ran"},
    "deleted": set(),
}
_WRITING = re.compile(
    r"\bsed -i|\btee\b|[^-=0-9]>>? ?[\w./~\"']|\bpatch\b|\bprettier\b"
)
_DELETING = re.compile(r"\b(?:rm|unlink|del|trash|mv)\b|-delete\b")
DOING = {"edited": _WRITING, "wrote": _WRITING, "deleted": _DELETING}
"""Commands that change files or do away with them."""

SAYS = {
    kind: re.compile(rf"\b(?:{latin})\b|{han}", re.IGNORECASE)
    for kind, latin, han in (
        (
            "edited",
            "edited|changed|updated|modified|patched|adjusted|rewrote|fixed|extended"
            "|refactored|renamed|geändert|angepasst|bearbeitet",
            "修改了|编辑了|更新了",
        ),
        (
            "wrote",
            "wrote|written|created|added|geschrieben|erstellt|angelegt",
            "创建了",
        ),
        ("ran", "ran|re-?ran|executed|ausgeführt", "运行了"),
        ("read", "read|reviewed|inspected|looked at|opened|gelesen", "读了"),
        ("searched for", "searched|looked for|grepped|gesucht", "搜索了"),
        ("committed", "committed|committet", "提交了"),
        ("deleted", "deleted|removed|dropped|gelöscht|entfernt", "删除了"),
        ("failed", r"fail\w*|broke\w*|crash\w*|errors?|fehlgeschlagen", "失败"),
    )
}
MORE = re.compile(
    r" (?:and|und|to|with|in|for|so|which|that|on|from|after|before|again|because|but"
    r"|by|as|at|via|using|until) "
)
CUT = "…"
COMMANDS = ("go", "just", "do", "yes")
"""Small words that are commands as well."""

FILES = ("edited", "wrote", "read", "deleted")
