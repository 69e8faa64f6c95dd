"""The words of a command line, read without argparse: what must start fast uses only this."""

COMMON = ("--home", "--workspace")


def leading_options(words: list[str]) -> tuple[dict[str, str], list[str]]:
    """`--home` and `--workspace` at the front, by their names, and all that follows them."""
    found: dict[str, str] = {}
    end = 0
    while end < len(words):
        name, equals, value = words[end].partition("=")
        if name not in COMMON or not (equals or end + 1 < len(words)):
            break
        found[name] = value if equals else words[end + 1]
        end += 1 if equals else 2
    return found, words[end:]
