"""Find secrets in key blocks, tables, commands, headers, URLs, calls and protocols.

Each rule is tried where its anchor, a lower-case byte string, occurs in a text that
contains one of its words.
"""

import base64
import re
from collections.abc import Callable, Iterable, Iterator

from memtui.redaction.values import (
    FUNCTION_WORDS,
    KEY,
    PASSWORD,
    QUOTE,
    SECRET,
    TOKEN,
    Rule,
    SecretSpan,
    has_sign,
    has_uuid,
    is_basic_login,
    is_chosen,
    is_code,
    is_generated,
    is_human,
    is_mixed_password,
    is_noise,
    is_placeholder,
    is_random,
    is_spaced_phrase,
    is_template,
    kind_of_name,
)

# Private keys and seed phrases

KEY_BLOCK_CHARS = 32_768
"""Only this much of a key block is searched for its end."""

_PRIVATE_KEY = re.compile(r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_KEY_END = re.compile(r"-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_KEY_BODY = re.compile(r"(?:[^\"'`{}<\\]|\\++(?:[nrt]|u[0-9a-f]{4}))*")

_LINE_LEAD = (
    r"(?:[ \t]*(?:[\w./-]{1,80}:)?\d{1,6}(?:[→\t:|]|\\++(?:t|u2192)))?[ \t>+|-]{0,12}"
)
"""The prefix of a line in the output of tools: its number, its file, the sign of a
change."""

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


def find_key_block(text: str, at: int) -> Iterator[SecretSpan]:
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


def find_key_end(text: str, at: int) -> Iterator[SecretSpan]:
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


_SEED_WORDS = re.compile(
    r"(?:(?:\d{1,2}[.:)] ?)?[a-z]{3,8}(?![A-Za-z])(?:,? |\\n|\n)?+){1,26}+"
)
_SEED_NAME = re.compile(
    r"(?:seed|mnemonic|wallet|phrase|(?<=(?:12|24) )word)s?(?![A-Za-z])", re.IGNORECASE
)
SEED_REACH, SEED_CHARS = 40, 400
"""A seed phrase begins within this many characters of its name, and is this long."""
MIN_SEED_WORDS, MIN_DISTINCT_WORDS = 10, 7


def find_seed(text: str, at: int) -> Iterator[SecretSpan]:
    name = _SEED_NAME.match(text, at)
    if not name:
        return
    for run in _SEED_WORDS.finditer(text, name.end(), name.end() + SEED_CHARS):
        if run.start() > name.end() + SEED_REACH:
            return
        words = re.findall("[a-z]+", run[0])
        if len(words) < MIN_SEED_WORDS:
            continue
        if len(set(words)) >= MIN_DISTINCT_WORDS and not FUNCTION_WORDS.search(run[0]):
            first = run.start() + (text[run.start() - 1] == "\\")
            yield first, run.start() + len(run[0].rstrip()), "seed phrase"
        else:
            yield run.start(), run.end(), ""


# Tables, CSV and SQL

LONG_CHARS = 256
"""The heading of a table is not longer."""

_RULE_ROW = re.compile(r"[ \t]*[|+]?[ \t]*:?-[|:+ \t-]*")
_HEADING = re.compile(r"(?:(?<=\\)n)?([^\n\\\"]{1,512})(?:\r?\n|\\++n)$")
_ROW = re.compile(r"(?:\r?\n|\\++n)([^\n\\|]{0,2000}\|[^\n\\]{0,2000})")
_COLUMN = re.compile(r"[^|]+")
MAX_ROWS = 200


def find_in_table(text: str, at: int) -> Iterator[SecretSpan]:
    """Find the secrets in the columns that a heading names, from the row of dashes."""
    start = max(text.rfind(sign, max(0, at - LONG_CHARS), at) for sign in "\nn") + 1
    row = _RULE_ROW.match(text, start)
    if not row or row.end() <= at:
        return
    heading = _HEADING.search(text, max(0, start - LONG_CHARS), start)
    names = _COLUMN.findall(heading[1]) if heading else []
    kinds = [kind_of_name(name.strip(" \t*`_")) for name in names]
    end = row.end()
    for _ in range(MAX_ROWS if any(kinds) else 0):
        row = _ROW.match(text, end)
        if not row:
            break
        end = row.end()
        cells = _COLUMN.finditer(text, row.start(1), end)
        for kind, cell in zip(kinds, cells, strict=False):
            value = cell[0].strip(" \t*`")
            if kind and " " not in value and is_chosen(value):
                first = cell.start() + cell[0].index(value)
                yield first, first + len(value), kind
    yield at, end, ""


_CSV_START = re.compile(r"\n|\\+n|[\"'](?=\w+[,;\t]\w)")
MAX_CSV_ROWS = 20
CSV_SIGNS = frozenset(",;\t")
_CSV_NAME = r"[\"']?[\w .-]{1,40}[\"']?"
_CSV_HEADING = re.compile(
    rf"{_CSV_NAME}([,;\t]|\\t){_CSV_NAME}(?:\1{_CSV_NAME}){{0,30}}(?=\r?\n|\\+[rn])"
)
_CSV_ROW = re.compile(r"(?:\r?\n|\\+n)([^\n\\]{1,2000}(?:\\t[^\n\\]{0,2000}){0,30})")


def find_in_csv(text: str, at: int) -> Iterator[SecretSpan]:
    """Find the secrets in the columns that the first row of a CSV file names."""
    low = max(0, at - LONG_CHARS)
    starts = (found.end() for found in _CSV_START.finditer(text, low, at))
    start = max(starts, default=low)
    heading = _CSV_HEADING.match(text, start)
    if not heading or heading.end() <= at:
        return
    sign, end = heading[1], heading.end()
    kinds = [kind_of_name(name.strip(" \"'")) for name in heading[0].split(sign)]
    for _ in range(MAX_CSV_ROWS if any(kinds) else 0):
        row = _CSV_ROW.match(text, end)
        if not row:
            break
        end, first = row.end(), row.start(1)
        for kind, cell in zip(kinds, row[1].split(sign), strict=False):
            value = cell.strip(" \"'")
            if kind and is_chosen(value):
                place = first + cell.index(value)
                yield place, place + len(value), kind
            first += len(cell) + len(sign)


_INSERT = re.compile(
    r"insert into [^\s(]{1,128} ?\(([^()\n]{1,512})\)\s{1,8}values\s{0,8}\("
    r"((?:[^()\n]|\([^()\n]*\)){1,2048})\)",
    re.IGNORECASE,
)
_SQL_VALUE = re.compile(r"\s*(?:\w*\(?\\{0,7}'([^'\\]*)\\{0,7}'\)?|[^,']+)(?:,|$)")


def find_inserted(text: str, at: int) -> Iterator[SecretSpan]:
    """Find the secrets that SQL inserts into columns named so."""
    if not (insert := _INSERT.match(text, at)):
        return
    names = insert[1].split(",")
    values = _SQL_VALUE.finditer(text, *insert.span(2))
    for name, value in zip(names, values, strict=False):
        kind = kind_of_name(name.strip(' `"[]\\'))
        if kind and value[1] and is_chosen(value[1]):
            yield *value.span(1), kind


_SELECT = re.compile(
    r"select ([\w.,`\"*() ]{1,400}?) from [^\n\\]{1,300}(?:\r?\n|\\+n)",
    re.IGNORECASE,
)
_SELECTED = re.compile(r"([^\n\\]{1,2000}?)[ \t]*(?:\r?\n|\\+n|$|(?=\"))")


def find_selected(text: str, at: int) -> Iterator[SecretSpan]:
    """Find the secrets in the columns that SQL selects, in the rows that follow."""
    if not (query := _SELECT.match(text, at)):
        return
    names = query[1].split(",")
    kinds = [kind_of_name(name.strip(' `"').rpartition(".")[2]) for name in names]
    end = query.end()
    for _ in range(MAX_CSV_ROWS if any(kinds) else 0):
        row = _SELECTED.match(text, end)
        if not row:
            break
        end = row.end()
        cells = list(_COLUMN.finditer(text, *row.span(1)))
        if row[1].startswith("|"):
            cells = cells[: len(kinds)]
        if not row[1].strip(" |+-"):
            continue
        if len(cells) != len(kinds):
            break
        for kind, cell in zip(kinds, cells, strict=True):
            value = cell[0].strip()
            if kind and len(value.split()) == 1 and is_chosen(value):
                first = cell.start() + cell[0].index(value)
                yield first, first + len(value), kind


# Commands, protocols and calls

Rules = dict[bytes, tuple[tuple[bytes, Rule], ...]]

OPENS = r"(?:\\(?:\\{2}(?:\\{4})?)?[\"']|'|\"(?![,\]}:\s]))?"
"""A quote that may open a value; one that closes a JSON string may not."""


# Commands with a password as an argument: the words, and what is between one of them
# and the password. " *" are any other arguments; the group is the quote, if read.
_COMMANDS = rf"""
    mysql mysqldump mysqladmin mariadb  [a-z-]* * -p
    sshpass  * -p[ ]?
    mongo mongosh mongodump mongorestore cqlsh  * -p[ ]
    docker podman helm oc az  * login * -p[ ]
    rar unrar  [ ][a-z]+ * -h?p
    7z  [a-z]?[ ][a-z]+ * -p
    zip unzip  * -\w{{0,4}}P[ ]?
    sqlcmd mosquitto ipmitool  [a-z_]* * -P[ ]?
    ldapsearch ldapadd ldapmodify ldapwhoami ldappasswd  * -w[ ]
    ssh-keygen  * -[NP][ ]
    openssl  [ ]enc * -k[ ]
    security  [ ](?:add|unlock|import|set)[a-z-]* * -[wpP][ ]
    schtasks  * /[rR][pP][ ]
    hydra medusa crackmapexec netexec nxc psexec  * -p[ ]
    keyvault  [ ]secret[ ]set * --value[ =]
    ssm  [ ]put-parameter(?=[^\n|;&]{{0,300}}SecureString) * --value[ =]
    secretsmanager  [ ][a-z-]+-secret(?:-value)? * --secret-string[ =](?!.?\{{)
    pdftk  * (?:user|owner|input)_pw[ ]
    snmpget snmpwalk snmpset snmpbulkwalk snmptrap  * -c[ ](?!public|private)
    xfreerdp  * /p:
    redis-cli  * (?:-a|--pass)[ =]
    curl  \b[^\n|;]{{0,400}}? (?:-u|--user|-U|--proxy-user)[ =]?({OPENS})[^\s:\"'`\\$,\]}}]{{1,128}}:
    http https  [ ](?:-\w+ )*(?:-a|--auth)[ =]({OPENS})[\w.@-]{{1,64}}:
    smbclient smbget smbmap  * (?:-U|--user)[ =]?({OPENS})[^\s%\"'`\\$]{{1,128}}%
    htpasswd  (?=(?: -\w+| \d+){{0,4}}? -\w*b)(?:(?=<O>{{0,4}}? -\w*n)<O>{{1,4}}|<O>{{1,4}} [^\s|;&<>-]+) [^\s|;&<>]{{1,255}}[ ]
"""  # noqa: E501

# Values of commands and protocols: the kind, a check, words of which the text contains
# one, and a pattern whose last group is the secret. It begins with the anchor.
_VALUES = r"""
    password           chosen  login             (?<=\d )login \S{1,128} <V>
    api key            random  login             (?<=[a-z] )login (?:-\S+ ){0,3}([\w.-]{20,})(?![\w.:/-])
    api key            random  nuget             nuget push \S{1,200} (?:\S{1,200} ){0,4}?(?:-k|--api-key) ([\w-]{20,128})
    api key            random  sonar             (?<=\.)login=([\w-]{32,128})(?![\w.:/-])
    api key            random  auth              (?<= )--auth[ =]([\w-]{24,128})(?![\w.:/-])
    api key            random  curl              -u [\"']?([\w-]{20,128}):(?=[\"'\s])
    password           chosen  password          -command[= ][\"']?echo <V>
    password           chosen  expect            send(?: --)? <Q>([^\"\\\n]{4,128})\\+r
    password           chosen  login             login(?: is| to| was)?:? [^\s/:]{1,64} / <V>
    password           plain   where             set \w{1,32} ?= ?'([^'\\\n]{4,128})' where \w{1,32} ?= ?'[\w.-]{0,40}(?:pass|word|secret|token|key)'
    api key            random  shodan doctl      init (?:-t )?([\w-]{32,128})(?![\w.:/-])
    api key            random  store             api-key store \S{1,64} ([A-Za-z0-9+/=]{40,128})
    api key            random  username          username<Q>: ?<Q>[\w.@-]{1,64}<Q>, ?<Q>key<Q>: ?<Q>([0-9a-f]{32,64})(?!\w)
    api key            random  encrypt           encrypt(?:<Q>)? ?[:=] ?<Q>([A-Za-z0-9+/]{22,43}={1,2})
    api key            random  cookiesession     keys: ?\[<Q>([\w+/=-]{16,128})
    password           chosen  peer              login=[\w.@-]{1,64}:<V>
    password           chosen  isakmp            isakmp key (?:\d )?<V>
    password           chosen  tacacs radius     server key (?:\d )?<V>
    password           chosen  rootpw            rootpw (?:--plaintext )?<V>
    password           chosen  chpasswd          chpasswd:\s{1,20}(?:expire: \w{1,8}\s{1,20})?list: ?\|?\s{1,20}\w{1,32}:<V>
    password           chosen  stringdata        stringdata:\s{1,20}[\w.-]{1,64}: <V>
    password           chosen  secure            secure_link_md5 <Q>[^\"'\n]{1,128}? ([^\s\"'\\$]{6,128})<Q>
    password           chosen  btoa              btoa\(<Q>[\w.@-]{1,64}:([^\"'\\\n]{4,128})
    password           chosen  encode            encode\(b?<Q>[\w.@-]{1,64}:([^\"'\\\n]{4,128})
    password           chosen  buffer            buffer\.from\(<Q>[\w.@-]{1,64}:([^\"'\\\n]{4,128})
    password           chosen  ssid              ssid: ?[^\n]{1,64}\n(?:[*-] )?(?:key|pw|pass\w{0,6}): ?<V>
    password           chosen  admin             admin(?<![\w./-]admin):([^\s:$\"'`\\|;&<>]{6,128})(?=\s*(?:$|\n))
    password           chosen  root              root(?<![\w./-]root):([^\s:$\"'`\\|;&<>]{6,128})(?=\s*(?:$|\n))
    password           chosen  password passphrase  enter <V>(?= [^\n]{0,40}pass(?:word|phrase))
    password           chosen  password passphrase  type <V>(?= [^\n]{0,40}pass(?:word|phrase))
    password           chosen  password passphrase  use <V>(?= [^\n]{0,40}pass(?:word|phrase))
    api key            random  unseal            unseal ([A-Za-z0-9+/=]{40,})
    api key            random  install           service install ([A-Za-z0-9+/=._-]{40,})
    password           chosen  alias             alias set \S{1,64} \S{1,200} \S{1,128} <V>
    password           chosen  poetry composer   http-basic\.[\w.-]{1,64} \S{1,64} <V>
    password           chosen  bundle            bundle config (?:\S{1,32} ){0,3}?[\w.-]{1,64} [\w.-]{1,64}:<V>
    password           chosen  password          _password [\w.-]{1,64} <V>
    password           chosen  radtest           radtest \S{1,64} <V>
    password           chosen  changepassword    changepassword \S{1,64} <V>
    password           chosen  passwd            -passwd \S{1,128} <V>
    password           chosen  setairportnetwork  airportnetwork \S{1,16} (?:[\"'][^\"'\n]{1,64}[\"']|\S{1,64}) <V>
    password           chosen  bw                bw (?:unlock|login \S{1,64}@\S{1,64}) <V>
    password           chosen  connect           db2 connect to \S{1,64} user \S{1,64} using <V>
    password           chosen  literal           from-literal[= ]<Q>?[\w.-]{1,64}=<V>
    password           chosen  addlogin          addlogin N?<Q>[^\"'\n]{1,64}<Q>, ?N?<Q>([^\"'\\\n]{4,128})
    password           chosen  thin              thin:[\w.]{1,64}/([^\s@\"'\\]{4,128})@
    password           chosen  connect           connect\(<Q>[\w.]{1,64}/([^\s@\"'\\]{4,128})@
    password           chosen  impdp             impdp (?:\S{1,64} )?[\w.]{1,64}/([^\s@\"'\\]{4,128})
    password           chosen  expdp             expdp (?:\S{1,64} )?[\w.]{1,64}/([^\s@\"'\\]{4,128})
    password           chosen  rman              rman (?:target )?[\w.]{1,64}/([^\s@\"'\\]{4,128})
    password           chosen  userid            userid=[\w.]{1,64}/([^\s@\"'\\]{4,128})
    password           chosen  echo              echo +(?:-n +)?<Q>(?:[\w.@-]{1,64}:)?([^\s\"']{6,128})<Q> *\| *base64(?! *-)
    password           chosen  printf            printf +(?:<Q>%s<Q> +)?<Q>(?:[\w.@-]{1,64}:)?([^\s\"'%]{6,128})<Q> *\| *base64(?! *-)
    password           login   echo              echo +(?:-n +)?(?:<Q>)?([A-Za-z0-9+/]{12,512}={0,2})(?:<Q>)? *\| *base64 +-
    password           login   atob              atob\(<Q>([A-Za-z0-9+/]{12,512}={0,2})<Q>
    password           chosen  userpwd proxyuserpwd  userpwd(?:<Q>)?, ?<Q>[^:\s\"'\\]{1,64}:([^\"'\\\n]{4,128})
    password           chosen  zugang            zugang:? [^\s/:]{1,64} ?[/:] ?<V>
    password           chosen  wifi              wifi:? [^\s/:]{1,64} ?[/:] ?<V>
    password           chosen  wlan              wlan:? [^\s/:]{1,64} ?[/:] ?<V>
    password           chosen  account           account:? [^\s/:]{1,64} / <V>
    password           chosen  account           account: [^\s/:]{1,64}@\S{1,64} <V>
    password           digits  alarm door gate verification  code<K>
    password           chosen  rocommunity rwcommunity  community ([^\s\"'\\]{6,64})
    password           chosen  enable            enable secret (?:\d )?<V>
    password           groups  app               app[ -]pass?word[^\n]{0,60}?[\s:\"'`(](?-i:(<G>))
    password           groups  gmail             gmail[^\n]{0,60}?pass?word[^\n]{0,30}?[\s:\"'`(](?-i:(<G>))
    password           digits  pin puk           pin(?<=(?-i:PIN))<N>
    password           digits  puk               puk(?<=(?-i:PUK))<N>
    password           digits  pin               pin (?:is|ist|code is)[: ] ?(\d{4,12})(?![\w:-]|[.,]\d)
    password           digits  pin               pin<Q>?: ?<Q>?(\d{4,12})(?![\w:-]|[.,]\d)
    password           digits  passcode          passcode<N>
    password           digits  otp               otp<N>
    fly token          any     fm                fm[12][ar]?_([A-Za-z0-9+/]{60,8192}={0,2})
    webhook secret     any     whsec             whsec_([A-Za-z0-9+/]{24,128}={0,2})
    baidu key          any     altak             altak-([A-Za-z0-9]{21}/[0-9a-f]{40})
    paypal token       any     production            access_token\$production\$([a-z0-9]{16}\$[0-9a-f]{32})
    tailscale key      any     privkey           privkey:([0-9a-f]{64})(?!\w)
    private key        any     near              ed25519:([1-9A-HJ-NP-Za-km-z]{80,90})(?!\w)
    private key        any     wif               wif\W{1,4}([5KLc9][1-9A-HJ-NP-Za-km-z]{50,51})(?!\w)
    secret             both    salt              _salt<Q>, *<Q>([^\"'\n]{24,128})
    oauth code         random  azurewebsites callback oauth              (?<=[?&])code=([\w.~%/-]{40,2048}={0,2})
    token              random  ticket            (?<=[?&])ticket=([\w.~%-]{20,2048})
    password           chosen  masterauth        masterauth <V>
    password           chosen  wpa               wpa_passphrase \S{1,64} <V>
    password           chosen  ftp               ftp> user \S{1,64} <V>
    password           chosen  sqlplus           sqlplus (?:-\w+ )?[\w.]{1,64}/([^\s@\"']{4,128})
    password           chosen  user              _user [\w.-]{1,64} <V>
    password           chosen  identify          identify (?:[\w.-]{1,64} )?<V>
    password           chosen  auth              (?<![\w.-])auth (?:[\w.-]{1,64} )?<V>
    password           chosen  snmpwalk snmpget  -a <V>
    password           chosen  snmpwalk snmpget  -x <V>
    password           chosen  u                 -u \S{1,64} (?:\S+ ){0,3}?-p[ ]?<V>
    password           chosen  psk eap xauth     psk[ \t]+<Q>([^\"'\\\n]{6,128})
    password           chosen  psk eap xauth     eap[ \t]+<Q>([^\"'\\\n]{6,128})
    password           chosen  secrets           secret[^\"\\*\n]{0,80}\n<Q>?[\w.@-]{1,64}<Q>?[ \t]+\S{1,64}[ \t]+<V>(?=<Q>?[ \t]+\*)
    password           chosen  smtp sasl relay   :(?:25|465|587)[ \t]+[^\s:]{1,128}:([^\s\"'\\]{6,128})
    password           chosen  log sign login    in (?:with|as) (?:user )?[`\"']?[^\s/:`\"']{1,64}[`\"']?(?: / |/|:| with | and )(?:(?:the |password )*)[`\"']?([^\s`\"'\\]{7,127}[^\s`\"'\\,;.)])
    password           mixed   identified        identified by ([^\s\"'\\;]{6,128})
    password           both    secret            secret <R>
    password           both    password          password <R>
    password           both    community         community ([^\s\"'\\]{6,64}) (?:ro|rw)\b
    password           both    net               net user [\w.-]{1,64} <V>(?=\s|$|\\)
    password           plain   net               net use (?:[^\n|&\s]{1,40} +)?\\\S{1,128} +(?![*/%])([^\s\"'\\]{4,128}) +/user:
    password           plain   net               net use [^\n|&]{0,200}?/user:[^\s\"']{1,100} +(?![*/%])([^\s\"'\\]{4,128})
    password           plain   echo              echo <P>
    password           plain   printf            printf <P>
    password           plain   securestring      -securestring +(?:-\w+ +){0,3}<Q>([^\"'`\\\n]{2,255})
    password           word    requirepass       requirepass[ \t]+[\"']?([^\s\"'\\]{4,256})
    password           sasl    plain             plain(?:<Q>>| )([A-Za-z0-9+/]{12,256}={0,2})
    password           plain   plain             \{plain\}([^\s\"'\\:]{6,128})
    bearer token       random  bearer            bearer,?[ \t]{1,4}([A-Za-z0-9._~+/=-]{16,})
    cookie             random  session           session(?:_?id)?<C>
    cookie             random  sid               .sid<C>
    cookie             random  sessionid         sessionid<C>
    cookie             random  phpsessid         phpsessid<C>
    cookie             random  jsessionid        jsessionid<C>
    signature          random  sig               (?<=[?&;])sig<S>
    signature          random  signature         signature<S>
    token              both    kubeadm           token[ =]([a-z0-9]{6}\.[a-z0-9]{16})(?!\w)
    terraform token    any     atlasv            (?<=[A-Za-z0-9]{14})\.atlasv1\.[A-Za-z0-9_-]{60,70}
    api key            plain   oathtool          oathtool[^\n|;]{0,80}? [\"']?([a-z2-7]{16,64}|[0-9a-f]{20,128})(?![\w.])
    api key            random  appid             (?<=[?&])appid=([0-9A-Za-z]{32,64})(?!\w)
    api key            both    totp otp mfa recovery backup qr authenticator  key<B>
    api key            both    totp otp mfa recovery backup qr authenticator  secret<B>
    api key            both    totp otp mfa recovery backup authenticator  code<B>
    api key            both    fa                2fa (?:recovery |backup )?(?:key|secret|code)<B>
    api key            both    totp otp mfa fa authenticator  seed(?: (?:for|of|in) [\w@. -]{1,40}?)?(?: is|:|=|:? is:?) [`\"']?((?-i:[A-Z2-7]{16,64}))(?!\w)
    google key         any     apa               apa91b(?<=AAAA[\w-]{7}:APA91b)([\w-]{80,200})
    api key            any     keyname           keyname[^{}]{1,300}?[\s\"']([A-Za-z0-9+/]{43,86}={1,2})(?![\w+/=])
    api key            any     primarykey secondarykey  arykey<Q>: ?<Q>([A-Za-z0-9+/]{43,86}={1,2})(?=<Q>)
    api key            any     permissions       full(?:<Q>,(?:\s|\\+n){0,20}<Q>value<Q>: ?<Q>|\s{1,16})([A-Za-z0-9+/]{43,86}={1,2})(?![\w+/=])
    slack token        random  slack             slack:(?:(?:\s|\\+n){1,12}rooms:)?(?:(?:\s|\\+n){0,12}- )? ?[\w.-]{1,64}:([A-Za-z0-9]{24})(?!\w)
    password           text    ugfzc             ugfzc3dvcmq6[ \t\"']*(?:\r?\n|\\+[rn])+[^\n]{0,60}?(?<![\w+/])((?:[A-Za-z0-9+/]{4}){1,64}(?:\w{2}==|\w{3}=)?)[ \t]{0,8}(?=\r?\n|\\+[rn]|\\*\"|$)
    password           phrase  passphrase        enter passphrase[^\n:]{0,200}: ([^\n\"'\\]{6,128}?)[ \t]{0,8}(?=\r?\n|\\+[rn]|\\*\"|$)
    password           mixed   my                use my(?: [a-z]{1,12}){0,4}[,:]? [`\"'(]?[\w.@-]{1,64}:([^\s\"'`\\,;()]{8,128})
    password           chosen  crypt             crypt\(<Q>([^\"'\\\n]{4,128})(?=<Q>,)
    password           chosen  password bcrypt argon scrypt hashpw  hash(?:pw|sync)?\(b?<Q>([^\"'\\\n]{4,128})
    password           chosen  sha               sha2\(<Q>([^\"'\\\n]{4,128})(?=<Q>, ?\d)
    password           chosen  equals            \.equals(?<=(?:word|oken|cret)\.equals)\(<Q>([^\"'\\\n]{6,128})
    password           chosen  digest            compare_digest\([\w.>-]{0,40}(?:pass|pw|token|secret|key)\w{0,12}, ?b?<Q>([^\"'\\\n]{6,128})
    api key            any     totp otp mfa      _seed(?:<Q>)?[:=] ?(?:<Q>)?([A-Z2-7]{16,64})(?!\w)
    password           word    :                 (?<=[\w.*-]):543\d<F>
    password           plain   :                 (?<=[\w.*-]):\*<F>
    password hash      any     $                 (?<=[\w.@-]:)\$(?:apr1|1|5|6|7|y|gy|2[abxy])\$[./A-Z0-9$=,]{16,128}(?=[\s:\"'\\]|$)
    password hash      any     $                 \$(?:2[abxy]\$\d\d\$[./A-Z0-9]{53}|argon2(?:id|i|d)\$[\w=,$+/.-]{40,256}|[56]\$(?:rounds=\d+\$)?[./A-Z0-9]{1,16}\$[./A-Z0-9]{43,86})(?![./A-Z0-9])
    openshift token    any     ~                 sha256~[\w-]{43}(?![A-Za-z0-9])
    private key        any     importprivkey     privkey\S{0,20}\W{1,4}([5KLc9][1-9A-HJ-NP-Za-km-z]{50,51})(?!\w)
    private key        any     private           private-lines: \d{1,4}<J>([A-Za-z0-9+/]{16,}={0,2}(?:<J>[A-Za-z0-9+/]{16,}={0,2})*)
"""  # noqa: E501

_SHORT = {
    "<B>": r"s?(?: is)?[: ]{1,3}((?:[a-z2-7]{4}[ -]){3,15}[a-z2-7]{4}"
    r"|[a-z0-9]{4,6}(?:-[a-z0-9]{4,6}){1,5})(?![\w-])",
    "<C>": r"[=\t](?:s%3A)?([A-Za-z0-9%._~+/-]{20,2048})",
    "<S>": "=([A-Za-z0-9%+/_-]{20,2048}={0,2})",
    "<N>": r"(?:[ -]?(?:code|num[bm]er))?(?:'s)?(?: [^\W\d_]{1,14}){0,5}?"
    r"(?: |: ?| ?= ?)(\d{4,12})(?![\w:-]|[.,]\d)",
    "<K>": "(?:"
    + "|".join(
        f"(?<={word} code)" for word in ("alarm", "door", "gate", "verification")
    )
    + r")(?: for (?:[a-z]{1,14} ){1,4})?(?: ?is|:) (\d{4,8})(?![\w:-]|[.,]\d)",
    "<G>": r"[a-z]{4} [a-z]{4} [a-z]{4} [a-z]{4}(?![\w-])",
    "<R>": r"[05789] ([^\s\"'\\]{6,128})",
    "<J>": r"(?:[ \t]*(?:\r?\n|\\++[nr])[ \t>+|-]{0,4}|[ \t]+)",
    "<P>": r"+(?:-n +|<Q>%s(?:\\+n)?<Q> +)?(?:<Q>)?"
    r"(?:[\w.-]{1,64}:(?=[^\n]{1,128}chpasswd))?"
    r"([^\n\"'|]{3,127}?[^\s\"'|\\])(?:<Q>)? *\| *"
    r"(?:(?:sudo +)?(?:chpasswd|cryptsetup|passwd)"
    r"|(?:gcloud secrets|(?:wrangler|docker|podman|gh|fly|flyctl|eas) secrets?"
    r"|vercel env"
    r"|pass insert|kubectl create secret)(?!\w)|[^|\n;]{1,160}?"
    r"(?:-stdin|--with-token)(?!\w)|sudo -S|kinit\b|openssl|gpg\b)",
    "<V>": r"[\"']?([^\s\"'`\\|;&<>]{6,128})",
    "<F>": r":[\w*.-]{1,64}:[\w*.@-]{1,64}:([^\s\"'\\:][^\s\"'\\]{3,255}+)"
    r"(?=\s|$|\\+[rn]|\\*\")",
    "<O>": r"(?: -[A-Za-z]{1,6}(?: \d{1,3})?)",
    "<Q>": QUOTE,
}
_ANCHOR = re.compile(r"(?:\(\?<[^)]*\))*((?:[\w :/>=.~-]|\\[.{}$*])+)(?![?*+{|])")


def _expanded(pattern: str) -> str:
    for short, full in _SHORT.items():
        pattern = pattern.replace(short, full)
    return pattern


def has_no_template(value: str) -> bool:
    return not is_template(value) and not is_placeholder(value)


def _is_random(value: str) -> bool:
    return is_random(value) and not is_placeholder(value)


def _has_nul(value: str) -> bool:
    """Return whether a value is the base64 of a name and password for SASL."""
    try:
        login = base64.b64decode(value + "=" * (-len(value) % 4))
    except ValueError:
        return False
    return login.count(b"\0") == 2


def _decoded_text(value: str) -> str:
    """Return the text that a value is the base64 of; "" if it is none."""
    try:
        plain = base64.b64decode(value + "=" * (-len(value) % 4)).decode("ascii")
    except ValueError:
        return ""
    return plain if plain.isprintable() else ""


def _has_login(value: str) -> bool:
    """Return whether a value is the base64 of a password, or of a name and password."""
    login = _decoded_text(value)
    return is_chosen(login.partition(":")[2] or login)


_FREQUENT = frozenset((
    "that", "this", "with", "from", "have", "will", "your", "when", "what",
    "then", "make", "into", "only", "some", "more", "than", "they", "them",
    "been", "like", "also", "over", "just", "must", "each", "used", "text",
    "code", "file", "name", "type", "line", "data", "user", "test", "form",
    "mode", "call", "path", "list", "left", "time", "back", "page", "next",
    "last", "read", "here", "copy", "keep", "need", "sure", "find", "work",
    "were",
))  # fmt: skip
"""Frequent English words of four letters."""


def _has_groups(value: str) -> bool:
    """Return whether a value is no prose of words of four letters."""
    return _FREQUENT.isdisjoint(value.split())


def _has_both(value: str) -> bool:
    """Return whether a value contains letters and digits."""
    return (
        any(map(str.isdigit, value))
        and any(map(str.isalpha, value))
        and has_no_template(value)
    )


_CHECKS: dict[str, Callable[[str], bool]] = {
    "any": bool,
    "plain": has_no_template,
    "word": lambda value: has_no_template(value) and not value.isalpha(),
    "both": _has_both,
    "chosen": is_chosen,
    "digits": lambda value: len(set(value)) > 1,
    "groups": _has_groups,
    "login": _has_login,
    "mixed": is_mixed_password,
    "random": _is_random,
    "phrase": lambda value: is_chosen(value) or is_spaced_phrase(value),
    "sasl": _has_nul,
    "text": lambda value: bool(_decoded_text(value)),
}


def _pattern(kind: str, check: str, pattern: str) -> Rule:
    """Make a rule of a pattern whose last group is the secret."""
    compiled = re.compile(_expanded(pattern), re.IGNORECASE)
    is_value = _CHECKS[check]

    def rule(text: str, at: int) -> Iterator[SecretSpan]:
        found = compiled.match(text, at)
        if found and is_value(found[found.lastindex or 0]):
            yield *found.span(found.lastindex or 0), kind

    return rule


_PORTS = re.compile(r"\d+(?::\d+)*$")
_OPENED = re.compile(OPENS)
_QUOTED_VALUE = re.compile(r"([^\"'`\\\n]{2,255})(?=\\{0,7}[\"'`])")
_WORD = re.compile(r"[^\s\"'`\\|;&<>,\]}][^\s\"'`\\|;&<>]{1,255}")


def _command(pattern: str) -> Rule:
    """Make a rule of a pattern for all of a command before the password."""
    compiled = re.compile(_expanded(pattern.replace(" *", r"(?: [^|;&\n]{0,200}?)??")))

    def rule(text: str, at: int) -> Iterator[SecretSpan]:
        if not (found := compiled.match(text, at)):
            return
        opened, at = found[1] if compiled.groups else "", found.end()
        if not opened and (quote := _OPENED.match(text, at)):
            opened, at = quote[0], quote.end()
        value = (_QUOTED_VALUE if opened else _WORD).match(text, at)
        if not value or is_template(value[0]) or _PORTS.match(value[0]):
            return
        if opened or not value[0].startswith("-") or is_generated(value[0]):
            yield *value.span(), PASSWORD

    return rule


# Headers, cookies and URLs.

_HEADER = re.compile(
    rf"(?:{QUOTE})?\]?[ \t]{{0,4}}[:=,]?[ \t]{{0,4}}(?:[bf]?{QUOTE})?"
    r"(?:([A-Za-z][\w-]{1,24})[ ]{1,4}(?:(?:auth|token|api_key)=(?:"
    rf"{QUOTE})?)?)?"
    r"([A-Za-z0-9._~+/][A-Za-z0-9._~+/=:-]{5,})",
    re.IGNORECASE,
)

_SCHEMES = frozenset((
    "bearer", "token", "apikey", "digest", "bot", "key", "negotiate", "geniekey",
))  # fmt: skip
"""Schemes of authorization whose values may be short."""

_COOKIE_NAME = re.compile(
    rf"(?:cookies?(?:{QUOTE})?[ \t]{{0,4}}[:= ][ \t]{{0,4}}\{{?(?:{QUOTE})?"
    rf"|curl\b[^\n|;]{{0,400}}? (?:-b|--cookie)[ =]?{OPENS})",
    re.IGNORECASE,
)
_COOKIES = re.compile(
    r"(?:[\w.-]{1,80}(?:=[^;\s\"'`\\]{0,4096};?[ ]?"
    rf"|{QUOTE}: ?{QUOTE}[^\s\"'`\\]{{0,4096}}{QUOTE},? ?(?:{QUOTE})?)){{1,60}}"
)
_COOKIE = re.compile(rf"([\w.-]{{1,80}})(?:=|{QUOTE}: ?{QUOTE})([^;\s\"'`\\]{{8,}})")

_SESSION = re.compile(
    r"sess|sid$|token|auth|jwt|csrf|xsrf|login|remember|ident", re.IGNORECASE
)

_LOGIN = re.compile(r"([^\s/@:\"'`\\<>?#(){}]{0,128}):([^\s/@\"'`\\<>]{1,256})@")
_LONE_LOGIN = re.compile(r"([A-Za-z0-9_.~-]{16,256})@")

_WEBHOOK = re.compile(
    r"://[\w.-]+/(?:(?:api|v\d+|services|workflows|triggers|(?:web)?hooks?(?:b2)?)/)+"
    r"([A-Za-z0-9_@/-]{20,})"
)
# Addresses whose last part is a secret; "*" is any part.
_LINKS = r"""
    maker.ifttt.com/trigger/*/with/key/
    events.pagerduty.com/integration/
    hooks.zapier.com/hooks/catch/*/
    hook.[a-z0-9.]{0,8}make.com/
    hook.integromat.com/
    hc-ping.com/
    uptime.betterstack.com/api/v1/heartbeat/
    api.netlify.com/build_hooks/
    api.vercel.com/v1/integrations/deploy/*/
    api.cloudflare.com/client/v4/pages/webhooks/deploy_hooks/
    outlook.office.com/webhook/*/IncomingWebhook/
    open.(?:feishu|larksuite).c[a-z]+/open-apis/bot/v2/hook/
    qyapi.weixin.qq.com/cgi-bin/webhook/send\?key=
    [a-z0-9.-]+.quiknode.pro/
    rpc.ankr.com/*/
    [a-z0-9-]+.infura.io/v3/
    [a-z0-9-]+.g.alchemy.com/v2/
    [a-z0-9-]+.getblock.io/
    calendar.google.com/calendar/ical/*/private-
    alert.victorops.com/integrations/*/*/alert/
    api.render.com/deploy/*\?key=
    [a-z0-9.-]+/webhook/
    [a-z0-9.-]+/(?:magic-link|magic|reset-password|password/reset|invite/accept)/
"""
_LINK = re.compile(
    "://(?:"
    + "|".join(
        re.sub(r"\.(?![-+}\]])", r"\.", line).replace("*", "[^/\\s\"']{1,128}")
        for line in _LINKS.split()
    )
    + r")([A-Za-z0-9_-]{7,128})"
)
_LOGIN_BEFORE_HOST = re.compile(
    r"(?<![^\s\"'`=])[\w.-]{1,64}:([^\s/@:\"'`\\<>]{8,128})(?=@[\w.-]+[(:/])"
)


def find_header(text: str, at: int) -> Iterator[SecretSpan]:
    """Find the secret after the name of a header of authorization."""
    header = _HEADER.match(text, at)
    if not header or is_placeholder(header[2]):
        return
    scheme, value = (header[1] or "").lower(), header[2]
    if scheme == "basic":
        if is_basic_login(value):
            yield *header.span(2), "basic auth"
    elif (
        is_random(value)
        or (scheme in _SCHEMES and any(map(str.isdigit, value)))
        or (scheme and has_uuid(value))
    ):
        named = scheme if scheme in _SCHEMES else "authorization"
        yield *header.span(2), f"{named} token".replace("token token", "token")


def _cookie(text: str, at: int) -> Iterator[SecretSpan]:
    lead = _COOKIE_NAME.match(text, at)
    line = _COOKIES.match(text, lead.end()) if lead else None
    if not line:
        return
    yield *line.span(), ""
    for cookie in _COOKIE.finditer(text, *line.span()):
        name, value = cookie[1], cookie[2]
        if is_placeholder(value) or is_code(value):
            continue
        if is_random(value) or (_SESSION.search(name) and any(map(str.isdigit, value))):
            yield *cookie.span(2), "cookie"


def _url(text: str, at: int) -> Iterator[SecretSpan]:
    if login := _LOGIN.match(text, at + 3):
        # A host and port before an @ is no login.
        is_host = login[1] == "localhost" or "." in login[1]
        is_port = is_host and re.fullmatch(r"\d{2,5}", login[2])
        if not (is_port or login[2] == "password" or is_template(login[2])):
            yield *login.span(2), PASSWORD
    elif lone := _LONE_LOGIN.match(text, at + 3):
        if is_random(lone[1]):
            yield *lone.span(1), "token"
    elif (link := _LINK.match(text, at)) and any(map(str.isdigit, link[1])):
        if has_uuid(link[1]) or _has_both(link[1]):
            yield *link.span(1), "webhook"
    elif (found := _WEBHOOK.match(text, at)) and not is_placeholder(found[1]):
        last = found[1].rstrip("/").rpartition("/")[2]
        has_digits = last.isalnum() and sum(map(str.isdigit, last)) > 1
        if len(last) >= 16 and (has_digits or is_random(last)):
            yield *found.span(1), "webhook"


def _login_before_host(text: str, at: int) -> Iterator[SecretSpan]:
    """Find the password in ``ada:password@tcp(host)``."""
    start = max(text.rfind(sign, max(0, at - 200), at) for sign in " \n\"'=") + 1
    login = _LOGIN_BEFORE_HOST.match(text, start) if start < at else None
    if not login or login.end() != at:
        return
    is_driver = text.startswith(("@tcp(", "@unix("), at)
    if is_mixed_password(login[1]) or (is_driver and is_chosen(login[1])):
        yield *login.span(1), PASSWORD


# SQL, calls and options.

_IDENTIFIED = re.compile(
    r"identified (?:with \w{1,40} )?(?:by|as) (?:password )?"
    r"\\{0,7}['\"]([^'\"\\\n]{4,256})(?=\\{0,7}['\"])",
    re.IGNORECASE,
)


def _identified(text: str, at: int) -> Iterator[SecretSpan]:
    """Find the password of a user in SQL; prose has "identified by", too."""
    clause = _IDENTIFIED.match(text, at)
    if not clause or not has_no_template(clause[1]):
        return
    if clause[0][:10].isupper() or any(map(str.isdigit, clause[1])):
        yield *clause.span(1), PASSWORD


_LITERAL = re.compile(
    rf"(?<=[(,\[ ])(?:[\w.:]{{1,24}}\(|\[\]byte\(|[brufN@&*])?({QUOTE})"
    r"([^\"'\\\n]{1,256})(?=\\{0,7}[\"'`])"
)
_CALL_START = re.compile(r"[\w.:]{0,40}\(|[\w.:]{0,20}=[({]| [\w, ]{0,40}(?=[\"'])")
CALL_CHARS = 400
MIN_KEY_CHARS = 32
"""Only this much of a call is searched for passwords."""


def _literals(text: str, at: int) -> Iterator[re.Match[str]]:
    call = _CALL_START.match(text, at)
    if call:
        line = text.find("\n", at, at + CALL_CHARS)
        end = line if line >= 0 else at + CALL_CHARS
        yield from _LITERAL.finditer(text, call.end() - 1, end)


def _login_call(text: str, at: int) -> Iterator[SecretSpan]:
    """Find the password among the arguments of a call that logs in; the first is a
    name."""
    before = ""
    for number, literal in enumerate(_literals(text, at)):
        value = literal[2]
        is_second = number or text[literal.start() - 1] != "("
        is_place = re.search("://|^[^:]*/|:\\d", value) and not (
            is_noise(value) or (len(value) >= MIN_KEY_CHARS and is_random(value))
        )
        is_letters = _APP_PASSWORD.match(value) and number == 1
        is_after_name = _LOGIN_NAME.match(before) and is_human(value)
        if is_second and not is_place:
            if is_letters or is_after_name or is_generated(value):
                yield *literal.span(2), PASSWORD
        elif len(value) >= MIN_KEY_CHARS and _is_random(value) and not is_place:
            yield *literal.span(2), TOKEN
        before = value


_LOGIN_NAME = re.compile(r"[\w.@+,=-]{1,128}$")
_APP_PASSWORD = re.compile(r"[a-z]{16}$|[a-z]{4}(?: [a-z]{4}){3}$")


_SIGNED = re.compile(r"[^/: ]*[^\w/:. +=-][^/: ]*$")


def _key_call(text: str, at: int) -> Iterator[SecretSpan]:
    """Find the key among the arguments of a call that signs or encrypts."""
    for literal in _literals(text, at):
        value = literal[2]
        is_signed = _SIGNED.match(value) and is_generated(value)
        if (is_signed or is_random(value) or is_noise(value)) and has_no_template(
            value
        ):
            yield *literal.span(2), KEY


_USER_OPTION = re.compile(
    r"(?: -u| -a| --?user(?:name)?|user(?= ?= ?\")| --?auth| --creds?|stats auth)[ =]+"
    rf"{OPENS}[\w.@-]{{1,64}}[:,%/](?:{QUOTE})?([^\s\"'`\\|&;]{{6,128}})"
)


def _user_password(text: str, at: int) -> Iterator[SecretSpan]:
    """Find the password in an option ``--user=ada:password`` of any command."""
    if text.startswith(" --", at - 3):
        at -= 3
    option = _USER_OPTION.match(text, at)
    if option and is_chosen(option[1]):
        yield *option.span(1), PASSWORD


_JWK = _pattern(
    KEY, "random", r"(?:d|k|p|q|dp|dq|qi)<Q>:\s?<Q>([A-Za-z0-9_-]{20,1024})(?=\\*\")"
)
_JWK_PART = re.compile(r"(?<=[{, \n])\\*\"(?=(?:d|k|p|q|dp|dq|qi)\\*\")")
JWK_CHARS = 4096


def _jwk(text: str, at: int) -> Iterator[SecretSpan]:
    """Find the private parts of a JSON Web Key."""
    for found in _JWK_PART.finditer(text, max(0, at - 200), at + JWK_CHARS):
        yield from _JWK(text, found.end())
    yield at, min(len(text), at + JWK_CHARS), ""


_DECODED = re.compile(
    rf"[\w.]{{0,20}}!?\(\s{{0,4}}b?({QUOTE})([A-Za-z0-9+/=_-]{{24,512}})"
    rf"(?=\\{{0,7}}[\"'`])"
)
_KEY_NAME = re.compile(
    r"(?:key|secret|salt|token|passw|psk|priv)\w{0,20}(?:[ \t]*[:=]|,)[^\n]{0,60}$",
    re.IGNORECASE,
)


def _decoded(text: str, at: int) -> Iterator[SecretSpan]:
    """Find the key that a call decodes: ``key = bytes.fromhex("…")``."""
    found = _DECODED.match(text, at)
    if not found or not _KEY_NAME.search(text, max(0, at - 120), at):
        return
    if is_random(found[2]) and has_no_template(found[2]):
        yield *found.span(2), KEY


_CLIENT_KEY = re.compile(r"[A-Za-z0-9_-]{20,128}$")


def _client_call(text: str, at: int) -> Iterator[SecretSpan]:
    """Find the key among the first arguments of a client's constructor."""
    past = at
    for literal in _literals(text, at):
        value = literal[2]
        if ")" in text[past : literal.start()]:
            return
        past = literal.end()
        is_key = _CLIENT_KEY.match(value) and not _ACCOUNT.match(value)
        if is_key and _is_random(value) and not has_uuid(value):
            yield *literal.span(2), KEY


_NEW = re.compile(
    r"new (?!\w*(?:Id|ID|Key|Hash|Address|Buffer|Array|Regex|RegExp|Error|Date|URL|UUID"
    r"|BN"
    r"|Guid|Integer|Decimal|Number|Blob|File)\()[A-Z]\w{1,40}(?=\([\"'])"
)


def _new_client(text: str, at: int) -> Iterator[SecretSpan]:
    """Find the key that a client is made with: ``new Stripe("…")``."""
    if made := _NEW.match(text, at):
        first = next(iter(_literals(text, made.end())), None)
        key = first[2] if first else ""
        is_long = len(key) >= MIN_KEY_CHARS
        if first and is_long and _CLIENT_KEY.match(key) and _is_random(key):
            yield *first.span(2), KEY


_ACCOUNT = re.compile(r"AC[0-9a-f]{32}$|[0-9]+$")

_CHARACTERS = re.compile(rf"{QUOTE}([^\"'`\\\n]{{4,128}})\\{{0,7}}[\"'`]$")


def _characters(text: str, at: int) -> Iterator[SecretSpan]:
    """Find the password in ``"password".toCharArray()``."""
    found = _CHARACTERS.search(text, max(0, at - 140), at)
    if found and is_chosen(found[1]):
        yield *found.span(1), PASSWORD


_USED_TO = re.compile(
    r"(?:[Uu]se|[Uu]sing|[Ww]ith|[Tt]ake|[Tt]ry) [`\"']?([\w+/=.~-]{20,256})[`\"']?$"
)
_TO_LOGIN = re.compile(r" to (?:authenticate|log ?in|sign ?in)\b")


def _used_to(text: str, at: int) -> Iterator[SecretSpan]:
    """Find the key in "use X to authenticate"."""
    if _TO_LOGIN.match(text, at):
        used = _USED_TO.search(text, max(0, at - 280), at)
        if used and (has_uuid(used[1]) or _is_random(used[1])):
            yield *used.span(1), KEY


_AFTER_ADDRESS = re.compile(
    r"@[\w-]{1,64}+(?:\.[\w-]{1,64}+){1,4}+(?:[`\"']? / |[`\"']/| ?\| ?|[`\"']? ?: "
    r"|:(?=[^/\s]*(?:\s|$))|[`\"']? [-–—] )[`\"']?([^\s`\"'\\/]{6,127}[^\s`\"'\\,;.)])"
    r"(?![^\s`\"'\\,;.)])"
)


def _after_address(text: str, at: int) -> Iterator[SecretSpan]:
    """Find the password after an address: ``ada@example.org / password``."""
    found = _AFTER_ADDRESS.match(text, at)
    if found and is_chosen(found[1]) and not _HOST.search(found[1]):
        yield *found.span(1), PASSWORD


_HOST = re.compile(r"^[\w.-]+\.[a-z]{2,5}(?:$|:)|@")

_HERE_STRING = re.compile(r"<<< ?\\*[\"']?([^\s\"'`\\|;&<>$]{6,256})")
_READS_SECRET = re.compile(
    r"(?:stdin|passwd|token|secret|password|kinit|env add|login|key|crypt)[^\n]{0,120}$"
)


def _here_string(text: str, at: int) -> Iterator[SecretSpan]:
    """Find the password that a command reads: ``docker login … <<< password``."""
    found = _HERE_STRING.match(text, at)
    is_conflict = text[at - 1 : at] == "<"
    if not found or is_conflict or not is_chosen(found[1]):
        return
    if _READS_SECRET.search(text, max(0, at - 200), at):
        yield *found.span(1), PASSWORD


_KINDS_WITHIN = ("live", "sandbox", "sk", "pat")
_PREFIXED = re.compile(
    rf"[a-z][a-z0-9]{{1,15}}_(?:{'|'.join(_KINDS_WITHIN)})_"
    r"(?=[A-Za-z0-9]*\d)[A-Za-z0-9]{20,128}(?![A-Za-z0-9_])"
)
_PUBLIC_PREFIX = re.compile("pk_|pub|cs_|cus_|evt_|price_|acct_|test_|prod_|plan_|sub_")


def _prefixed(text: str, at: int) -> Iterator[SecretSpan]:
    """Find tokens that name their kind: ``acme_live_…``."""
    start = at
    while start and at - start < 16 and text[start - 1].isalnum():
        start -= 1
    found = _PREFIXED.match(text, start)
    if found and text[start - 1 : start] not in ("_", "-", ".", "/"):
        value = found[0].rpartition("_")[2]
        if _is_random(value) and not _PUBLIC_PREFIX.match(found[0]):
            yield *found.span(), "api key"


_IN_BRACKETS = re.compile(r" / ([^\s()\"'`\\]{6,128})\)")
_NAME_OPENED = re.compile(r"\((?:[a-z]{1,12}[: ] ?)?[\w.@-]{1,64}$")


def _login_in_brackets(text: str, at: int) -> Iterator[SecretSpan]:
    """Find the password in "log in by SSH (ada / password)"."""
    found = _IN_BRACKETS.match(text, at)
    if found and _NAME_OPENED.search(text, max(0, at - 80), at):
        value = found[1]
        if (has_sign(value) and is_generated(value)) or is_mixed_password(value):
            yield *found.span(1), PASSWORD


_AZURE_SECRET = re.compile(r"[\w~.-]{3}\dQ~[\w~.-]{31,34}(?![\w~-])")


def _azure(text: str, at: int) -> Iterator[SecretSpan]:
    """Find a client secret of Azure, which has ``Q~`` within."""
    if at >= 4 and (found := _AZURE_SECRET.match(text, at - 4)):
        yield *found.span(), SECRET


# The output of commands that print or make a secret.

_PRINTED = re.compile(
    r"(?:[^\n\\]|\\+[^\\n]){0,300}(?:\r?\n|(?:\\+r)?\\+n)(?:base64:)?"
    r"([!#-&(-\[\]-_a-~]{8,512})(?=[ \t]*(?:\r?\n|\\+[rn]|\\*\"|$))"
)


def _printed(text: str, at: int) -> Iterator[SecretSpan]:
    """Find the secret in the line after the command that printed it."""
    found = _PRINTED.match(text, at)
    if found and is_chosen(found[1]):
        yield *found.span(1), SECRET


_PRINTERS = """
    openssl       openssl rand
    base          base64 -
    pass          pass show
    lpass gopass  pass show
    op            op read
    versions      versions access
    secret        get-secret-value
    parameter     get-parameter
    password      -generic-password
    password      -internet-password
    secrets       run/secrets/
    vault         -field=
    urlsafe       token_urlsafe(
    hex           token_hex(
    randombytes   randombytes(
    secret        secret show
    secrets       secrets get
    secret        rails secret
    secret        gen.secret
    secret        secret-tool lookup
    wg            wg gen
    artisan       key:generate
    heroku        config:get
    pulumi        config get
    bw            bw get
    urandom       /dev/urandom
    pwgen         pwgen
    makepasswd    makepasswd
    print         print-access-token
    az            get-access-token
    password      get-login-password
    credstash     credstash get
    chamber       chamber read
    stack         stack output
"""


# The rules by the words of a text.

_FUNCTIONS: tuple[tuple[str, str, Rule], ...] = (
    ("identified", "identified ", _identified),
    ("insert", "insert into ", find_inserted),
    ("seed mnemonic wallet words phrase", "", find_seed),
    ("wiederherstellungsphrase seedphrase mnemonicphrase", "phrase", find_seed),
    ("secretrecoveryphrase recoveryphrase walletphrase", "phrase", find_seed),
    ("private", "-----begin", find_key_block),
    ("private", "-----end", find_key_end),
    ("curl cookie cookies", "", _cookie),
    ("user curlrc", "user", _user_password),
    ("u", " -u ", _user_password),
    ("kty", "", _jwk),
    ("connect login newinstance getconnection pdo mysqli signin dbi", "", _login_call),
    ("cred", "credential", _login_call),
    ("auth", "auth", _login_call),
    ("auth", " -auth", _user_password),
    ("auth", " --auth", _user_password),
    ("begin", "wifi.begin", _login_call),
    ("basic", ".basic", _login_call),
    ("password", "set_password", _login_call),
    ("fromhex unhexlify", "hex", _decoded),
    ("buffer", "buffer.from", _decoded),
    ("decode frombase", "64", _decoded),
    ("hex decodestring", "hex", _decoded),
    ("client createclient", "client(", _client_call),
    ("deepgram mailgun twilio pusher algoliasearch sendgrid", "", _client_call),
    ("wallet", "wallet(", _client_call),
    ("todoistapi tweepy", "api(", _client_call),
    ("bugsnag bot", ".start(", _client_call),
    ("bot discord", ".run(", _client_call),
    ("pinecone rollbar mixpanel", ".init(", _client_call),
    ("bind", "ldap_bind(", _login_call),
    ("bind", "bind_s(", _login_call),
    ("encrypt decrypt", "crypt", _key_call),
    ("new", "new ", _new_client),
    ("require", ")(", _client_call),
    ("select", "select ", find_selected),
    ("authenticate", " to authenticate", _used_to),
    ("tochararray", ".tochararray", _characters),
    ("@", "@", _after_address),
    ("login stdin kinit smbpasswd vercel wrangler secret", "<<<", _here_string),
    *((kind, f"_{kind}_", _prefixed) for kind in _KINDS_WITHIN),
    ("~", "q~", _azure),
    ("ssh sftp ftp rdp vpn login melde anmelden", " / ", _login_in_brackets),
    ("pw", "pw_set(", _login_call),
    ("hmac aes createhmac hash_hmac jwt fernet sign cipher totp", "", _key_call),
    ("secretkeyspec createcipheriv hmacsha hmacshakeyfor", "", _key_call),
    ("|", "-|", find_in_table),
    ("|", "- |", find_in_table),
    ("|", "-+-", find_in_table),
    ("://", "", _url),
    ("@", "", _login_before_host),
)
_SIGNS = ("cred", "auth", "pw", "|", ":", "$", "://", "@", "~")
"""Strings that are looked for within words, too."""


def _rules() -> Iterable[tuple[str, str, Rule]]:
    """Yield words, the anchor or "" for the word itself, and a rule."""
    for line in _COMMANDS.strip().splitlines():
        words, rest = re.split(" {2,}", line.strip(), maxsplit=1)
        for word in words.split():
            last = re.split(r"\W|\d", word)[-1] or word
            yield last, word, _command(word + (f" {rest}" if rest[0] == "*" else rest))
    for line in _VALUES.strip().splitlines():
        kind, check, words, pattern = re.split(" {2,}", line.strip(), maxsplit=3)
        anchor = _ANCHOR.match(pattern)
        assert anchor
        yield words, anchor[1].replace("\\", ""), _pattern(kind, check, pattern)
    for line in _PRINTERS.strip().splitlines():
        words, command = re.split(" {2,}", line.strip(), maxsplit=1)
        yield words, command, _printed
    yield from _FUNCTIONS


RULES_BY_WORD: Rules = {}
"""Anchors and rules by a word that the text contains."""

RULES_BY_SIGN: Rules = {}
"""The same by a string that may be part of a word."""

for _words, _anchor, _rule in _rules():
    for _word in _words.split():
        _rules_of = RULES_BY_SIGN if _word in _SIGNS else RULES_BY_WORD
        _place = (_anchor or _word).encode(), _rule
        _rules_of[_word.encode()] = *_rules_of.get(_word.encode(), ()), _place
