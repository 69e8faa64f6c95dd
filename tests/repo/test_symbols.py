"""The definitions of a file, as people name them, in every language we speak; and what hostile files cost."""

import random

import pytest

from memhub_mcp.repo.symbols import enclosing, find_symbols, read_symbols

PYTHON = """\
import os


@decorated
class Adapter(Base):
    limit = 3

    @property
    def send(self):
        def retry():
            return 1

        return retry()


async def main():
    pass
"""

TYPESCRIPT = """\
export interface Options { retries: number }

export class Client<T> {
  async send(request: Request): Promise<T> {
    return fetch(request)
  }
  private retry = (times: number) => {
    return times
  }
}

export const handler = async (event: Event) => {
  const inner = () => 1
  return inner()
}

const memoised = memo(() => {
  return 2
})

type Name = string

function over(a: string): void
function over(a: number): void
function over(a: any) {
  return a
}
"""

JAVASCRIPT = """\
Axios.prototype.request = function request(config) {
  return config;
};

const utils = {
  isArray(value) {
    return true;
  },
  forEach: function (list) {
    return list;
  },
};

describe('adapter', function () {
  it('follows redirects', async () => {
    expect(1).toBe(1);
  });
});
"""

GO = """\
package main

type Srv struct {
\tname string
}

func (s *Srv) Run(ctx context.Context) error {
\treturn nil
}

func (s Stack[T]) Push(value T) {
}

func main() {
}
"""

RUST = """\
pub struct Foo<T> {
    bar: T,
}

impl<T: Clone> Foo<T> {
    #[inline]
    pub fn bar(&self) -> T {
        self.bar.clone()
    }
}

mod inner {
    pub(crate) async fn helper() {}
}

#[test]
fn works() {
    assert!(true);
}
"""

KOTLIN = """\
class Client(val name: String) {
    companion object {
        fun create(): Client = Client("a")
    }

    fun send(request: String): Int {
        return 1
    }
}

fun String.shout() = uppercase()

object Registry {
    fun find() {}
}
"""

C = """\
#define MAX(a, b) ((a) > (b) ? (a) : (b))

struct point {
    int x;
};

static const char *name_of(struct point *p)
{
    return "p";
}
"""

CPP = """\
namespace fmt {
template <typename T>
class Buffer {
 public:
  explicit Buffer(T* data) : data_(data) {}
  ~Buffer() {}
  bool operator==(const Buffer& other) const { return true; }
};

void Buffer<int>::grow(size_t size) {
  size++;
}
}  // namespace fmt

int main() { return 0; }
"""

CSHARP = """\
namespace App
{
    public class Client
    {
        public Client(string name) { }
        public int Limit { get; set; }
        public async Task<int> SendAsync(string a) { return 1; }
        public async Task<int> SendAsync(int a) { return 2; }
    }
}
"""

RUBY = """\
module Net
  class Client
    def send(request)
      request
    end

    def self.create
      new
    end
  end
end

describe "client" do
  it "sends" do
    expect(1)
  end
end
"""

PHP = """\
<?php
class Client {
    public function send($request) {
        return $request;
    }
}

function helper() {
    return 1;
}
"""

SWIFT = """\
struct Client {
    init(name: String) {
    }

    func send(_ request: String) -> Int {
        return 1
    }
}

extension Client {
    func retry() {
    }
}

func main() {
}
"""

JAVA = """\
class Gson {
  Gson() {
  }

  <T> T fromJson(String json, Class<T> type) {
    return null;
  }

  <T> T fromJson(Reader json) {
    return null;
  }

  interface Inner {
    void run();
  }
}
"""

CASES = [
    ("a.py", PYTHON, "Adapter", (4, 13), "class Adapter"),
    ("a.py", PYTHON, "Adapter.send", (8, 13), "send"),
    ("a.py", PYTHON, "Adapter.send.retry", (10, 11), "retry"),
    ("a.py", PYTHON, "main", (16, 17), "async def main()"),
    ("a.ts", TYPESCRIPT, "Client.send", (4, 6), "Client.send(request: Request)"),
    ("a.ts", TYPESCRIPT, "Client.retry", (7, 9), "Client#retry"),
    ("a.ts", TYPESCRIPT, "handler", (12, 15), "const handler = () =>"),
    ("a.ts", TYPESCRIPT, "memoised", (17, 19), "memoised"),
    ("a.tsx", TYPESCRIPT, "handler.inner", (13, 13), "inner"),
    ("a.ts", TYPESCRIPT, "Options", (1, 1), "interface Options"),
    ("a.js", JAVASCRIPT, "Axios.prototype.request", (1, 3), "Axios.prototype.request"),
    ("a.js", JAVASCRIPT, "utils.forEach", (9, 11), "forEach"),
    ("a.js", JAVASCRIPT, "utils.isArray", (6, 8), "isArray()"),
    ("a.js", JAVASCRIPT, "adapter.follows redirects", (15, 17), "follows redirects"),
    ("a.go", GO, "Srv.Run", (7, 9), "func (s *Srv) Run"),
    ("a.go", GO, "Stack.Push", (11, 12), "func (s Stack[T]) Push"),
    ("a.go", GO, "Srv", (3, 5), "type Srv"),
    ("a.rs", RUST, "Foo::bar", (7, 9), "impl Foo::bar"),
    ("a.rs", RUST, "inner::helper", (13, 13), "pub async fn helper"),
    ("a.rs", RUST, "works", (17, 19), "fn works()"),
    ("a.kt", KOTLIN, "Client.send", (6, 8), "fun send"),
    ("a.kt", KOTLIN, "Client.Companion.create", (3, 3), "create"),
    ("a.kt", KOTLIN, "shout", (11, 11), "shout"),
    ("a.c", C, "name_of", (7, 10), "name_of"),
    ("a.c", C, "point", (3, 5), "struct point"),
    ("a.c", C, "MAX", (1, 1), "MAX"),
    ("a.cpp", CPP, "fmt::Buffer::Buffer", (5, 5), "Buffer::Buffer"),
    ("a.cpp", CPP, "fmt::Buffer::grow", (10, 12), "Buffer<int>::grow"),
    ("a.h", CPP, "fmt::Buffer", (3, 8), "class Buffer"),
    ("a.cpp", CPP, "main", (15, 15), "main"),
    ("a.cs", CSHARP, "App.Client.Limit", (6, 6), "Client.Limit"),
    ("a.rb", RUBY, "Net.Client.send", (3, 5), "Client#send"),
    ("a.rb", RUBY, "Net.Client.create", (7, 9), "create"),
    ("a.rb", RUBY, "client.sends", (14, 16), "sends"),
    ("a.php", PHP, "Client::send", (3, 5), "Client->send"),
    ("a.php", PHP, "helper", (8, 10), "function helper"),
    ("a.swift", SWIFT, "Client.send", (5, 7), "func send"),
    ("a.swift", SWIFT, "Client.retry", (11, 12), "retry"),
    ("a.java", JAVA, "Gson.Inner.run", (14, 14), "Inner.run"),
]


@pytest.mark.parametrize(("path", "text", "name", "lines", "asked"), CASES, ids=[f"{c[0]} {c[2]}" for c in CASES])
def test_a_definition_is_found_as_people_write_it(
    path: str, text: str, name: str, lines: tuple[int, int], asked: str
) -> None:
    symbols = read_symbols(path, text.encode()).symbols
    found = [symbol for symbol in find_symbols(symbols, asked) if symbol.name == name]
    assert [(symbol.start + 1, symbol.end) for symbol in found] == [lines], [symbol.name for symbol in symbols]
    assert [symbol.name for symbol in find_symbols(symbols, name)] == [name]


@pytest.mark.parametrize(
    ("path", "text", "name", "details"),
    [
        ("a.java", JAVA, "Gson.fromJson", ["(String json, Class<T> type)", "(Reader json)"]),
        ("a.cs", CSHARP, "Client.SendAsync", ["(string a)", "(int a)"]),
    ],
)
def test_overloads_are_several(path: str, text: str, name: str, details: list[str]) -> None:
    assert [symbol.detail for symbol in find_symbols(read_symbols(path, text.encode()).symbols, name)] == details


DESCRIBED = {
    "a.java": ('class A {\n    @Deprecated\n    @Route("/x")\n    public void send() {\n    }\n}\n', (2, 4, 5)),
    "a.rs": ("#[inline]\n#[cfg(unix)]\npub fn send() {\n}\n", (1, 3, 4)),
    "a.cpp": ("template <typename T>\nauto send(T given) -> T {\n    return given;\n}\n", (1, 2, 4)),
    "a.ts": ("class A {\n    @Get()\n    send() {\n    }\n}\n", (2, 3, 4)),
    "a.cs": ("class A {\n    [Route]\n    void send() {\n    }\n}\n", (2, 3, 4)),
    "a.kt": ("@Inject\nfun send() {\n}\n", (1, 2, 3)),
    "a.php": ("<?php\n#[Route]\nfunction send() {\n}\n", (2, 3, 4)),
    "a.swift": ("@inlinable\nfunc send() {\n}\n", (1, 2, 3)),
    "a.py": ("@cached\ndef send():\n    pass\n", (1, 1, 3)),
    "a.js": ("export const send =\n    () => {\n    }\n", (1, 1, 3)),
}


@pytest.mark.parametrize("path", DESCRIBED)
def test_a_definition_starts_with_its_signature_and_is_found_by_what_describes_it(path: str) -> None:
    text, (lead, first, last) = DESCRIBED[path]
    symbols = read_symbols(path, text.encode()).symbols
    (found,) = find_symbols(symbols, "send")
    assert (found.lead + 1, found.start + 1, found.end) == (lead, first, last)
    assert enclosing(symbols, lead - 1) == found


def test_the_innermost_definition_holds_a_line() -> None:
    symbols = read_symbols("a.py", PYTHON.encode()).symbols
    assert [getattr(enclosing(symbols, line), "name", None) for line in (0, 5, 10, 12)] == [
        None,
        "Adapter",
        "Adapter.send.retry",
        "Adapter.send",
    ]


def test_a_file_in_pieces_keeps_the_symbols_that_parse() -> None:
    broken = PYTHON.replace("async def main", "<<<<<<< HEAD\ndef (((\n=======\n>>>>>>> other\nasync def main")
    names = {symbol.name for symbol in read_symbols("a.py", broken.encode()).symbols}
    assert {"Adapter", "Adapter.send"} <= names


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("a.js", b"(" * 200_000),
        ("a.js", b"(\n" * 9_000),
        ("a.py", b"(((((((((((((((\n" * 12_000),
        ("a.js", b"function a(){return 1}" * 100_000),
        ("a.ts", random.Random(0).randbytes(500_000)),
        ("a.ts", bytes(32 + byte % 90 for byte in random.Random(0).randbytes(18_000)).replace(b"~", b"\n")),
        ("a.ts", b"x" * 1_000_000),
        ("a.js", b"`${\n" * 19_000),
        ("a.go", b"func a() {\n" * 15_000),
        ("a.bin", b"text"),
        ("Makefile", b"all:\n"),
        ("a.py", b""),
    ],
)
def test_a_hostile_file_is_answered(path: str, data: bytes) -> None:
    found = read_symbols(path, data)
    assert found.symbols == () or found.why is None
    assert found.why != ""
