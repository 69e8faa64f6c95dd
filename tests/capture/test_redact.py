"""Secrets do not survive; everything else does, line for line."""

import re
import re._constants as opcodes
import re._parser as parser
import string
from collections.abc import Iterator

import pytest
import secret_shapes as made_up
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memhub_mcp.capture import assignments, key_blocks, key_formats, logins, redact, secret_values

anything = st.text(st.characters(codec="utf-8"), max_size=300)
telling_pieces = [
    *("password", "token", "api_key", "secret", "Authorization", "Bearer", "://", "=", ":", '"', "'", "\\", "\n", " "),
    *("@", ">", "</", "[redacted:assigned]", "[", "]", "-----BEGIN RSA PRIVATE KEY-----", "-----END ", "a1B2c3D4e5"),
    *(";", "&", "--", "\r\n", "\u2028", "\u0130", "sk-", "eyJ", ".", "ghp_" + "a1" * 18, "login ", "export "),
]
telling = st.lists(st.sampled_from(telling_pieces), max_size=24).map("".join)


@given(st.one_of(anything, telling))
@settings(max_examples=400)
@example("password=abc\u2028def1")
@example("\u0130 password=a1b2c3d4")
@example("-----BEGIN PRIVATE KEY-----0000000000000000\u2028-----END ")
def test_the_number_of_lines_stays(text: str) -> None:
    redacted = redact.redact(text)
    assert redacted.count("\n") == text.count("\n")
    assert len(redacted.splitlines()) == len(text.splitlines())


@given(st.one_of(anything, telling))
@settings(max_examples=400)
def test_what_was_redacted_once_is_left_alone(text: str) -> None:
    once = redact.redact(text)
    assert redact.redact(once) == once


@given(
    made_up.KEYS, st.sampled_from(['key = "{}"', "+{}", "see {} there", "x={};", "({})", "\\n{}\\n", "https://h/?k={}"])
)
def test_no_key_survives(key: str, place: str) -> None:
    secret = key.rpartition(":")[2]
    assert secret[4:] not in redact.redact(place.format(key))


@given(made_up.PASSWORDS, st.sampled_from(made_up.NAMED_PASSWORDS), st.sampled_from(["", "+", "-", "    "]))
def test_no_named_password_survives(password: str, writing: str, indent: str) -> None:
    assert password not in redact.redact(f"one\n{indent}{writing.format(password)}\ntwo")


@given(made_up.TOKENS, st.sampled_from(made_up.NAMED_TOKENS), st.sampled_from(["", "+", "-", "    "]))
def test_no_named_token_survives(token: str, writing: str, indent: str) -> None:
    assert token not in redact.redact(f"one\n{indent}{writing.format(token)}\ntwo")


@given(made_up.URL_PASSWORDS, st.sampled_from(made_up.URLS))
def test_no_password_survives_in_a_url(password: str, url: str) -> None:
    redacted = redact.redact(url.format(password))
    assert f":{password}@" not in redacted
    assert redacted == url.format("[redacted:url]")


@given(
    st.lists(st.text(string.ascii_letters + string.digits + "+/", min_size=64, max_size=64), min_size=1, max_size=40),
    st.sampled_from(["RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", ""]),
    st.sampled_from(["", "+", "-", "    ", "# ", '    "']),
    st.booleans(),
)
def test_no_line_of_a_private_key_survives(body: list[str], kind: str, prefix: str, closed: bool) -> None:
    last = "Zm9vYmFy=="
    end = [f"-----END {kind}PRIVATE KEY-----"] if closed else []
    lines = [f"-----BEGIN {kind}PRIVATE KEY-----", *body, last, *end]
    text = "before\n" + "\n".join(prefix + line for line in lines) + "\nafter it: code = run(1)\n"
    redacted = redact.redact(text)
    assert not any(line in redacted for line in [*body, last])
    assert redacted.startswith("before\n") and redacted.endswith("\nafter it: code = run(1)\n")
    assert redacted.count("\n") == text.count("\n")


def test_a_private_key_in_one_string_is_taken_out() -> None:
    body = "\\n".join(["MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcw", "Zm9v=="])
    text = f'"private_key": "-----BEGIN PRIVATE KEY-----\\n{body}\\n-----END PRIVATE KEY-----\\n",'
    assert "Zm9v" not in redact.redact(text)
    assert "MIIE" not in redact.redact(text)


def test_code_about_keys_is_not_a_key() -> None:
    text = 'if "-----BEGIN PRIVATE KEY-----" in text:\n    raise ValueError("a key")\nreturn text.strip()\n'
    assert redact.redact(text) == text


ORDINARY = """\
password = get_password()
password = self.password
password: str
token: str
token: Optional[str] = None
max_tokens = 512
AUTH_TOKEN_HEADER = "X-Auth"
if token == "NUMBER":
foo(password=password, token=tok.value)
const token = await getToken();
secret: process.env.SECRET,
TOKEN=$TOKEN
TOKEN=${TOKEN:-none}
PASSWORD = os.environ["PASSWORD"]
password: "Enter your password"
"token": "access_token"
"password": "required"
type="password"
xsrfCookieName: 'XSRF-TOKEN',
withCredentials: defaultToConfig2,
withCredentials = 'same-origin',
"parse-passwd": "^1.0.0",
api_key = None
password_hash = compute(1)
secrets: inherit
AWS_REGION=us-east-1
token_count=1234
def authenticate(username, password, token=None):
return render("login", password="")
headers.Authorization = 'Basic ' + btoa(x)
Authorization: Bearer ${token}
authentication, authorization, and identity management
Authorization: OAuth realm="Example",
http://localhost:3000/a@b
proxy = "http://%s:%s@host" % pair
commit 3f2504e04f8911d39a0c0305e82c3301aabbccdd
index 3f2504e..04f8911 100644
550e8400-e29b-41d4-a716-446655440000
sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
"integrity": "sha512-dQw4w9WgXcQ1234567890abcdefghijklmnopqrstuvwxyz+/ABCDEFGHIJKLMNOP==",
git@github.com:psf/requests.git
from secrets import token_hex, token_urlsafe
class sk-folding-cube sk-three-bounce-animation
lexer.token("string.quoted.double")
npm_config_registry npm_package_version
--token TOKEN --password <password>
the token is refreshed when the password changes
the password is required and was reset
the login and password correctly entered
docker run -u 1000:1000 image https://example.com
chown -u www-data:www-data file
--token-file x --password-stdin
"""


@pytest.mark.parametrize("line", ORDINARY.splitlines())
def test_ordinary_code_and_prose_are_left_alone(line: str) -> None:
    assert redact.redact(line) == line
    assert redact.redact(f"+{line}\n") == f"+{line}\n"


identifiers = st.from_regex(r"[a-z]{2,12}(_[a-z]{2,12}){0,3}", fullmatch=True)


@given(identifiers, identifiers, st.sampled_from(["{} = {}()", "{}.{}", "{}({})", "def {}({}):", "{}: {}", '{}("{}")']))
def test_ordinary_identifiers_are_left_alone(one: str, other: str, writing: str) -> None:
    text = writing.format(one, other)
    assert redact.redact(text) == text


@given(st.text("0123456789abcdef", min_size=40, max_size=40), st.uuids())
def test_commit_ids_and_uuids_are_left_alone(sha: str, uuid: object) -> None:
    text = f"commit {sha}\n{uuid}\nsha1:{sha}\nid: {uuid}\n{sha[:7]}..{sha[8:15]}"
    assert redact.redact(text) == text


def test_each_rule_has_one_constant_marker() -> None:
    text = redact.redact("ghp_" + "a1" * 18 + " ghp_" + "b2" * 18)
    assert text == "[redacted:github] [redacted:github]"


def _patterns() -> Iterator[str]:
    for module in (assignments, key_blocks, key_formats, logins, secret_values):
        for value in vars(module).values():
            if isinstance(value, re.Pattern):
                yield value.pattern
    yield from (pattern for _, _, pattern in key_formats.KEY_FORMATS)
    yield from (ending + assignments._TAIL for ending in assignments._NAME_ENDS.values())


def _repeats(parsed: object) -> Iterator[int]:
    """The upper bounds of all repetitions in a parsed pattern."""
    for operation, argument in parsed:  # pyright: ignore[reportGeneralTypeIssues]
        if operation in (opcodes.MAX_REPEAT, opcodes.MIN_REPEAT, opcodes.POSSESSIVE_REPEAT):
            yield argument[1]
        arguments = argument if isinstance(argument, (tuple, list)) else (argument,)
        for part in arguments:
            if isinstance(part, parser.SubPattern):
                yield from _repeats(part)
            elif isinstance(part, list):
                for branch in part:
                    if isinstance(branch, parser.SubPattern):
                        yield from _repeats(branch)


@pytest.mark.parametrize("pattern", sorted(set(_patterns())))
def test_every_repetition_is_bounded(pattern: str) -> None:
    assert all(bound <= 65_536 for bound in _repeats(parser.parse(pattern)))


@pytest.mark.parametrize("marker", sorted({f"[redacted:{name}]" for name, _, _ in key_formats.KEY_FORMATS}))
def test_a_marker_is_no_secret_itself(marker: str) -> None:
    text = f'{marker} password = "{marker}" token={marker}\nAuthorization: Bearer {marker}\nhttp://u:{marker}@host'
    assert redact.redact(text) == text
