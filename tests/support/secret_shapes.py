"""Secrets that never opened anything, made by Hypothesis in the shapes of real ones.

They are put together from pieces, so that no scanner takes this file for a leak.
"""

import string

from hypothesis import strategies as st

ALNUM = string.ascii_letters + string.digits
URL_SAFE = ALNUM + "_-"
HEX = string.hexdigits[:16]


def _body(alphabet: str, low: int, high: int | None = None) -> st.SearchStrategy[str]:
    return st.text(alphabet, min_size=low, max_size=high or low)


def _after(prefix: str, alphabet: str, low: int, high: int | None = None) -> st.SearchStrategy[str]:
    return _body(alphabet, low, high).map(lambda body: prefix + body)


KEYS = st.one_of(
    _after("AK" + "IA", string.ascii_uppercase + "234567", 16),
    _after("AS" + "IA", string.ascii_uppercase + "234567", 16),
    *(_after(prefix + "_", ALNUM, 36) for prefix in ("ghp", "gho", "ghs", "ghu", "ghr")),
    _after("github" + "_pat_", ALNUM + "_", 60, 82),
    _after("gl" + "pat-", URL_SAFE, 20),
    _after("xo" + "xb-", string.digits, 12).flatmap(lambda head: _body(ALNUM, 24).map(lambda tail: f"{head}-{tail}")),
    _after("sk_" + "live_", ALNUM, 24, 40),
    _after("rk_" + "live_", ALNUM, 24, 40),
    _after("sk-" + "ant-api03-", URL_SAFE, 80, 95),
    _after("sk-" + "proj-", URL_SAFE, 40, 120),
    _body(ALNUM, 47).map(lambda body: "sk-" + body + "7"),
    _after("AI" + "za", URL_SAFE, 35),
    _after("np" + "m_", ALNUM, 36),
    _after("py" + "pi-AgEIcHlwaS5vcmc", URL_SAFE, 70, 160),
    _after("h" + "f_", ALNUM, 34),
    st.tuples(_body(URL_SAFE, 22), _body(URL_SAFE, 43)).map(lambda parts: "S" + f"G.{parts[0]}.{parts[1]}"),
    _after("S" + "K", HEX, 32),
    _after("do" + "p_v1_", HEX, 64),
    st.tuples(_body("123456789", 9), _body(URL_SAFE, 33)).map(lambda parts: f"{parts[0]}:A" + f"A{parts[1]}"),
    st.tuples(_body(ALNUM, 20, 60), _body(URL_SAFE, 20, 200), _body(URL_SAFE, 43)).map(
        lambda parts: "ey" + f"J{parts[0]}.eyJ{parts[1]}.{parts[2]}"
    ),
)

PASSWORDS = st.text(ALNUM + "!@%^*+~_-", min_size=10, max_size=40).filter(
    lambda word: (
        any(map(str.isdigit, word)) and any(map(str.isalpha, word)) and word[0] not in "-%@" and len(set(word)) > 4
    )
)
TOKENS = st.text(ALNUM, min_size=24, max_size=48).filter(
    lambda word: sum(map(str.isdigit, word)) >= 3 and sum(map(str.isalpha, word)) >= 3
)
URL_PASSWORDS = st.text(ALNUM + "!$%^*+~_-.", min_size=1, max_size=40).filter(
    lambda word: not any(mark in word for mark in ("$", "%", "..."))
)

NAMED_PASSWORDS = (
    "DB_PASSWORD={}",
    'export PGPASSWORD="{}"',
    "  password: {}",
    '"client_secret": "{}",',
    "password = '{}'",
    'const dbPassword: string = "{}";',
    "Server=db;Database=x;User Id=sa;Password={};Encrypt=true",
    "mysql --password {} db",
    "machine host.example login me password {}",
    "machine host.example\n  login me\n  password {}",
    "psql 'host=db user=me password={} dbname=x'",
    "ENV DB_PASSWORD {}",
    '<add key="Password" value="{}"/>',
    "curl -u admin:{} https://api.example.com",
    "<password>{}</password>",
    "spring.datasource.password={}",
    '{{\\"password\\": \\"{}\\"}}',
    'os.environ["DB_PASSWORD"] = "{}"',
    'config.put("password", "{}");',
)
NAMED_TOKENS = (
    "API_KEY={}",
    "Authorization: Bearer {}",
    "Authorization: Basic {}",
    'headers["Authorization"] = "Bearer {}"',
    "curl -H 'X-Api-Key: {}' https://api.example.com",
    "https://api.example.com/v1?access_token={}&page=2",
    "//packages.example.org/:_authToken={}",
    'api_key: "{}"',
    "apiKey = '{}'",
    '"auth": "{}"',
    "DefaultEndpointsProtocol=https;AccountName=x;AccountKey={};",
    "tool --token={}",
    "The API key is {}",
    "api key: {}",
    "https://store.example.net/c?sv=1&sig={}&se=2",
    "aws_secret_access_key = {}",
)
URLS = (
    "postgres://app:{}@db.example.com/main",
    "mongodb+srv://app:{}@cluster.example.net/x",
    "redis://:{}@localhost:6379/0",
    "git clone https://me:{}@git.example.com/a.git",
    'proxy = "http://user:{}@10.0.0.1:8080"',
)
