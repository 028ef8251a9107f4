"""Recognize keys, tokens and key blocks by their format.

A key kind is a prefix that a provider uses. Only secret values have one: values that
are meant to be public (``pk_live_…``, ``phc_…``, account ids) do not.
"""

import base64
import binascii
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

MIN_KEY_CHARS = 20
"""A key recognized by its format has at least this many characters."""

# Character classes in the patterns of keys; the second is that of URL-safe base64.
_ALNUM = "[A-Za-z0-9]"
_URL_SAFE = "[A-Za-z0-9_-]"
_HEX = "[0-9a-fA-F]"


@dataclass(frozen=True, slots=True)
class KeyKind:
    """The format of one provider's keys."""

    name: str
    pattern: re.Pattern[str]
    starts: tuple[str, ...]
    """Their first two characters."""


def _kind(name: str, *shapes: str) -> KeyKind:
    """Create a kind from patterns that each start with two literal characters."""
    return KeyKind(
        name,
        re.compile(f"(?:{'|'.join(shapes)})(?!{_ALNUM})"),
        tuple({shape[:2] for shape in shapes}),
    )


# A new kind may also belong in _CUT and _INNER below; raise secrets.RULES_VERSION.
KINDS = (
    _kind(
        "anthropic key",
        rf"sk-ant-[a-z]+\d\d-{_URL_SAFE}{{16,}}",
        rf"sk-ant-{_URL_SAFE}{{24,}}",
    ),
    _kind("openrouter key", rf"sk-or-v\d-{_ALNUM}{{32,}}"),
    _kind("langfuse key", rf"sk-lf-{_URL_SAFE}{{20,}}"),
    _kind(
        "openai key",
        rf"sk-(?:proj|svcacct|admin|None|service|org)-{_URL_SAFE}{{20,}}",
        rf"sk-{_ALNUM}{{20,}}",
    ),
    _kind("google key", rf"AIza{_URL_SAFE}{{35}}", r"AQ\.Ab8" + f"{_URL_SAFE}{{30,}}"),
    _kind("google secret", rf"GOCSPX-{_URL_SAFE}{{20,}}"),
    _kind("google token", r"ya29\.[A-Za-z0-9_.-]{20,}"),
    _kind("aws key", *(f"{s}[A-Z2-7]{{16}}" for s in ("AKIA", "ASIA", "ABIA", "ACCA"))),
    _kind(
        "aws bedrock key", rf"ABSK{_ALNUM}{{80,}}", rf"bedrock-api-key-{_ALNUM}{{20,}}"
    ),
    _kind(
        "github token", rf"gh[pousr]_[A-Za-z0-9_]{{36,}}(?:\.{_URL_SAFE}{{10,}}){{0,2}}"
    ),
    _kind("github token", r"github_pat_[A-Za-z0-9_]{22,}"),
    _kind(
        "gitlab token",
        rf"gl(?:pat|oas|dt|rtr?|cbt|ptt|ft|imt|agent|soat|ffct|wt)-{_URL_SAFE}{{20,}}"
        rf"(?:\.{_ALNUM}+){{0,2}}",
        rf"GR1348941{_URL_SAFE}{{20}}",
    ),
    _kind(
        "slack token",
        rf"xox[abcdeoprs](?:\.xox[bp])?-{_URL_SAFE}{{10,}}",
        rf"xapp-\d-{_URL_SAFE}{{12,}}",
        rf"xwfp-{_URL_SAFE}{{12,}}",
    ),
    _kind("stripe key", rf"sk_(?:live|test|prod)_{_ALNUM}{{10,}}"),
    _kind("stripe key", rf"rk_(?:live|test|prod)_{_ALNUM}{{10,}}"),
    _kind("webhook secret", r"whsec_[A-Za-z0-9+/]{24,}={0,2}"),
    _kind("twilio key", r"SK[0-9a-f]{32}"),
    _kind("sendgrid key", rf"SG\.{_URL_SAFE}{{16,32}}\.{_URL_SAFE}{{16,64}}"),
    _kind("npm token", rf"npm_{_ALNUM}{{36,}}"),
    _kind("pypi token", rf"pypi-{_URL_SAFE}{{32,}}"),
    _kind("hugging face token", rf"hf_{_ALNUM}{{30,}}", rf"api_org_{_ALNUM}{{30,}}"),
    _kind("groq key", rf"gsk_{_ALNUM}{{40,}}"),
    _kind("xai key", rf"xai-{_ALNUM}{{60,}}"),
    _kind("replicate token", rf"r8_{_ALNUM}{{30,}}"),
    _kind("perplexity key", rf"pplx-{_ALNUM}{{40,}}"),
    _kind("nvidia key", rf"nvapi-{_URL_SAFE}{{50,}}"),
    _kind("tavily key", rf"tvly-(?:dev-|prod-)?{_URL_SAFE}{{28,}}"),
    _kind("cerebras key", rf"csk-{_ALNUM}{{40,}}"),
    _kind("fireworks key", rf"fw_{_ALNUM}{{22,}}"),
    _kind("firecrawl key", r"fc-[0-9a-f]{32}"),
    _kind("e2b key", r"e2b_[0-9a-f]{40}"),
    _kind("langsmith key", r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"),
    _kind("elevenlabs key", r"sk_[0-9a-f]{48}"),
    _kind("digitalocean token", r"do[opr]_v1_[0-9a-f]{64}"),
    _kind("cloudflare token", rf"cf(?:ut|at|k)_{_ALNUM}{{40,}}"),
    _kind("cloudflare token", r"v1\.0-[0-9a-f]{24}-[0-9a-f]{100,}"),
    _kind("databricks token", r"dapi[0-9a-f]{32}(?:-\d)?"),
    _kind("linear key", rf"lin_(?:api|oauth)_{_ALNUM}{{32,}}"),
    _kind("notion token", rf"ntn_{_ALNUM}{{40,}}", rf"secret_{_ALNUM}{{43}}"),
    _kind(
        "vercel token",
        rf"vc[pkairs]_{_ALNUM}{{24,}}",
        rf"vercel_blob_rw_{_URL_SAFE}{{30,}}",
    ),
    _kind("netlify token", rf"nf[pcuo]_{_ALNUM}{{36,}}"),
    _kind(
        "supabase key", r"sbp_(?:v\d_)?[0-9a-f]{40}", rf"sb_secret_{_URL_SAFE}{{20,}}"
    ),
    _kind("mailgun key", r"key-[0-9a-f]{32}", r"pubkey-[0-9a-f]{32}"),
    _kind("brevo key", rf"xkeysib-[0-9a-f]{{64}}-{_ALNUM}{{16}}"),
    _kind("resend key", rf"re_{_ALNUM}{{8}}_{_ALNUM}{{20,}}"),
    _kind("docker token", rf"dckr_(?:pat|oat)_{_URL_SAFE}{{24,}}"),
    _kind("atlassian token", rf"AT[AC]TT3{_URL_SAFE}{{60,}}(?:=[0-9A-F]{{8}})?"),
    _kind("bitbucket password", rf"ATBB{_ALNUM}{{28,}}"),
    _kind("shopify token", rf"shp(?:at|ca|pa|ss|tka)_{_HEX}{{32}}"),
    _kind("sentry token", r"sntry[sua]_[A-Za-z0-9_+/-]{40,}={0,2}"),
    _kind("new relic key", r"NRAK-[A-Z0-9]{27}", rf"NRII-{_URL_SAFE}{{32}}"),
    _kind("figma token", rf"fig[dour]+_{_URL_SAFE}{{36,}}"),
    _kind("postman key", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}", rf"PMAT-{_ALNUM}{{26}}"),
    _kind("doppler token", rf"dp\.[a-z]{{2,5}}\.(?:{_URL_SAFE}+\.)?{_ALNUM}{{40,44}}"),
    _kind("vault token", rf"hv[sbr]\.{_URL_SAFE}{{24,}}"),
    _kind("age key", r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
    _kind("age key", r"AGE-SECRET-KEY-PQ-1[A-Z0-9]{58,}"),
    _kind("1password token", r"ops_eyJ[A-Za-z0-9+/_-]{60,}={0,2}"),
    _kind("pulumi token", r"pul-[0-9a-f]{40}"),
    _kind(
        "fly token", rf"fo1_{_URL_SAFE}{{40,}}", r"fm[12][ar]?_[A-Za-z0-9+/]{60,}={0,2}"
    ),
    _kind(
        "grafana token",
        rf"glsa_{_ALNUM}{{32}}_{_HEX}{{8}}",
        rf"glc_{_ALNUM}{{32,}}={{0,2}}",
    ),
    _kind("airtable token", rf"pat{_ALNUM}{{14}}\.[0-9a-f]{{64}}"),
    _kind(
        "hubspot token",
        rf"pat-[a-z]{{2}}\d-{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}",
    ),
    _kind(
        "square token",
        rf"sq0(?:atp|csp|idp)-{_URL_SAFE}{{22,}}",
        rf"EAAA[EL]{_URL_SAFE}{{55,}}",
    ),
    _kind("planetscale token", rf"pscale_(?:tkn|pw|oauth)_{_URL_SAFE}{{32,}}"),
    _kind("heroku key", rf"HRKU-{_URL_SAFE}{{36,}}"),
    _kind("rubygems key", r"rubygems_[0-9a-f]{48}"),
    _kind("crates.io token", rf"cio{_ALNUM}{{32}}"),
    _kind("contentful token", rf"CFPAT-{_URL_SAFE}{{40,}}"),
    _kind("dynatrace token", r"dt0[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    _kind("sonar token", r"sq[pua]_[0-9a-f]{40}"),
    _kind("buildkite token", rf"bk[up]a_{_ALNUM}{{30,}}"),
    _kind("circleci token", rf"CCIP(?:AT|RJ)_{_URL_SAFE}{{30,}}"),
    _kind("tailscale key", rf"tskey-[a-z]+-{_ALNUM}{{8,}}(?:-{_ALNUM}{{16,}})?"),
    _kind("posthog key", rf"phx_{_ALNUM}{{40,}}"),
    _kind("neon key", rf"napi_{_ALNUM}{{60,}}"),
    _kind("apify token", rf"apify_api_{_ALNUM}{{30,}}"),
    _kind("mapbox token", rf"sk\.eyJ{_URL_SAFE}{{20,}}\.{_URL_SAFE}{{16,}}"),
    _kind("facebook token", rf"EAA[A-Z]{_ALNUM}{{100,}}"),
    _kind("attio token", r"at_[0-9a-f]{64}"),
    _kind("sourcegraph token", r"sgp_(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}"),
    _kind("dropbox token", rf"sl\.{_URL_SAFE}{{130,}}"),
    _kind("alibaba key", rf"LTAI{_ALNUM}{{12,24}}"),
    _kind("artifactory key", rf"AKCp{_ALNUM}{{60,}}"),
    _kind("duffel token", rf"duffel_(?:live|test)_{_URL_SAFE}{{43}}"),
    _kind("shippo token", r"shippo_(?:live|test)_[0-9a-f]{40}"),
    _kind("adafruit key", rf"aio_{_ALNUM}{{28}}"),
    _kind("typeform token", r"tfp_[A-Za-z0-9_.=-]{59}"),
    _kind("prefect key", rf"pnu_{_ALNUM}{{36}}"),
    _kind("readme key", r"rdme_[a-z0-9]{70}"),
    _kind("flutterwave key", rf"FLWSECK(?:_TEST)?-{_ALNUM}{{12,}}(?:-X)?"),
    _kind("easypost key", rf"EZ[AT]K{_ALNUM}{{54}}"),
    _kind("clojars token", rf"CLOJARS_{_ALNUM}{{60}}"),
    _kind("infracost key", rf"ico-{_ALNUM}{{32}}"),
    _kind("scalingo token", rf"tk-us-{_URL_SAFE}{{48}}"),
    _kind("frame.io token", rf"fio-u-{_URL_SAFE}{{64}}"),
    _kind("yandex key", rf"AQVN{_URL_SAFE}{{35,38}}"),
)

_EXAMPLES = re.compile(r"EXAMPLE|example|your|YOUR|xxxx|XXXX|\.\.\.|placeholder|redact")

_MIN_DISTINCT = 6
"""A key has at least this many different characters; ``ghp_000…`` is none."""

_SNOWFLAKES = ("MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT")
"""The first characters of a Discord token: the bot's number in base64."""


def is_real_key(key: str) -> bool:
    """Return whether a key is not an example from a manual."""
    return not _EXAMPLES.search(key) and len(set(key[4:])) >= _MIN_DISTINCT


def has_jwt_header(token: str) -> bool:
    """Return whether a token starts with the header of a JWT."""
    header = token.partition(".")[0]
    try:
        decoded = json.loads(
            base64.urlsafe_b64decode(header + "=" * (-len(header) % 4))
        )
    except (binascii.Error, ValueError, RecursionError):
        return False
    return isinstance(decoded, dict) and not {"alg", "enc", "typ"}.isdisjoint(decoded)


def is_encoded_key(value: str) -> bool:
    """Return whether a value is the base64 of a private key's block."""
    return b"PRIVATE KEY" in base64.b64decode(value[:64])


_CHECKED_KINDS = (
    KeyKind(
        "private key",
        re.compile(r"LS0tLS1CRUdJTi[A-Za-z0-9+/]{50,}={0,2}"),
        ("LS",),
    ),
    KeyKind(
        "jwt",
        re.compile(
            rf"eyJ{_URL_SAFE}{{8,}}\.{_URL_SAFE}{{8,}}(?:\.{_URL_SAFE}*){{0,3}}"
        ),
        ("ey",),
    ),
    KeyKind(
        "telegram token",
        re.compile(rf"(?<=\d:)AA{_URL_SAFE}{{32,34}}(?!{_URL_SAFE})"),
        ("AA",),
    ),
    KeyKind(
        "discord token",
        re.compile(
            rf"[MNO]{_URL_SAFE}{{22,27}}\.{_URL_SAFE}{{6}}"
            rf"\.{_URL_SAFE}{{27,40}}(?!{_URL_SAFE})"
        ),
        _SNOWFLAKES,
    ),
)
"""Kinds that need more than their first characters to recognize."""

KINDS_BY_PREFIX: dict[str, tuple[KeyKind, ...]] = {
    start: tuple(kind for kind in (*KINDS, *_CHECKED_KINDS) if start in kind.starts)
    for every in (*KINDS, *_CHECKED_KINDS)
    for start in every.starts
}
"""The kinds by the first two characters of their keys."""

_CUT = re.compile(
    r"(?:sk-(?:ant|proj|svcacct|or|lf)-|gh[pousr]_|github_pat_|glpat-"
    r"|xox[abpr]-|[sr]k_live_|npm_|hf_|gsk_|xai-|pypi-|AIza|AKIA|ASIA|SG\.|hv[sb]\.)"
    rf"{_URL_SAFE}{{12,}}$"
)


def is_cut_key(text: str, start: int, end: int) -> bool:
    """Return whether a run of letters is the beginning of a key."""
    cut = _CUT.match(text, start, end)
    return bool(cut) and is_real_key(text[start:end])


_INNER = re.compile(
    r"sk-(?:ant|proj|svcacct)-|gh[pousr]_[A-Za-z0-9]{36}|github_pat_|glpat-"
    r"|xox[abpr]-\d|[sr]k_live_|npm_[A-Za-z0-9]{36}|hf_[A-Z]\w{29}"
    r"|AKIA[A-Z2-7]{16}(?![A-Za-z0-9])|(?<=[_-])AIza"
)

_INNER_STARTS = (
    *("sk-ant-", "sk-proj-", "sk-svcacct-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    *("github_pat_", "glpat-", "xox", "sk_live_", "rk_live_", "npm_", "hf_", "AKIA"),
    "AIza",
)


def inner_key_starts(text: str) -> Iterator[int]:
    """Find where keys may start after a name or letter: ``my_ghp_…``."""
    for start in _INNER_STARTS:
        at = text.find(start)
        while at >= 0:
            if _NAME_END.match(text, at - 1) and _INNER.match(text, at):
                yield at
            at = text.find(start, at + 1)


_NAME_END = re.compile(r"[A-Za-z0-9_-]")


def match_key(text: str, at: int) -> tuple[int, str] | None:
    """Return the end and kind of the key at a position; None if there is none."""
    for kind in KINDS_BY_PREFIX.get(text[at : at + 2], ()):
        found = kind.pattern.match(text, at, at + KEY_CHARS)
        if found and _CHECKS.get(kind.name, is_real_key)(found[0]):
            return found.end(), kind.name
    return None


KEY_CHARS = 8192
"""A longer key is only redacted up to here."""

_CHECKS = {"jwt": has_jwt_header, "private key": is_encoded_key}


SecretSpan = tuple[int, int, str]
"""Start, end and kind of a secret; kind "" for text already checked."""

Rule = Callable[[str, int], Iterator[SecretSpan]]
"""Finds secrets at a position in a text."""

KEY_BLOCK_CHARS = 32_768
"""Only this much of a key block is searched for its end."""

_PRIVATE_KEY = re.compile(r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_KEY_END = re.compile(r"-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_KEY_BODY = re.compile(r"(?:[^\"'`{}<\\]|\\++(?:[nrt]|u[0-9a-f]{4}))*")

_LINE_LEAD = (
    r"(?:[ \t]*(?:[\w./-]{1,80}:)?\d{1,6}(?:[→\t:|]|\\++(?:t|u2192)))?[ \t>+|-]{0,12}"
)
"""What tools write before a line: its number, its file, the sign of a change."""

_QUOTE_JOINT = r"(?:\\++n)?\\*[\"'][ \t]*[+.,&\\]?[ \t]*"
"""The end of a string that the next one is joined to."""

_KEY_LINES = re.compile(
    rf"(?:(?:(?:{_QUOTE_JOINT})?[ \t]*(?:\r?\n|\\++[nr]))+(?:{_LINE_LEAD}){{1,2}}"
    r"(?:\\*[\"'])?"
    r"(?:(?:Proc-Type|DEK-Info|Version|Comment|Charset)[^\n\\\"']{0,100}"
    r"|[A-Za-z0-9+/]{1,256}={0,2}(?![^\s\\\"'`…])))+"
)

_KEY_END_LINE = re.compile(
    rf"(?:(?:{_QUOTE_JOINT})?[ \t]*(?:\r?\n|\\++[nr]))+(?:{_LINE_LEAD}){{1,2}}"
    r"(?:\\*[\"'])?-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
)

_LINE_END = re.compile(r"(?:\r?\n|\\++[nr])+")
_KEY_LINE = re.compile(rf"(?:{_LINE_LEAD}){{1,2}}[A-Za-z0-9+/]{{16,256}}={{0,2}}[ \t]*")

_KEY_IN_A_LINE = re.compile(
    r"(?:[ \t]+(?:Proc-Type|DEK-Info): \S{1,60})*"
    r"(?:(?:\s|\\++[nrt])*(?:\d{1,6}[→\t:| ][ \t]*)?[+>|-]?[ \t]{0,4}"
    r"[A-Za-z0-9+/]{24,}+={0,2})+"
    r"(?:[ \t]+(?:\d{1,6} )?[A-Za-z0-9+/]{1,23}={0,2}(?=…|\s*(?:$|-----|[\"'`\\])))?"
)
"""A key whose lines were joined, or that was cut; words of prose are shorter."""

_KEY_TEXT = re.compile(r"[A-Za-z0-9+/]{16}")
_JOINT = r"(?:[ \t]*(?:\r?\n|\\++[nr])[ \t>+|-]{0,4}|[ \t]+)"

_PUTTY = re.compile(
    rf"private-lines: \d{{1,4}}{_JOINT}"
    rf"([A-Za-z0-9+/]{{16,}}={{0,2}}(?:{_JOINT}[A-Za-z0-9+/]{{16,}}={{0,2}})*)",
    re.IGNORECASE,
)

_HASH = re.compile(
    r":(\$(?:apr1|1|5|6|7|y|gy|2[abxy])\$[./A-Za-z0-9$=,]{16,128})(?=[\s:\"'\\]|$)"
)
_LONG_HASH = re.compile(
    r"\$(?:2[abxy]\$\d\d\$[./A-Za-z0-9]{53}|argon2(?:id|i|d)\$[\w=,$+/.-]{40,256}"
    r"|[56]\$(?:rounds=\d+\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{43,86})(?![./A-Za-z0-9])"
)

_TERRAFORM = re.compile(rf"{_ALNUM}{{14}}\.atlasv1\.{_URL_SAFE}{{60,70}}")
_OPENSHIFT = re.compile(rf"sha256~{_URL_SAFE}{{43}}(?!{_ALNUM})")

_BEFORE_HASHES = re.compile(r"[\w.@-]$")


def _key_block(text: str, at: int) -> Iterator[SecretSpan]:
    begin = _PRIVATE_KEY.match(text, at)
    if not begin:
        return
    limit = text.find("-----BEGIN", begin.end(), at + KEY_BLOCK_CHARS)
    limit = limit if limit >= 0 else at + KEY_BLOCK_CHARS
    closing = text.find("-----END", begin.end(), limit)
    if closing >= 0 and (end := _KEY_END.match(text, closing)):
        body = _KEY_BODY.fullmatch(text, begin.end(), closing)
        if body and _KEY_TEXT.search(body[0]):
            yield at, end.end(), "private key"
            return
    lines = _KEY_LINES.match(text, begin.end(), limit)
    if not lines or not _KEY_TEXT.search(lines[0]):
        lines = _KEY_IN_A_LINE.match(text, begin.end(), limit)
    if lines:
        ended = _KEY_END_LINE.match(text, lines.end())
        yield at, (ended or lines).end(), "private key"


def _key_end(text: str, at: int) -> Iterator[SecretSpan]:
    """Find the lines of a key that was cut off at its start."""
    end = _KEY_END.match(text, at)
    if not end:
        return
    start = max(0, at - KEY_BLOCK_CHARS, text.rfind("-----", 0, at) + 1)
    ends = list(_LINE_END.finditer(text, start, at))
    first = at
    for number in reversed(range(len(ends))):
        line_start = ends[number - 1].end() if number else start
        quote = text.rfind('"', line_start, ends[number].start())
        line_start = quote + 1 if quote >= 0 else line_start
        if not _KEY_LINE.fullmatch(text, line_start, ends[number].start()):
            break
        first = line_start
        if quote >= 0:
            break
    if first < at:
        yield first, end.end(), "private key"


def _putty(text: str, at: int) -> Iterator[SecretSpan]:
    lines = _PUTTY.match(text, at)
    if lines:
        yield *lines.span(1), "private key"


def _hash(text: str, at: int) -> Iterator[SecretSpan]:
    found = _HASH.match(text, at)
    if found and _BEFORE_HASHES.search(text, max(0, at - 1), at):
        yield *found.span(1), "password hash"


def terraform_token(text: str, at: int) -> Iterator[SecretSpan]:
    if found := _TERRAFORM.match(text, at - 14):
        yield *found.span(), "terraform token"


def openshift_token(text: str, at: int) -> Iterator[SecretSpan]:
    if found := _OPENSHIFT.match(text, at):
        yield *found.span(), "openshift token"


def long_hash(text: str, at: int) -> Iterator[SecretSpan]:
    if found := _LONG_HASH.match(text, at):
        yield *found.span(), "password hash"


PATTERN_RULES: tuple[tuple[bytes, Rule], ...] = (
    (b"-----begin", _key_block),
    (b"private-lines:", _putty),
    (b"-----end", _key_end),
    (b":$", _hash),
)
"""The byte string before each kind of block, and the rule that checks it."""
