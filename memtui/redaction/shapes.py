"""Recognize keys and tokens of providers by their format, and blocks of private keys.

A format begins with what a provider puts before each key. Only secret values have one:
values that are meant to be public (``pk_live_…``, ``phc_…``, account ids) do not.
"""

import base64
import binascii
import json
import re
from collections.abc import Iterator

from memtui.redaction.names import Span, run_chars

MIN_KEY_CHARS = 16
"""A key recognized by its format has at least this many characters."""

MAX_KEY_CHARS = 8192
"""A longer key is only redacted up to here."""

MAX_RUN_CHARS = 4.0
"""A key without numbers has shorter runs of letters than names have."""

MAX_CHECKED_CHARS = 256
"""Examples and placeholders are told from keys by this many first characters."""

# A letter in angle brackets is an abbreviation, see _CLASSES. A format is looked up by
# its first two characters, so it must begin with these literally; the second may be one
# of several in brackets. Of two formats that fit, the first counts. A new one may also
# belong in _INNER; raise RULES_VERSION with it.
_FORMATS = r"""
    anthropic key       sk-ant-[a-z]+\d\d-<U>{16,}
    anthropic key       sk-ant-<U>{24,}
    openrouter key      sk-or-v\d-<A>{32,}
    langfuse key        sk-lf-<U>{20,}
    openai key          sk-(?:proj|svcacct|admin|None|service|org)-<U>{20,}
    openai key          sk-<A>{20,}
    google key          AIza<U>{35}
    google secret       GOCSPX-<U>{20,}
    google token        ya29\.[A-Za-z0-9_.-]{20,}
    aws key             A[KS]IA[A-Z2-7]{16}
    aws bedrock key     ABSK<A>{80,}
    github token        gh[pousr]_[A-Za-z0-9_]{36,}(?:\.<U>{10,}){0,2}
    github token        github_pat_[A-Za-z0-9_]{22,}
    gitlab token        gl(?:pat|oas|[dfw]t|rtr?|cbt|ptt)-<U>{20,}<D>
    gitlab token        gl(?:imt|agent|soat|ffct)-<U>{20,}<D>
    gitlab token        GR1348941<U>{20}
    slack token         xox[abcdeoprs](?:\.xox[bp])?-<U>{11,}
    slack token         xapp-\d-<U>{12,}
    stripe key          sk_(?:live|test|prod)_<A>{10,}
    stripe key          rk_(?:live|test|prod)_<A>{10,}
    webhook secret      whsec_[A-Za-z0-9+/]{24,}={0,2}
    twilio key          SK<H>{32}
    sendgrid key        SG\.<U>{16,32}\.<U>{16,64}
    npm token           npm_<A>{36,}
    pypi token          pypi-<U>{32,}
    hugging face token  hf_<A>{30,}
    groq key            gsk_<A>{40,}
    xai key             xai-<A>{60,}
    replicate token     r8_<A>{30,}
    perplexity key      pplx-<A>{40,}
    nvidia key          nvapi-<U>{50,}
    tavily key          tvly-(?:dev-|prod-)?<U>{28,}
    cerebras key        csk-<A>{40,}
    fireworks key       fw_<A>{22,}
    firecrawl key       fc-<H>{32}
    e2b key             e2b_<H>{40}
    langsmith key       lsv2_(?:pt|sk)_<H>{32}_<H>{10}
    elevenlabs key      sk_<H>{48}
    digitalocean token  do[opr]_v1_<H>{64}
    cloudflare token    cf(?:ut|at|k)_<A>{40,}
    cloudflare token    v1\.0-<H>{24}-<H>{100,}
    databricks token    dapi<H>{32}(?:-\d)?
    linear key          lin_(?:api|oauth)_<A>{32,}
    notion token        ntn_<A>{40,}
    notion token        secret_<A>{43}
    vercel token        vc[pkairs]_<A>{24,}
    vercel token        vercel_blob_rw_<U>{30,}
    netlify token       nf[pcuo]_<A>{36,}
    supabase key        sbp_(?:v\d_)?<H>{40}
    supabase key        sb_secret_<U>{20,}
    mailgun key         key-<H>{32}
    mailersend key      mlsn\.<H>{64}
    brevo key           xsmtpsib-<H>{64}-<A>{16}
    brevo key           xkeysib-<H>{64}-<A>{16}
    resend key          re_<A>{8}_<A>{20,}
    docker token        dckr_(?:pat|oat)_<U>{24,}
    atlassian token     AT[AC]TT3<U>{60,}(?:=[0-9A-F]{8})?
    bitbucket password  ATBB<A>{28,}
    shopify token       shp(?:at|ca|pa|ss|tka|ua)_<X>{32}
    sentry token        sntry[sua]_[A-Za-z0-9_+/-]{40,}={0,2}
    new relic key       NRAK-<C>{27}
    figma token         fig[dour]+_<U>{36,}
    postman key         PMAK-<H>{24}-<H>{34}
    doppler token       dp\.[a-z]{2,5}\.(?:<U>+\.)?<A>{40,44}
    vault token         hv[sbr]\.<U>{24,}
    age key             AGE-SECRET-KEY-(?:PQ-)?1<C>{58,}
    1password token     ops_eyJ[A-Za-z0-9+/_-]{60,}={0,2}
    pulumi token        pul-<H>{40}
    fly token           fo1_<U>{40,}
    fly token           fm[12][ar]?_[A-Za-z0-9+/]{60,}={0,2}
    grafana token       glsa_<A>{32}_<X>{8}
    grafana token       glc_<A>{32,}={0,2}
    grafana key         eyJrIjoi<A>{60,}={0,2}
    airtable token      pat<A>{14}\.<H>{64}
    hubspot token       pat-[a-z]{2}\d-<X>{8}(?:-<X>{4}){3}-<X>{12}
    square token        sq0(?:atp|csp|idp)-<U>{22,}
    planetscale token   pscale_(?:tkn|pw|oauth)_<U>{32,}
    heroku key          HRKU-<U>{36,}
    rubygems key        rubygems_<H>{48}
    crates.io token     cio<A>{32}
    contentful token    CFPAT-<U>{40,}
    dynatrace token     dt0[a-z]\d\d\.<C>{24}\.<C>{64}
    sonar token         sq[pua]_<H>{40}
    buildkite token     bk[up]a_<A>{30,}
    circleci token      CCIP(?:AT|RJ)_<U>{30,}
    tailscale key       tskey-[a-z]+-<A>{8,}(?:-<A>{16,})?
    posthog key         ph[xrs]_<A>{40,}
    neon key            napi_<A>{60,}
    apify token         apify_api_<A>{30,}
    mapbox token        sk\.eyJ<U>{20,}\.<U>{16,}
    facebook token      EAA[A-Z]<A>{100,}
    sourcegraph token   sgp_(?:<X>{16}_|local_)?<X>{40}
    dropbox token       sl\.<U>{130,}
    alibaba key         LTAI<A>{12,24}
    artifactory key     AKCp<A>{60,}
    artifactory token   cmVmdGtu<A>{56,}
    duffel token        duffel_(?:live|test)_<U>{43}
    shippo token        shippo_(?:live|test)_<H>{40}
    adafruit key        aio_<A>{28}
    typeform token      tfp_[A-Za-z0-9_.=-]{59}
    prefect key         pnu_<A>{36}
    readme key          rdme_[a-z0-9]{70}
    flutterwave key     FLWSECK(?:_TEST)?-<A>{12,}(?:-X)?
    easypost key        EZ[AT]K<A>{54}
    clojars token       CLOJARS_<A>{60}
    together key        tgp_v1_<U>{40,}
    jina key            jina_<A>{48,}
    render key          rnd_<A>{28,}
    infracost key       ico-<A>{32}
    pinecone key        pcsk_<A>{5,6}_<A>{40,}
    neon password       npg_<A>{12,}
    launchdarkly key    sdk-<X>{8}(?:-<X>{4}){3}-<X>{12}
    plaid token         access-(?:prod|dev|sand)[a-z]+-<X>{8}(?:-<X>{4}){3}-<X>{12}
    scaleway key        SCW<C>{17}
    weights key         wandb_v\d_<U>{40,}
    aiven password      AVNS_<U>{19}
    tencent key         AKID<A>{32,36}
    dbt token           dbt[cu]_<U>{30,}
    private key         LS0tLS1CRUdJTi[A-Za-z0-9+/]{50,}={0,2}
    jwt                 eyJ<U>{8,}\.<U>{8,}(?:\.<U>*){0,3}
"""

_CLASSES = {
    "<A>": "[A-Za-z0-9]",
    "<U>": "[A-Za-z0-9_-]",
    "<H>": "[0-9a-f]",
    "<X>": "[0-9a-fA-F]",
    "<C>": "[A-Z0-9]",
    "<D>": r"(?:\.[A-Za-z0-9]+){0,2}",
}

_Format = tuple[str, re.Pattern[str]]
"""The kind of a key, and its pattern."""


def _compile(pattern: str) -> re.Pattern[str]:
    for short, full in _CLASSES.items():
        pattern = pattern.replace(short, full)
    return re.compile(pattern)


def _formats_by_start() -> dict[str, list[_Format]]:
    formats: dict[str, list[_Format]] = {}
    for line in _FORMATS.strip().splitlines():
        kind, pattern = re.split(r" {2,}", line.strip(), maxsplit=1)
        first, second = re.findall(r"\\.|\[\w+\]|.", pattern)[:2]
        for char in second.strip("[]\\"):
            shape = _compile(rf"{pattern}(?!<A>)")
            formats.setdefault(first + char, []).append((kind, shape))
    telegram = _compile(r"(?<=\d:)AA<U>{32,34}(?!<U>)")
    formats.setdefault("AA", []).append(("telegram token", telegram))
    # The token of a bot of Discord begins with its number in base64.
    discord = _compile(r"[MNO]<U>{22,27}\.<U>{6}\.<U>{27,40}(?!<U>)")
    for start in ("MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"):
        formats.setdefault(start, []).append(("discord token", discord))
    return formats


_FORMATS_BY_START = _formats_by_start()
"""The formats by the first two characters of their keys."""

# Keys that are found within a longer run of letters: "my_ghp_…".
_INNER = re.compile(
    r"sk-(?:ant|proj|svcacct)-|gh[pousr]_[A-Za-z0-9]{36}|github_pat_|glpat-"
    r"|xox[abpr]-\d|[sr]k_live_|npm_[A-Za-z0-9]{36}|hf_[A-Za-z0-9]{34}(?![A-Za-z0-9])"
    r"|AKIA[A-Z2-7]{16}(?![A-Za-z0-9])|AIza(?<=[_-]AIza)"
)

# The beginning of a key that was cut off: "ghp_a1B2c3D4e5F6…".
_CUT = re.compile(
    r"(?<![A-Za-z0-9])(?:sk-(?:ant|proj|or)-|gh[pousr]_|github_pat_|glpat-|xox[abpr]-"
    r"|[sr]k_live_|npm_|hf_|gsk_|AIza|AKIA)[A-Za-z0-9_-]{12,300}(?=…|\\++u2026)"
)
CUT_KEY = "cut key"

_EXAMPLE = re.compile(
    r"example|your|xxxx|\.\.\.|placeholder|redact|test[-_]?key|fake|dummy",
    re.IGNORECASE,
)
_SEQUENCE = re.compile("12345678|abcdefgh|abcd.*1234|1234.*abcd", re.IGNORECASE)
_RUN_TABLE = bytes(
    ord("x") if re.match(r"[\w.-]", chr(code), re.ASCII) else ord(" ")
    for code in range(256)
)
_RUN = b"x" * MIN_KEY_CHARS

_ESCAPE_END = re.compile(
    r"(?:(?<=%)(?:25)*[0-9A-F]{2}|(?<=[\[;])\d{0,3}m|(?<=\\)(?:[nrtbfv]|u00..))?[-_.]*"
)
"""The end of an escape sequence (``%3D``, ``\\x1b[31m``, ``\\n``) or punctuation, which
belongs to a run of name characters but not to a key in it."""

_BASE64_BEFORE = re.compile(r"[A-Za-z0-9+/]{60}[+/]$")
"""Matches the text before a part of an image or another file in base64."""


def mark_names(lowered: bytes) -> bytes:
    """Return "x" for each byte of a name, and a space for each other one."""
    return lowered.translate(_RUN_TABLE)


def find_keys(text: str, name_chars: bytes) -> Iterator[Span]:
    """Find strings in the format of a key in the runs of letters and digits."""
    start = name_chars.find(_RUN)
    while start >= 0:
        end = name_chars.find(b" ", start)
        end = end if end >= 0 else len(text)
        if not _BASE64_BEFORE.search(text, max(0, start - 61), start):
            yield from _keys_of_run(text, start, end)
        start = name_chars.find(_RUN, end)
    if "…" in text or "\\u2026" in text:
        for cut in _CUT.finditer(text):
            if _is_real(cut[0]):
                yield *cut.span(), CUT_KEY


def _keys_of_run(text: str, at: int, end: int) -> Iterator[Span]:
    past = at
    while end - at >= MIN_KEY_CHARS:
        if lead := _ESCAPE_END.match(text, at):
            at = lead.end()
        key = _match_key(text, at)
        if key is None:
            break
        yield at, *key
        at = past = key[0]
    # Of these keys, only those of Slack may lack capitals.
    is_possible = "xox" in text[past:end] or not text[past:end].islower()
    if not is_possible:
        return
    for inner in _INNER.finditer(text, past + 1, end):
        at = inner.start()
        key = _match_key(text, at) if at >= past and text[at - 1] != "." else None
        if key:
            yield at, *key
            past = key[0]


def is_typed_key(value: str) -> bool:
    """Return whether a value has the format of a key, but sequences in it.

    In a settings file it may be a key: ``ghp_abcdef…1234567890``.
    """
    formats = _FORMATS_BY_START.get(value[:2], ())
    has_format = any(pattern.fullmatch(value) for _, pattern in formats)
    return has_format and len(set(value)) >= 12 and not _EXAMPLE.search(value)


def _match_key(text: str, at: int) -> tuple[int, str] | None:
    """Return the end and kind of the key at a position; None if there is none."""
    for kind, pattern in _FORMATS_BY_START.get(text[at : at + 2], ()):
        match = pattern.match(text, at, at + MAX_KEY_CHARS)
        if match and _CHECKS.get(kind, _is_real)(match[0]):
            return match.end(), kind
    return None


def _is_real(key: str) -> bool:
    """Return whether a key is no name, no example from a manual, nor ``ghp_000…``."""
    key = key[:MAX_CHECKED_CHARS]
    body = key[4:]
    has_numbers = sum(map(str.isdigit, body)) > 1
    is_name = run_chars(body) > MAX_RUN_CHARS and not has_numbers
    is_example = _EXAMPLE.search(key) or _SEQUENCE.search(key)
    return not is_name and len(set(body)) >= 6 and not is_example


def _is_jwt(token: str) -> bool:
    """Return whether a token is a JWT, and not one that everybody may know.

    Supabase gives web pages a token with the role "anon".
    """
    try:
        header, payload = (
            json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
            for part in token.split(".")[:2]
        )
    except (binascii.Error, ValueError, RecursionError):
        return False
    is_header = isinstance(header, dict) and not {"alg", "enc", "typ"}.isdisjoint(
        header
    )
    return is_header and not (
        isinstance(payload, dict) and payload.get("role") == "anon"
    )


def _is_encoded_key(value: str) -> bool:
    """Return whether a value is the base64 of a private key's block."""
    return b"PRIVATE KEY" in base64.b64decode(value[:64])


_CHECKS = {"jwt": _is_jwt, "private key": _is_encoded_key}


# Blocks of private keys

MAX_BLOCK_CHARS = 32_768
"""Only this much of a key block is searched for its end."""

_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_KEY_LINE = re.compile(r"[A-Za-z0-9+/]{16,}={0,2}")
_JOINT = r"(?:\s|\\++[nrt]|\d{1,6}[→\t:| ]|[>+|\"',-]){0,40}"
"""The text between lines: their ends, numbers, quotes, the signs of a diff."""
_CUT_BODY = re.compile(
    rf"(?:(?:(?:\r?\n|\\++[nr]){_JOINT}[A-Za-z0-9+/]{{16,}}={{0,2}}"
    rf"|{_JOINT}(?:[A-Za-z0-9+/]{{24,}}={{0,2}}|[A-Za-z0-9+/]{{2,23}}={{1,2}}))"
    r"(?![A-Za-z0-9-]))+"
)
"""The lines of a key without its end."""


def find_key_blocks(text: str, lowered: bytes) -> Iterator[Span]:
    at = lowered.find(b"-----begin ")
    while at >= 0:
        past = at + 1
        if begin := _BEGIN.match(text, at):
            past = begin.end()
            if end := _end_of_block(text, past):
                yield at, end, "private key"
                past = end
        at = lowered.find(b"-----begin ", past)


def _end_of_block(text: str, at: int) -> int:
    """Return the end of the key that begins before a position; 0 if there is none.

    At least half of a key's block is base64, the rest line numbers, quotes and so on.
    """
    closing = text.find("-----END", at, at + MAX_BLOCK_CHARS)
    if closing >= 0 and (end := _END.match(text, closing)):
        encoded = sum(map(len, _KEY_LINE.findall(text, at, closing)))
        if 2 * encoded > closing - at:
            return end.end()
    cut = _CUT_BODY.match(text, at, at + MAX_BLOCK_CHARS)
    return cut.end() if cut else 0
