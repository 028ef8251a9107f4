"""Make labelled texts with and without secrets, with random values.

Every sample puts a new random secret of one kind into one of its surroundings. Shaped
tokens stand anywhere; passwords and keys without a shape need a name, header or
command beside them.
"""

import base64
import hashlib
import json
import random
import string
import textwrap
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass

ALPHABETS = {
    "A": string.ascii_letters + string.digits,
    "U": string.ascii_letters + string.digits + "_-",
    "H": "0123456789abcdef",
    "B": string.ascii_letters + string.digits + "+/",
    "C": string.ascii_uppercase + string.digits,
    "K": string.ascii_uppercase + "234567",
    "L": string.ascii_lowercase + string.digits,
    "D": string.digits,
}
"""The letters that stand for random characters in the formats of tokens."""

TOKENS = {
    "openai project key": "sk-proj-{U74}T3BlbkFJ{U74}",
    "openai service key": "sk-svcacct-{U58}T3BlbkFJ{U58}",
    "openai key": "sk-{A20}T3BlbkFJ{A20}",
    "deepseek key": "sk-{H32}",
    "anthropic key": "sk-ant-api03-{U93}AA",
    "anthropic token": "sk-ant-oat01-{U93}AA",
    "openrouter key": "sk-or-v1-{H64}",
    "langfuse key": "sk-lf-{H8}-{H4}-{H4}-{H4}-{H12}",
    "google key": "AIza{U35}",
    "google secret": "GOCSPX-{U28}",
    "google token": "ya29.{U120}",
    "aws key id": "AKIA{K16}",
    "aws temporary key id": "ASIA{K16}",
    "github token": "ghp_{A36}",
    "github oauth token": "gho_{A36}",
    "github server token": "ghs_{A36}",
    "github refresh token": "ghr_{A36}",
    "github fine-grained token": "github_pat_{A22}_{A59}",
    "gitlab token": "glpat-{U20}",
    "gitlab deploy token": "gldt-{U20}",
    "gitlab runner token": "glrt-{U20}",
    "slack bot token": "xoxb-{D12}-{D13}-{A24}",
    "slack user token": "xoxp-{D12}-{D12}-{D12}-{H32}",
    "slack app token": "xapp-1-{C11}-{D13}-{H64}",
    "stripe key": "sk_live_{A24}",
    "stripe long key": "sk_live_51{A97}",
    "stripe test key": "sk_test_{A24}",
    "stripe restricted key": "rk_live_{A24}",
    "stripe webhook secret": "whsec_{A32}",
    "twilio key": "SK{H32}",
    "sendgrid key": "SG.{U22}.{U43}",
    "npm token": "npm_{A36}",
    "pypi token": "pypi-AgEIcHlwaS5vcmc{U120}",
    "hugging face token": "hf_{A34}",
    "groq key": "gsk_{A52}",
    "xai key": "xai-{A80}",
    "replicate token": "r8_{A37}",
    "perplexity key": "pplx-{A48}",
    "nvidia key": "nvapi-{U64}",
    "tavily key": "tvly-dev-{A32}",
    "cerebras key": "csk-{L48}",
    "fireworks key": "fw_{A22}",
    "firecrawl key": "fc-{H32}",
    "e2b key": "e2b_{H40}",
    "langsmith key": "lsv2_pt_{H32}_{H10}",
    "elevenlabs key": "sk_{H48}",
    "digitalocean token": "dop_v1_{H64}",
    "cloudflare origin key": "v1.0-{H24}-{H146}",
    "databricks token": "dapi{H32}",
    "linear key": "lin_api_{A40}",
    "notion token": "ntn_{D11}{A35}",
    "netlify token": "nfp_{A36}",
    "supabase token": "sbp_{H40}",
    "supabase secret": "sb_secret_{U22}_{A8}",
    "mailgun key": "key-{H32}",
    "mailchimp key": "{H32}-us{D2}",
    "brevo key": "xkeysib-{H64}-{A16}",
    "resend key": "re_{A8}_{A24}",
    "docker token": "dckr_pat_{U27}",
    "atlassian token": "ATATT3xFfGF0{U172}={C8}",
    "bitbucket password": "ATBB{A32}",
    "shopify token": "shpat_{H32}",
    "sentry token": "sntryu_{H64}",
    "new relic key": "NRAK-{C27}",
    "figma token": "figd_{U40}",
    "postman key": "PMAK-{H24}-{H34}",
    "doppler token": "dp.pt.{A43}",
    "vault token": "hvs.{U24}",
    "vault batch token": "hvb.{U140}",
    "1password token": "ops_eyJ{B250}",
    "pulumi token": "pul-{H40}",
    "fly token": "fo1_{U43}",
    "grafana token": "glsa_{A32}_{H8}",
    "airtable token": "pat{A14}.{H64}",
    "hubspot token": "pat-na1-{H8}-{H4}-{H4}-{H4}-{H12}",
    "square token": "sq0atp-{U22}",
    "planetscale password": "pscale_pw_{U43}",
    "heroku key": "HRKU-{U60}",
    "rubygems key": "rubygems_{H48}",
    "crates.io token": "cio{A32}",
    "contentful token": "CFPAT-{U43}",
    "dynatrace token": "dt0c01.{C24}.{C64}",
    "sonar token": "sqp_{H40}",
    "buildkite token": "bkua_{H40}",
    "tailscale key": "tskey-auth-{A12}CNTRL-{A32}",
    "posthog key": "phx_{A43}",
    "neon key": "napi_{L64}",
    "apify token": "apify_api_{A36}",
    "mapbox token": "sk.eyJ{A80}.{U22}",
    "facebook token": "EAAC{A150}",
    "sourcegraph token": "sgp_{H40}",
    "dropbox token": "sl.{U138}",
    "alibaba key id": "LTAI{A20}",
    "artifactory key": "AKCp8{A68}",
    "duffel token": "duffel_live_{U43}",
    "shippo token": "shippo_live_{H40}",
    "adafruit key": "aio_{A28}",
    "typeform token": "tfp_{U59}",
    "prefect key": "pnu_{A36}",
    "readme key": "rdme_{L70}",
    "flutterwave key": "FLWSECK-{H32}-X",
    "easypost key": "EZAK{A54}",
    "clojars token": "CLOJARS_{L60}",
    "infracost key": "ico-{A32}",
    "scaleway key id": "SCW{C17}",
    "launchdarkly key": "sdk-{H8}-{H4}-{H4}-{H4}-{H12}",
    "telegram token": "{D10}:AA{U33}",
    "unnamed jwt": "JWT",
}
"""The formats of tokens that are recognized anywhere."""

NEED_NAMES = {
    "mailchimp key", "elevenlabs key", "scaleway key id", "launchdarkly key",
    "mailgun key",
}  # fmt: skip
"""Tokens that are only tested beside a name."""

NAMES = {
    "api key": ("api_key", "weather_api_key", "x_api_key", "algolia_admin_api_key"),
    "secret key": ("secret_key", "aws_secret_access_key", "app_secret_key"),
    "client secret": ("client_secret", "oauth_client_secret", "jwt_secret"),
    "access token": ("access_token", "auth_token", "deploy_token", "bot_token"),
    "password": ("password", "db_password", "admin_passwd", "smtp_password"),
    "passphrase": ("passphrase", "vault_passphrase", "key_passphrase"),
}
"""Names for values without a shape."""

VALUES: dict[str, tuple[str, str]] = {
    "named hex key": ("api key", "{H32}"),
    "named long hex key": ("secret key", "{H64}"),
    "named base64 key": ("secret key", "{B40}"),
    "named padded key": ("secret key", "{B43}="),
    "named short token": ("access token", "{A20}"),
    "named url-safe token": ("access token", "{U43}"),
    "named secret": ("client secret", "{A32}"),
    "named uuid key": ("api key", "{H8}-{H4}-{H4}-{H4}-{H12}"),
    "named upper-case key": ("api key", "{C24}"),
}

WORDS = """
    river stone apple window garden silver mountain tiger coffee velvet anchor
    pepper galaxy canyon marble falcon winter copper hammer lemon orbit rocket
""".split()  # noqa: SIM905

SEED_WORDS = """
    abandon ability able about above absent absorb abstract absurd abuse access
    accident account accuse achieve acid acoustic acquire across act action actor
    cabbage cabin cable cactus cage cake call calm camera camp canal cancel candy
    canoe canvas canyon capable capital captain carbon garage garbage garden garlic
    garment gasp gate gather gauge gaze general genius genre gentle
""".split()  # noqa: SIM905


@dataclass(frozen=True)
class Sample:
    """A text, and the secret in it; "" if it contains none."""

    text: str
    secret: str
    kind: str
    place: str


def fill(rng: random.Random, shape: str) -> str:
    """Replace ``{A20}`` in a format by 20 random characters of the alphabet A."""
    if shape == "JWT":
        return jwt(rng)
    parts = shape.split("{")
    made = parts[0]
    for part in parts[1:]:
        field, following = part.split("}", 1)
        made += "".join(rng.choices(ALPHABETS[field[0]], k=int(field[1:]))) + following
    return made


def jwt(rng: random.Random) -> str:
    def part(value: object) -> str:
        raw = json.dumps(value).encode()
        return base64.urlsafe_b64encode(raw).decode().rstrip("=")

    payload = {"sub": fill(rng, "{D10}"), "iat": 1768000000 + rng.randrange(10**6)}
    header = part({"alg": "HS256", "typ": "JWT"})
    return f"{header}.{part(payload)}.{fill(rng, '{U43}')}"


def password_of(rng: random.Random, alphabet: str, chars: int = 16) -> str:
    """Return a random password with lower, upper case letters and digits."""
    while True:
        made = "".join(rng.choices(alphabet, k=chars))
        kinds = (str.islower, str.isupper, str.isdigit)
        if all(any(map(is_kind, made)) for is_kind in kinds):
            return made


def human_password(rng: random.Random) -> str:
    word = rng.choice(WORDS).title()
    leet = str.maketrans({"a": "@", "e": "3", "i": "!", "s": "$", "o": "0"})
    return rng.choice(
        (
            f"{word}{rng.randint(1990, 2030)}!",
            f"{word.translate(leet)}#{rng.randint(10, 99)}",
            f"{word}-{rng.choice(WORDS).title()}-{rng.randint(10, 999)}",
            f"#{rng.randint(1, 9)}{word}{rng.randint(2000, 2030)}",
            f"{word.lower().translate(leet)}{rng.randint(100, 9999)}!",
        )
    )


def sign_first_password(rng: random.Random) -> str:
    remainder = password_of(rng, ALPHABETS["A"] + "!@#%^*", rng.randint(10, 18))
    return rng.choice("@#$*([{<|-=!") + remainder


SOME_SIGNS = ALPHABETS["A"] + "!@#$%^&*"
ALL_SIGNS = ALPHABETS["A"] + "!#$%&()*+,-./:;<=>?@[]^_{|}~"

PASSWORDS: dict[str, Callable[[random.Random], str]] = {
    "alphanumeric password": lambda rng: password_of(rng, ALPHABETS["A"]),
    "password with some signs": lambda rng: password_of(rng, SOME_SIGNS),
    "password with all signs": lambda rng: password_of(rng, ALL_SIGNS),
    "password beginning with a sign": sign_first_password,
    "human password": human_password,
}
PASSWORD_CHARS = ALPHABETS["A"] + "!@#$%^&*-_=+?.~"
"""The characters of passwords that generators make."""

PASSWORD_PLACES = {
    "label": "Password: {}\n",
    "yaml": "db:\n  user: ada\n  password: {}\n  port: 5432\n",
    "double quotes": 'password = "{}"\n',
    "single quotes": "db_password: '{}'\n",
    "json": '{{"password": "{}"}}',
}
"""Texts around generated passwords."""

# {n}: the name, {N} in capitals, {c} in camel case, {C} with a capital, {d} with
# dashes, {w} in words, {s}: the secret.
NAMED_PLACES = {
    "env": "{N}={s}\n",
    "env file": "# local\nDEBUG=1\n{N}={s}\nPORT=8080\n",
    "export": 'export {N}="{s}"',
    "single quotes": "{N}='{s}'",
    "json": '{{"{n}": "{s}", "retries": 3}}',
    "json camel": '{{"timeout":30,"{c}":"{s}"}}',
    "yaml": "server:\n  {n}: {s}\n  port: 80\n",
    "yaml quoted": '  {n}: "{s}"\n',
    "yaml list": "    environment:\n      - {N}={s}\n",
    "kubernetes env": '        - name: {N}\n          value: "{s}"\n',
    "toml": '[server]\n{n} = "{s}"\n',
    "ini": "[default]\n{n} = {s}\n",
    "properties": "spring.app.{d}={s}\n",
    "python": '{n} = "{s}"\nclient.open({n})\n',
    "python dict": "config = {{'{n}': '{s}', 'debug': True}}",
    "keyword argument": 'connect(host="db", {n}="{s}")',
    "javascript": "const {c} = '{s}';\n",
    "typescript": 'private {c}: string = "{s}";\n',
    "go": '\tcfg := Config{{{C}: "{s}"}}\n',
    "rust": 'let {n}: &str = "{s}";',
    "setter": 'ds.set{C}("{s}");',
    "builder": 'Builder.of(host).{c}("{s}").build()',
    "ruby": ':{n} => "{s}",',
    "php": "define('{N}', '{s}');",
    "powershell": '$env:{N} = "{s}"',
    "dockerfile": "ENV {N} {s}\n",
    "docker flag": "docker run -e {N}={s} app:latest",
    "flag": "deploy --region eu --{d} {s}",
    "flag with equals": "deploy --{d}={s} --force",
    "secret command": 'gh secret set {N} --body "{s}"',
    "log": "2026-02-03 10:11:12 INFO config: {n}={s}",
    "log json": '{{"level":"info","msg":"start","{n}":"{s}"}}',
    "xml": "<{c}>{s}</{c}>",
    "prose colon": "{W}: {s}",
    "prose is": "Please note: the {w} is {s}",
    "prose equals": "{w} = {s}",
    "markdown list": "- **{W}**: {s}\n",
    "terraform": 'variable "{n}" {{\n  default = "{s}"\n}}',
    "url query": "https://api.test/v1/items?{n}={q}&page=2",
    "repr": "Settings(host='db', {n}='{s}', port=1)",
    "error": "Error: login failed with {n}={s}",
}

TOKEN_PLACES = {
    "bearer header": 'curl -H "Authorization: Bearer {s}" https://api.test/v1',
    "key header": "X-Api-Key: {s}\n",
    "prose": "I put {s} into the settings, is that right?",
    "bare line": "{s}\n",
    "parentheses": "my old one ({s}) stopped working",
    "comment": "# rotate: {s}\n",
    "csv": "ada,{s},2026-01-01\n",
    "backticks": "Use `{s}` for now.",
    "argument": 'client = Client("{s}")',
    "echo": "echo {s} | tool login --stdin",
    "path": "https://api.test/hook/{q}/send",
    "url login": "https://{q}@git.test/app.git",
    "colon login": "https://ada:{q}@git.test/app.git",
}

PLACE_OF_PASSWORD = {
    "url": "postgres://ada:{q}@db.test:5432/app",
    "mysql": "mysql -h db -u ada -p{h} shop",
    "sshpass": "sshpass -p '{s}' ssh ada@db",
    "curl login": "curl -u 'ada:{s}' https://api.test",
    "passin": "openssl rsa -in key.pem -passin pass:{h} -out plain.pem",
    "passout": "openssl genrsa -aes256 -passout 'pass:{s}' 2048",
    "pgpass": "db.test:5432:shop:ada:{h}\n",
    "alter user": "ALTER USER ada WITH PASSWORD '{s}';",
    "create role": "create role app login password '{s}'",
    "identified by": "CREATE USER 'ada'@'%' IDENTIFIED BY '{s}';",
    "identified by, bare user": "CREATE USER ada IDENTIFIED BY '{s}';",
    "identified by, lower case": "alter user ada identified by '{s}'",
    "mssql login": "CREATE LOGIN ada WITH PASSWORD = '{s}';",
    "connection string": "Server=db;Database=shop;User Id=ada;Password={h};",
    "odbc": "DRIVER=PostgreSQL;UID=ada;PWD={h};SERVER=db",
    "login slash": "login: ada password: {s}",
    "chpasswd": "echo 'ada:{s}' | chpasswd",
    "psql variable": "PGPASSWORD='{s}' psql -h db -U ada",
    "netrc": "machine git.test login ada password {h}\n",
    "redis": "redis-cli -h cache -a '{s}' ping",
}


def _pem(rng: random.Random) -> tuple[str, str]:
    """Return the lines of a key's body, and the whole block."""
    raw = base64.b64encode(b"0\x82\x04\xa3\x02\x01\x00" + rng.randbytes(600)).decode()
    body = "\n".join(textwrap.wrap(raw, 64))
    label = rng.choice(("RSA PRIVATE", "PRIVATE", "EC PRIVATE")) + " KEY"
    return body, f"-----BEGIN {label}-----\n{body}\n-----END {label}-----\n"


def _special(rng: random.Random) -> Iterator[tuple[str, str, str, str]]:
    """Yield kind, place, secret and text of what has a place of its own."""
    for place in ("kubeconfig", "secret manifest", "env"):
        secret = base64.b64encode(_pem(rng)[1].encode()).decode()
        output = {
            "kubeconfig": f"    client-key-data: {secret}\n",
            "secret manifest": f"data:\n  tls.key: {secret}\n",
            "env": f"CERT={secret}\n",
        }[place]
        yield "base64 of a private key", place, secret, output
    for place in ("config.json", "one line"):
        login = f"ada:{password_of(rng, ALPHABETS['A'])}"
        secret = base64.b64encode(login.encode()).decode()
        indent = 2 if place == "config.json" else None
        output = json.dumps({"auths": {"ghcr.io": {"auth": secret}}}, indent=indent)
        yield "docker auth", place, secret, output
    for place in ("npmrc", "yarnrc"):
        secret = str(uuid.UUID(int=rng.getrandbits(128), version=4))
        lead = "//registry.npmjs.org/:_authToken=" if place == "npmrc" else ""
        yield (
            "npm uuid token",
            place,
            secret,
            f"{lead or 'npmAuthToken: '}{secret}\n",
        )
    for place, lead in (
        ("curl -b", "curl -b 'session={}' https://app.test/me"),
        ("curl --cookie", 'curl --cookie "sid={}; theme=dark" https://app.test'),
        ("cookie header", "Cookie: theme=dark; sessionid={}\n"),
        ("set-cookie header", "< Set-Cookie: auth_token={}; Path=/; HttpOnly\n"),
    ):
        secret = fill(rng, "{L32}")
        yield "session cookie", place, secret, lead.format(secret)
    for place, count, lead in (
        ("mnemonic", 12, 'MNEMONIC="{}"'),
        ("json", 12, '{{"mnemonic": "{}"}}'),
    ):
        secret = " ".join(rng.choices(SEED_WORDS, k=count))
        yield "seed phrase", place, secret, lead.format(secret)
    body, block = _pem(rng)
    yield "private key", "block", body, block
    body, block = _pem(rng)
    yield "private key", "json", body.replace("\n", "\\n"), json.dumps({"key": block})
    for place, quote, joint in (
        ("java", '"', ' +\n    "'),
        ("python", '"', '\n    "'),
        ("javascript", "'", " +\n  '"),
    ):
        lines = _pem(rng)[1].splitlines()
        output = quote + f"\\n{quote}{joint}".join(lines) + f"\\n{quote};"
        yield "concatenated private key", place, lines[4], output
    for place, lead in (
        ("storage", "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={};x=1"),
        (
            "service bus",
            "Endpoint=sb://a.test/;SharedAccessKeyName=r;SharedAccessKey={}",
        ),
    ):
        secret = fill(rng, "{B86}") + "=="
        yield "azure account key", place, secret, lead.format(secret)
    for place, lead in (
        ("azure", "https://a.blob.core.windows.net/c/f?sv=2024-01-01&sr=b&sig={}"),
        ("aws", "https://b.s3.amazonaws.com/f?X-Amz-Date=1&X-Amz-Signature={}"),
        ("google", "https://storage.googleapis.com/b/f?X-Goog-Signature={}"),
    ):
        secret = fill(rng, "{H64}") if place != "azure" else fill(rng, "{A43}%3D")
        yield "url signature", place, secret, lead.format(secret)
    for place, lead in (
        ("slack", "https://hooks.slack.com/services/"),
        ("discord", "https://discord.com/api/webhooks/"),
    ):
        shape = "T{C8}/B{C10}/{A24}" if place == "slack" else "{D19}/{U68}"
        secret = fill(rng, shape)
        yield f"{place} webhook", place, secret, f"WEBHOOK_URL={lead}{secret}\n"
    for place, text in (("tag", "<private>{}</private>"),
                        ("escaped", "&lt;private&gt;{}&lt;/private&gt;"),
                        ("unclosed", "\n<private>{}\nmore")):  # fmt: skip
        secret = f"{rng.choice(WORDS)} {rng.choice(WORDS)} {fill(rng, '{D6}')}"
        yield "private text", place, secret, text.format(secret)
    for place, lead in (("header", "Authorization: Basic {}"), ("log", "basic {}")):
        login = f"ada:{password_of(rng, ALPHABETS['A'])}"
        secret = base64.b64encode(login.encode()).decode()
        if place == "header":
            yield "basic login", place, secret, lead.format(secret)


def _plain(text: str) -> str:
    return text


def _json(text: str) -> str:
    return json.dumps(text)[1:-1]


CARRIERS: dict[str, tuple[Callable[[str], str], Callable[[str], str]]] = {
    "plain": (_plain, _plain),
    "cat -n": (
        lambda text: "\n".join(
            f"{at:6}\t{line}" for at, line in enumerate(text.splitlines(), 7)
        ),
        _plain,
    ),
    "diff": (
        lambda text: (
            "@@ -1,2 +1,3 @@\n" + "\n".join(f"+{line}" for line in text.splitlines())
        ),
        _plain,
    ),
    "json": (lambda text: json.dumps({"output": text, "exit": 0}), _json),
    "json in json": (
        lambda text: json.dumps({"a": json.dumps({"out": text})}),
        lambda secret: _json(_json(secret)),
    ),
    "grep": (
        lambda text: "\n".join(f"src/app.cfg:12:{line}" for line in text.splitlines()),
        _plain,
    ),
    "crlf": (lambda text: text.replace("\n", "\r\n"), _plain),
}
"""The output of tools in which a text arrives, and the form of a secret in it."""


def _carried(
    rng: random.Random, kind: str, place: str, secret: str, text: str
) -> Sample:
    """Return a sample whose text is as often as not the output of a tool."""
    many = "\n" in secret
    names = ["plain"] if many else ["plain"] * 4 + list(CARRIERS)
    name = rng.choice(names)
    carry, encode = CARRIERS[name]
    return Sample(carry(text), encode(secret), kind, f"{place}, {name}")


def _format(template: str, name: str, secret: str) -> str:
    words = name.split("_")
    camel = words[0] + "".join(word.title() for word in words[1:])
    quoted = "".join(
        c if c.isalnum() or c in "-._~" else f"%{ord(c):02X}" for c in secret
    )
    return template.format(
        n=name,
        N=name.upper(),
        c=camel,
        C=camel[0].upper() + camel[1:],
        d=name.replace("_", "-"),
        w=name.replace("_", " "),
        W=name.replace("_", " ").capitalize(),
        s=secret,
        q=quoted,
        h=secret,
    )


def make_passwords(seed: int, place: str, count: int, chars: int = 16) -> list[Sample]:
    """Make texts with passwords as generators do."""
    rng = random.Random(seed)
    around = PASSWORD_PLACES[place]
    passwords = ["".join(rng.choices(PASSWORD_CHARS, k=chars)) for _ in range(count)]
    return [
        Sample(around.format(password), password, "password", place)
        for password in passwords
    ]


def make_secrets(seed: int, rounds: int = 4) -> list[Sample]:
    """Make labelled secrets, ``rounds`` of each kind (more of passwords)."""
    rng = random.Random(seed)
    made = []
    for kind, shape in TOKENS.items():
        for _ in range(rounds):
            places = dict(NAMED_PLACES)
            if kind not in NEED_NAMES:
                places |= TOKEN_PLACES
            place = rng.choice(list(places))
            secret = fill(rng, shape)
            if "{q}" in places[place] and ":" in secret:
                place = "prose"
            group = rng.choice(("api key", "secret key", "access token"))
            name = rng.choice(NAMES[group])
            text = _format(places[place], name, secret)
            made.append(_carried(rng, kind, place, secret, text))
    for kind, (group, shape) in VALUES.items():
        for place in rng.sample(list(NAMED_PLACES), 6 * rounds):
            secret = fill(rng, shape)
            encoded = secret.replace("+", "%2B").replace("/", "%2F").replace("=", "%3D")
            text = _format(NAMED_PLACES[place], rng.choice(NAMES[group]), secret)
            is_url = "{q}" in NAMED_PLACES[place]
            made.append(_carried(rng, kind, place, encoded if is_url else secret, text))
    for kind, make in PASSWORDS.items():
        for place in [*rng.sample(list(NAMED_PLACES), 8 * rounds), *PLACE_OF_PASSWORD]:
            template = NAMED_PLACES.get(place) or PLACE_OF_PASSWORD[place]
            secret = make(rng)
            if "{h}" in template or place in ("env", "dockerfile", "docker flag"):
                # Shells and separators would end other passwords.
                secret = password_of(rng, ALPHABETS["A"] + "!@#%^*")
                if not secret[0].isalnum():
                    secret = "x" + secret
            if "{q}" in template:
                secret = password_of(rng, ALPHABETS["A"] + "._~-")
            group = rng.choice(("password", "password", "passphrase"))
            text = _format(template, rng.choice(NAMES[group]), secret)
            made.append(_carried(rng, kind, place, secret, text))
    for _ in range(rounds):
        for kind, place, secret, text in _special(rng):
            made.append(_carried(rng, kind, place, secret, text))
    return made


_HARMLESS = (
    "commit {H40}\nAuthor: Ada <ada@test.dev>",
    "Merge {H7}..{H7} into main",
    "index {H7}..{H7} 100644",
    "sha256:{H64}",
    '"integrity": "sha512-{B86}==",',
    '{{"resolved": "https://registry.npmjs.org/a/-/a-1.0.0.tgz#{H40}"}}',
    'checksum = "{H64}"',
    "{H64}  memtui-1.0.tar.gz",
    "golang.org/x/net v0.1.0 h1:{B43}=",
    "    --hash=sha256:{H64} \\",
    "request id {H8}-{H4}-{H4}-{H4}-{H12}",
    '"sessionId":"{H8}-{H4}-{H4}-{H4}-{H12}","uuid":"{H8}-{H4}-{H4}-{H4}-{H12}"',
    "toolu_{A24}",
    '{{"id":"msg_{A24}","type":"message"}}',
    "data:image/png;base64,iVBORw0KGgo{B200}",
    '<img src="data:image/jpeg;base64,/9j/4AAQ{B160}">',
    'ETag: "{H32}"',
    "trace_id={H32} span_id={H16}",
    "docker pull app@sha256:{H64}",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{B43} ada@laptop",
    "-----BEGIN CERTIFICATE-----\nMIID{B60}\n{B64}\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\nMFkw{B60}\n-----END PUBLIC KEY-----",
    "pk_live_{A24} is the publishable key",
    "phc_{A43}",
    "arn:aws:iam::{D12}:role/deploy",
    "https://www.youtube.com/watch?v={U11}",
    "https://docs.google.com/document/d/1{U43}/edit",
    'cache_key = "user:{D6}:profile"',
    "idempotency_key={H8}-{H4}-{H4}-{H4}-{H12}",
    "primary_key: {D8}",
    "keyboard key: ctrl+{L1}",
    "token count: {D5} of {D6}",
    "max_tokens={D4}, total_tokens: {D5}",
    '"cache_read_input_tokens":{D5},"output_tokens":{D3}',
    'version = "{D1}.{D2}.{D1}"',
    "at async handle (file:///srv/app/dist/index-{A8}.js:{D2}:{D2})",
    "dist/assets/index-{U8}.css  12.3 kB",
    "font-{H20}.woff2",
    "color: #{H6}; background: #{H6}",
    "0x{H40}",
    "blob {H40} {D4}",
    "session {H8}-{H4}-{H4}-{H4}-{H12} started",
    "nextToken: {A24}",
    "AWS account {D12}, region eu-central-1",
    "tree {H40}\nparent {H40}",
    '"node_id":"MDQ6VXNlcj{D6}"',
    "Subproject commit {H40}",
    "From {H40} Mon Sep 17 00:00:00 2001",
    "urn:uuid:{H8}-{H4}-{H4}-{H4}-{H12}",
    "CSRF-safe build {D8}-{H8}",
    "+{L12}.{L8}({L4}, {L5})",
    "key-{D4}-{L5}",
    "sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjoz{B120}",
    "{D4}-{D2}-{D2}T{D2}:{D2}:{D2}Z host app[{D4}]: GET /{L8}/{D6} 200 {D2}ms",
)

_HARMLESS_TEXT = (
    "password: str",
    "password = getpass.getpass()",
    "password: string;",
    "password: Optional[str] = None,",
    "def login(user: str, password: str) -> Token:",
    "if (password !== confirmPassword) throw new Error('Passwords differ');",
    "const token = await getToken(user);",
    "token = request.headers.get('Authorization')",
    "headers: { Authorization: `Bearer ${token}` }",
    "api_key=os.environ['OPENAI_API_KEY']",
    "apiKey: process.env.OPENAI_API_KEY!,",
    "password: ${{ secrets.DB_PASSWORD }}",
    "DB_PASSWORD=${DB_PASSWORD:-changeme}",
    "DB_PASSWORD=$DB_PASSWORD",
    'PGPASSWORD="$PGPASSWORD" psql',
    "POSTGRES_PASSWORD: <your-password>",
    "OPENAI_API_KEY=sk-...",
    "ANTHROPIC_API_KEY=your-api-key-here",
    "password: [REDACTED]",
    "password=********",
    "Password: (hidden)",
    "Enter password:",
    "sudo: a password is required",
    "Permission denied (publickey,password).",
    "fatal: could not read Password for 'https://ada@git.test': No such device",
    "the password is wrong",
    "the password is required and must have 8 characters",
    "the passphrase for the key is stored in the keychain",
    "Our api key is rotated every 90 days.",
    "set the root password to something long",
    "set the password to expire after 30 days",
    "The secret key is read from the environment.",
    "the token is expired; the token is invalid",
    "the token for the session is refreshed by middleware",
    "Reset password for user 42",
    "ALTER USER ada WITH PASSWORD :password",
    "CREATE USER ada IDENTIFIED BY :pw",
    "Each row of the table is identified by 'session_name'.",
    "secret_key = Config[KEY](a, b)[0]",
    "CREATE USER ada IDENTIFIED BY '<password>';",
    "ALTER ROLE app PASSWORD NULL;",
    "password VARCHAR(255) NOT NULL,",
    "ds.setPassword(password);",
    "ds.setPassword(config.getString(\"db.password\"));",
    "builder.password(env.get(\"PASSWORD\"))",
    "setToken(null); setToken(response.data.token);",
    "form.password(\"Enter your password\")",
    "user.setPassword(\"password\");",
    "z.object({ password: z.string().min(8) })",
    "password: z.string().min(8),",
    "validates :password, length: { minimum: 8 }",
    "<input type=\"password\" name=\"password\" placeholder=\"Password\">",
    "<label for=\"password\">Password</label>",
    "net use Z: \\\\srv\\share /user:ada *",
    "net use Z: \\\\srv\\share /user:ada %PASSWORD%",
    "openssl rsa -in key.pem -passin env:KEY_PASS",
    "openssl rsa -passin file:pass.txt",
    "openssl rsa -passin pass:$KEY_PASS -in key.pem",
    "curl -b cookies.txt https://app.test",
    "curl -b 'theme=dark' https://app.test",
    "curl -b \"session=$SESSION\" https://app.test",
    "curl -u \"$USER:$PASS\" https://api.test",
    "curl -u ada:${TOKEN} https://api.test",
    "host:port:database:user:password",
    "hostname:port:database:username:password\n",
    "127.0.0.1:5432:ready",
    "10:30:15:main:started",
    "src/app.py:12:34:error:unexpected",
    "| Name | Description |\n|---|---|\n| SECRET_KEY | the key that signs cookies |",
    "| `DB_PASSWORD` | required | the password of the database |",
    "| API_KEY | string | yes |",
    "| token | 36 characters | expires |",
    "| PASSWORD | none |",
    "| AUTH_TOKEN | `process.env.AUTH_TOKEN` |",
    "{\"auth\": \"none\"}",
    "{\"auth\": \"required\", \"type\": \"oauth2\"}",
    "\"auth\": true",
    "auth: { user: 'ada', pass: process.env.SMTP_PASS }",
    "//registry.npmjs.org/:_authToken=${NPM_TOKEN}",
    "client-key-data: <base64>",
    "client-certificate-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSURk",
    "seed phrase: twelve words from the list",
    "The recovery phrase is shown once; write it down.",
    "mnemonic: generate(128)",
    "random seed: 12345",
    "bcrypt.hashSync(password, 12)",
    "password_hash = '$2b$12$...'",
    "the hash starts with $2b$12$",
    "pass the value to the next function",
    "pass 2 of 3 done",
    "tests pass 120 of 120",
    "All tests pass; 3 skipped",
    "we pass null2 here",
    "PASS src/app.test.ts (5.123 s)",
    "-----END PRIVATE KEY----- marks the end of a key",
    "&lt;private&gt; is a tag",
    "List&lt;private&gt; x",
    "generic <T> private class",
    "Das Passwort lautet anders",
    "Das Kennwort ist falsch",
    "Passwort vergessen?",
    "Bitte Passwort: eingeben",
    "credentials are stored in ~/.aws/credentials",
    "credentials: 'include'",
    "credentials / tokens / keys",
    "fetch(url, { credentials: 'same-origin' })",
    "const key = event.key === 'Enter';",
    "for (const [key, value] of Object.entries(tokens))",
    "tokenizer = AutoTokenizer.from_pretrained('bert-base-uncased')",
    "secretName: app-tls-2024",
    "secretKeyRef:\n  name: db-credentials\n  key: password",
    "valueFrom:\n  secretKeyRef: { name: db, key: token }",
    "expect(screen.getByLabelText('Password')).toBeVisible()",
    "test_password_is_hashed_with_bcrypt PASSED",
    "ERROR: password authentication failed for user \"ada\"",
    "password_reset_token_expires_at TIMESTAMP",
    "--password-file /run/secrets/db",
    "docker secret create db_password ./password.txt",
    "kubectl get secret app-tls -o jsonpath='{.data}'",
    "SECRET_KEY_BASE is missing",
    "keyFile: /etc/ssl/private/server.key",
    "ssh -i ~/.ssh/id_ed25519 ada@host",
    "private readonly apiKey: string;",
    "api_key: &str,",
    "token: Token![,]",
    "Authorization: Bearer <token>",
    "Authorization: Basic base64(user:password)",
    "x-api-key: YOUR_API_KEY",
    "password = self.password_input.value.strip()",
    "password=form.cleaned_data['password1']",
    "passwd: files systemd",
    "root:x:0:0:root:/root:/bin/bash",
    "ada:*:1001:1001::/home/ada:/bin/sh",
    "getent passwd 1000",
    "KeyError: 'password'",
    "TypeError: token.split is not a function",
    "Unexpected token '<', \"<!DOCTYPE \"... is not valid JSON",
    "SyntaxError: Unexpected token } in JSON at position 120",
    "next_token: eyJvZmZzZXQiOjEwMH0",
    "page token: CAUQAA",
    "{\"password\": \"@Value('${db.password}')\"}",
    "@Value(\"${db.password}\") private String password;",
    "password: *default_password",
    "password: &pw",
    "password: !vault |",
    "password: !Ref DbPassword",
    "password: #required",
    "password: |",
    "password: >-",
    "PASSWORD=%DB_PASSWORD%",
    "set PASSWORD=!PASSWORD!",
    "password := \"#{password}\"",
    "password: \"@password\"",
    "password: '{password}'",
    "password: \"[password]\"",
    "password: \"(optional)\"",
    "\"password\": \"<redacted>\"",
    "\"password\": \"-\"",
    "\"password\": \"====\"",
    "\"token\": \"$token\"",
    "\"token\": \"{{ token }}\"",
    "\"password\": \"#/definitions/password\"",
    "\"$ref\": \"#/components/schemas/Password2\"",
    "\"apiKey\": \"@Microsoft.KeyVault(SecretUri=https://v.test/s)\"",
    "String password = \"\";",
    "token := r.Header.Get(\"X-Token\")",
    "let token = &self.token;",
    "if token == \"\" { return ErrNoToken }",
    "password?: string | null",
    "password: ${password}",
    "echo \"$PASSWORD\" | docker login --password-stdin",
    "The password must contain a letter, a digit and a sign.",
    "Change the password of the database in production.",
    "I forgot the password; is the token for staging still valid?",
    "Rotate keys: openai, anthropic, github.",
    "Which secret is used for signing?",
    "The master key is derived with PBKDF2 (100000 rounds).",
    "Use AES-256-GCM with a 32-byte key.",
    "The access token is a JWT signed with RS256.",
    "The refresh token is valid for 14 days.",
    "refresh token = opaque, access token = JWT",
    "API key: required. Create one under Settings.",
    "api key = none, uses oauth2 instead",
    "The token is base64url(header).base64url(payload).sig",
    "token is a string of 32 hex digits",
    "the secret is that nobody reads HTTP/2.0 specs",
    "the key is src/auth2/keyStore.ts",
    "The password is in 1Password.",
    "the password is hunter-style, see RFC2289",
)  # fmt: skip


def make_harmless(seed: int, rounds: int = 6) -> list[Sample]:
    """Make texts without a secret."""
    rng = random.Random(seed)
    texts = [fill(rng, shape.replace("{{", "\0").replace("}}", "\1"))
             .replace("\0", "{").replace("\1", "}")
             for shape in _HARMLESS for _ in range(rounds)]  # fmt: skip
    texts += _HARMLESS_TEXT
    samples = []
    for text in texts:
        name = rng.choice(["plain"] * 3 + list(CARRIERS))
        samples.append(Sample(CARRIERS[name][0](text), "", "harmless", name))
    return samples


def is_removed(sample: Sample, redacted: str) -> bool:
    """Return whether no half of the secret is left, nor four characters of it."""
    secret = sample.secret
    width = max(4, len(secret) // 3)
    around = sample.text.replace(secret, "")
    return not any(
        secret[at : at + width] in redacted and secret[at : at + width] not in around
        for at in range(len(secret) - width + 1)
    )


def is_held_out(sample: Sample) -> bool:
    """Return whether a sample is of the half that rules are not tuned on.

    The halves differ in pairs of kind and place.
    """
    output = f"{sample.kind}/{sample.place.partition(',')[0]}"
    return hashlib.sha256(output.encode()).digest()[0] % 2 == 0
