"""Recognize keys and tokens by their format.

A format begins with what a provider puts before each key. Only secret values have one:
values that are meant to be public (``pk_live_…``, ``phc_…``, account ids) do not.
"""

import base64
import binascii
import json
import re
from collections.abc import Iterator

MIN_KEY_CHARS = 20
"""A key recognized by its format has at least this many characters."""

MAX_KEY_CHARS = 8192
"""A longer key is only redacted up to here."""

# A letter in angle brackets is an abbreviation, see _CLASSES. A format is looked up by
# its first two characters, so it must begin with these literally. Of two formats that
# fit, the first counts. The second may be one of several in brackets. A new one may
# also belong in _CUT and INNER; raise secrets.RULES_VERSION.
_FORMATS = r"""
    anthropic key       sk-ant-[a-z]+\d\d-<U>{16,}
    anthropic key       sk-ant-<U>{24,}
    openrouter key      sk-or-v\d-<A>{32,}
    langfuse key        sk-lf-<U>{20,}
    openai key          sk-(?:proj|svcacct|admin|None|service|org)-<U>{20,}
    openai key          sk-<A>{20,}
    google key          AIza<U>{35}
    google key          AQ\.Ab8<U>{30,}
    google secret       GOCSPX-<U>{20,}
    google token        ya29\.[A-Za-z0-9_.-]{20,}
    aws key             AKIA[A-Z2-7]{16}
    aws key             ASIA[A-Z2-7]{16}
    aws key             ABIA[A-Z2-7]{16}
    aws key             ACCA[A-Z2-7]{16}
    aws bedrock key     ABSK<A>{80,}
    aws bedrock key     bedrock-api-key-<A>{20,}
    openai session      sess-<A>{40}
    github token        gh[pousr]_[A-Za-z0-9_]{36,}(?:\.<U>{10,}){0,2}
    github token        github_pat_[A-Za-z0-9_]{22,}
    gitlab token        gl(?:pat|oas|dt|rtr?|cbt|ptt)-<U>{20,}<D>
    gitlab token        gl(?:ft|imt|agent|soat|ffct|wt)-<U>{20,}<D>
    gitlab token        GR1348941<U>{20}
    slack token         xox[abcdeoprs](?:\.xox[bp])?-<U>{10,}
    slack token         xapp-\d-<U>{12,}
    slack token         xwfp-<U>{12,}
    stripe key          sk_(?:live|test|prod)_<A>{10,}
    stripe key          rk_(?:live|test|prod)_<A>{10,}
    liveblocks key      sk_(?:prod|dev)_<U>{30,}
    checkout.com key    sk_sbox_[a-z0-9]{20,}
    cartesia key        sk_car_<U>{20,}
    clerk key           sk_org_<A>{30,}
    webhook secret      whsec_[A-Za-z0-9+/]{24,}={0,2}
    twilio key          SK<H>{32}
    sendgrid key        SG\.<U>{16,32}\.<U>{16,64}
    npm token           npm_<A>{36,}
    pypi token          pypi-<U>{32,}
    hugging face token  hf_<A>{30,}
    hugging face token  api_org_<A>{30,}
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
    mailgun key         pubkey-<H>{32}
    brevo key           xkeysib-<H>{64}-<A>{16}
    resend key          re_<A>{8}_<A>{20,}
    docker token        dckr_(?:pat|oat)_<U>{24,}
    atlassian token     AT[AC]TT3<U>{60,}(?:=[0-9A-F]{8})?
    bitbucket password  ATBB<A>{28,}
    shopify token       shp(?:at|ca|pa|ss|tka|ua)_<X>{32}
    sentry token        sntry[sua]_[A-Za-z0-9_+/-]{40,}={0,2}
    new relic key       NRAK-<C>{27}
    new relic key       NRII-<U>{32}
    figma token         fig[dour]+_<U>{36,}
    postman key         PMAK-<H>{24}-<H>{34}
    postman key         PMAT-<A>{26}
    doppler token       dp\.[a-z]{2,5}\.(?:<U>+\.)?<A>{40,44}
    vault token         hv[sbr]\.<U>{24,}
    vault token         s\.(?=[A-Za-z]*\d)(?=[a-z0-9]*[A-Z])<A>{24}
    age key             AGE-SECRET-KEY-1<C>{58}
    age key             AGE-SECRET-KEY-PQ-1<C>{58,}
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
    square token        EAAA[EL]<U>{55,}
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
    attio token         at_<H>{64}
    sourcegraph token   sgp_(?:<H>{16}_|local_)?<H>{40}
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
    modal token         ak-<A>{22}
    modal token         as-<A>{22}
    infracost key       ico-<A>{32}
    scalingo token      tk-us-<U>{48}
    frame.io token      fio-u-<U>{64}
    yandex key          AQVN<U>{35,38}
    yandex token        y0_<U>{50,}
    pinecone key        pcsk_<A>{5,6}_<A>{40,}
    neon password       npg_<A>{10,}
    harness token       pat\.<U>{22}\.<X>{24}\.<A>{20}
    launchdarkly key    sdk-<X>{8}(?:-<X>{4}){3}-<X>{12}
    launchdarkly key    api-<X>{8}(?:-<X>{4}){3}-<X>{12}
    launchdarkly key    mob-<X>{8}(?:-<X>{4}){3}-<X>{12}
    mollie key          live_(?=[A-Za-z]*[0-9])<A>{30}
    mollie key          test_(?=[A-Za-z]*[0-9])<A>{30}
    gocardless token    live_<U>{40,}
    plaid token         access-(?:prod|dev|sand)[a-z]+-<X>{8}(?:-<X>{4}){3}-<X>{12}
    statsig key         secret-<A>{40,}
    stytch secret       secret-(?:live|test)-<U>{30,}
    honeycomb key       hc[ai][ick]k_<A>{30,}
    snyk token          snyk_(?:uat|sat)\.<A>{8}\.<U>{40,}
    socket token        sktsec_<U>{30,}
    infisical token     st\.<X>{8}-<X>{4}-<U>+\.<U>{20,}\.<U>{20,}
    scaleway key        SCW<C>{17}
    deno token          ddp_<A>{36}
    deno token          ddo_<A>{36}
    nuget key           oy2[a-z0-9]{43}
    runpod key          rpa_<C>{40,}
    voyage key          pa-<U>{43}
    trello token        ATTA<H>{64}
    clickup token       pk_\d{6,10}_<C>{32}
    intercom token      dG9rO<A>{40,}={0,2}
    gitbook token       gb_api_<A>{30,}
    gitpod token        gitpod_pat_<U>{40,}
    buildkite token     bkct_<A>{30,}
    zuplo key           zpka_<H>{32}_<H>{8}
    coze token          pat_<A>{64}
    depot token         depot_(?:org|project)_<H>{40,}
    mem0 key            m0-<A>{40}
    deno token          dnkey-<A>{20,}-<A>{40,}
    bitbucket token     BBDC-<A>{40,}
    atlassian token     AT(?:OA|ST)T3<U>{60,}
    backblaze key       K00\d<A>{27}
    sanity token        sk<A>{100,}
    okta token          00(?=<U>*[a-z])(?=<U>*[A-Z])(?=<U>*[G-Zg-z])<U>{40}
    weights key         wandb_v\d_<U>{40,}
    adobe secret        p8e-<U>{32}
    harness token       sat\.<U>{22}\.<X>{24}\.<A>{20}
    intra42 secret      s-s4t2(?:ud|af)-<H>{64}
    new relic key       NRRA-<H>{42}
    settlemint token    sm_[aps]at_<A>{16}
    ory token           ory_[a-z]{2,3}_<U>{30,}
    mercury token       mercury_production_<U>{20,}
    persona key         persona_(?:production|sandbox)_<X>{8}(?:-<X>{4}){3}-<X>{12}
    val town token      vtwn_<A>{20,}
    open vsx token      ovsx(?:p|at)_<X>{8}(?:-<X>{4}){3}-<X>{12}
    midtrans key        Mid-server-<U>{20,}
    midtrans key        SB-Mid-server-<U>{20,}
    rootly token        rootly_<H>{64}
    samsara token       samsara_api_<A>{20,}
    wakatime key        waka_<X>{8}(?:-<X>{4}){3}-<X>{12}
    aiven password      AVNS_<U>{19}
    devcycle key        dvc_server_<U>{20,}
    mergify key         mka_<U>{30,}
    pangea token        pts_[a-z2-7]{32}
    logfire token       pylf_v\d_[a-z]{2}_<A>{30,}
    telnyx key          KEY<X>{32}_<A>{20,}
    xendit key          xnd_(?:production|development)_<A>{30,}
    cursor key          key_<H>{64,128}
    friendli token      flp_<A>{30,}
    inngest key         signkey-[a-z]+-<H>{32,}
    trigger.dev key     tr_(?:dev|prod|stg|pat)_<A>{20,}
    flagsmith key       ser\.<A>{22}
    jd cloud key        JDC_<C>{28}
    nightfall key       NF-<A>{32}
    thunderstore token  tss_<A>{36}
    sourcehut token     srht_<A>{30,}
    nostr key           nsec1[a-z0-9]{58}
    nats seed           S[UAONCX][A-Z2-7]{56}
    stellar key         S[ABCD](?=[A-Z]*[2-7])[A-Z2-7]{54}
    bitcoin key         [yzt]prv<A>{100,110}
    bitcoin key         6P<A>{56}
    tezos key           edsk<A>{50}
    cardano key         ed25519e?_sk1[a-z0-9]{50,110}
    paseto              v[1234]\.local\.<U>{60,}
    paseto key          k[1234]\.(?:secret|local)\.<U>{40,}
    pinterest token     pina_<A>{32,}
    woocommerce key     c[ks]_<H>{40}
    amazon mws token    amzn\.mws\.<X>{8}(?:-<X>{4}){3}-<X>{12}
    amazon secret       amzn1\.oa2-cs\.v1\.<H>{64}
    mandrill key        md-<U>{22}
    tencent key         AKID<A>{32,36}
    baidu key           bce-v3/ALTAK-<A>{21}/<H>{40}
    volcengine key      AKLT<A>{40,}
    dbt token           dbt[cu]_<U>{30,}
    browserbase key     bb_live_<U>{20,}
    brave key           BSA<U>{24,28}
    polar token         polar_(?:oat|pat)_<A>{30,}
    unkey key           unkey_<A>{20,}
    retool token        retool_<A>{20,}
    cockroach key       CCDB1_<A>{22}_<A>{40}
    atlas key           mdb_sa_sk_<U>{40}
    xata key            xau_<A>{30,}
    helicone key        sk-helicone-<U>{20,}
    lob key             live_<H>{35}
    lob key             test_<H>{35}
    paddle key          pdl_(?:live|sdbx)_apikey_<A>{20,}_<A>{20,}_<A>{3}
    semgrep token       sgp_<A>{40,}
    upcloud token       ucat_<C>{20,}
    octopus key         API-<C>{25,36}
    langchain key       ls__<H>{32}
    zapier key          sk-ak-<A>{20,}
    bitcoin key         xprv<A>{100,110}
    gitea token         gto_<H>{40}
    sourcehut token     AI[A-Z]{4}<A>{60,}
    onepassword secret  A3-<C>{6}-<C>{6,11}(?:-<C>{5}){3,5}
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


def _expanded(pattern: str) -> str:
    for short, full in _CLASSES.items():
        pattern = pattern.replace(short, full)
    return pattern


def _starts(pattern: str) -> list[str]:
    """Return the first two characters that a format allows: ``S[AU]`` allows two."""
    first, second = re.findall(r"\\.|\[\w+\]|.", pattern)[:2]
    return [a + b for a in first.strip("[]\\") for b in second.strip("[]\\")]


def _kinds_by_start() -> dict[str, list[tuple[str, re.Pattern[str]]]]:
    kinds: dict[str, list[tuple[str, re.Pattern[str]]]] = {}
    for line in _FORMATS.strip().splitlines():
        name, pattern = re.split(r" {2,}", line.strip(), maxsplit=1)
        shape = re.compile(_expanded(rf"{pattern}(?!<A>)"))
        for start in _starts(pattern):
            kinds.setdefault(start, []).append((name, shape))
    telegram = re.compile(_expanded(r"(?<=\d:)AA<U>{32,34}(?!<U>)"))
    kinds.setdefault("AA", []).append(("telegram token", telegram))
    discord = re.compile(_expanded(r"[MNO]<U>{22,27}\.<U>{6}\.<U>{27,40}(?!<U>)"))
    # The token of a bot begins with its number in base64.
    for start in ("MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"):
        kinds.setdefault(start, []).append(("discord token", discord))
    return kinds


KINDS_BY_START = _kinds_by_start()
"""Names and patterns of the kinds, by the first two characters of their keys."""

_EXAMPLES = re.compile(r"EXAMPLE|example|your|YOUR|xxxx|XXXX|\.\.\.|placeholder|redact")


def is_real_key(key: str) -> bool:
    """Return whether a key is no example from a manual, nor ``ghp_000…``."""
    return not _EXAMPLES.search(key) and len(set(key[4:])) >= 6


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


_CHECKS = {"jwt": has_jwt_header, "private key": is_encoded_key}

# The beginning of a key that is cut off where a line or a text ends.
_CUT = re.compile(
    r"(?:sk-(?:ant|proj|svcacct|or|lf)-|gh[pousr]_|github_pat_|glpat-"
    r"|xox[abpr]-|[sr]k_live_|npm_|hf_|gsk_|xai-|pypi-|AIza|AKIA|ASIA|SG\.|hv[sb]\.)"
    r"[A-Za-z0-9_-]{12,}$"
)


def is_cut_key(text: str, start: int, end: int) -> bool:
    """Return whether a run of letters is the beginning of a key."""
    cut = _CUT.match(text, start, end)
    return bool(cut) and is_real_key(text[start:end])


# Keys that are found within a longer run of letters.
INNER = re.compile(
    r"sk-(?:ant|proj|svcacct)-|gh[pousr]_[A-Za-z0-9]{36}|github_pat_|glpat-"
    r"|xox[abpr]-\d|[sr]k_live_|npm_[A-Za-z0-9]{36}|hf_[A-Za-z0-9]{34}(?![A-Za-z0-9])"
    r"|AKIA[A-Z2-7]{16}(?![A-Za-z0-9])|AIza(?<=[_-]AIza)"
)


def inner_keys(text: str, start: int, end: int) -> Iterator[tuple[int, int, str]]:
    """Find keys after a name or letter within a run of letters: ``my_ghp_…``."""
    past = start
    for inner in INNER.finditer(text, start + 1, end):
        at = inner.start()
        key = match_key(text, at) if at >= past and text[at - 1] != "." else None
        if key:
            yield at, *key
            past = key[0]


def match_key(text: str, at: int) -> tuple[int, str] | None:
    """Return the end and kind of the key at a position; None if there is none."""
    for kind, pattern in KINDS_BY_START.get(text[at : at + 2], ()):
        found = pattern.match(text, at, at + MAX_KEY_CHARS)
        if found and _CHECKS.get(kind, is_real_key)(found[0]):
            return found.end(), kind
    return None
