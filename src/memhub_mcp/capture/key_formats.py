"""Keys that are recognised by their own shape, wherever they stand.

Each entry: the marker's name, the literals of which one must be present, the pattern. Every pattern starts with a
literal or a small set, so that the search can skip, and every quantifier is bounded.
Standard library only: the hook path imports this.
"""

SHORTEST_KEY = 20
"""No format is shorter, and none has white space in it."""

KeyFormat = tuple[str, tuple[str, ...], str]


# A short prefix counts only where a word begins; the letter of an escape such as \\n is not part of the word.
def _at_start(prefix: str, word: str = "A-Za-z0-9") -> str:
    return rf"{prefix}(?:(?<![{word}]{prefix})|(?<=\\[nrt]{prefix}))"


_NO_WORD_AFTER = r"(?![A-Za-z0-9_])"

KEY_FORMATS: tuple[KeyFormat, ...] = (
    ("aws", ("AKIA", "ASIA"), r"A[KS]IA[A-Z0-9]{16}(?![A-Z0-9])"),
    ("github", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"gh[opusr]_[A-Za-z0-9]{30,1024}"),
    ("github", ("github_pat_",), r"github_pat_[A-Za-z0-9_]{22,1024}"),
    ("gitlab", ("glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glsoat-"),
     r"gl(?:pat|dt|rt|ptt|cbt|soat)-[A-Za-z0-9_\-.]{20,512}"),
    ("slack", ("xox",), r"xox[abceoprs](?:\.xox[a-z])?-[A-Za-z0-9\-]{10,512}"),
    ("slack", ("xapp-",), r"xapp-\d-[A-Za-z0-9\-]{10,512}"),
    ("slack", ("hooks.slack.com/",), r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9_/+\-]{20,255}"),
    ("stripe", ("k_live_", "k_test_"), r"[sr]k_(?:live|test)_[A-Za-z0-9]{10,512}"),
    ("stripe", ("whsec_",), r"whsec_[A-Za-z0-9+/]{24,512}"),
    ("anthropic", ("sk-ant-",), r"sk-ant-[A-Za-z0-9_\-]{16,1024}"),
    ("openai", ("sk-",), r"sk-(?:proj|svcacct|admin|or-v1|None)-[A-Za-z0-9_\-]{16,1024}"),
    ("openai", ("sk-",), _at_start("sk-", r"A-Za-z0-9_\-") + r"(?=[A-Za-z]{0,128}[0-9])[A-Za-z0-9]{20,512}"),
    ("google", ("AIza",), r"AIza[A-Za-z0-9_\-]{35}"),
    ("google", ("GOCSPX-",), r"GOCSPX-[A-Za-z0-9_\-]{20,128}"),
    ("google", ("ya29.",), r"ya29\.[A-Za-z0-9_\-.]{20,2048}"),
    ("npm", ("npm_",), r"npm_[A-Za-z0-9]{36,255}"),
    ("pypi", ("pypi-",), r"pypi-[A-Za-z0-9_\-]{50,2048}"),
    ("huggingface", ("hf_",), _at_start("hf_") + r"[A-Za-z0-9]{30,255}"),
    ("sendgrid", ("SG.",), r"SG\.[A-Za-z0-9_\-]{16,64}\.[A-Za-z0-9_\-]{16,128}"),
    ("twilio", ("SK",), _at_start("SK") + r"[0-9a-f]{32}" + _NO_WORD_AFTER),
    ("digitalocean", ("_v1_",), r"do[opr]_v1_[a-f0-9]{64}"),
    ("docker", ("dckr_",), r"dckr_[po]at_[A-Za-z0-9_\-]{20,255}"),
    ("telegram", (":AA",), r":AA(?<=\d{8}:AA)[A-Za-z0-9_\-]{32,36}(?![A-Za-z0-9_\-])"),
    ("jwt", ("eyJ",),
     _at_start("eyJ", r"A-Za-z0-9_\-")
     + r"[A-Za-z0-9_\-]{10,8192}\.[A-Za-z0-9_\-]{10,65536}(?:\.[A-Za-z0-9_\-]{4,65536}){1,3}"),
    ("shopify", ("shp",), r"shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}"),
    ("square", ("sq0",), r"sq0(?:atp|csp)-[A-Za-z0-9_\-]{22,64}"),
    ("databricks", ("dapi",), r"dapi[a-f0-9]{32}(?:-\d)?" + _NO_WORD_AFTER),
    ("atlassian", ("TT3",), r"AT[AC]TT3[A-Za-z0-9_\-=.]{20,512}"),
    ("vault", ("hvs.",), r"hvs\.[A-Za-z0-9_\-]{20,512}"),
    ("grafana", ("glsa_", "glc_"), r"gl(?:sa|c)_[A-Za-z0-9_+/=]{32,512}"),
    ("doppler", ("dp.",), r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.]{40,128}"),
    ("rubygems", ("rubygems_",), r"rubygems_[a-f0-9]{48}"),
    ("postman", ("PMAK-",), r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    ("newrelic", ("NRAK-",), r"NRAK-[A-Z0-9]{27}"),
    ("planetscale", ("pscale_",), r"pscale_(?:pw|tkn|oauth)_[A-Za-z0-9_\-.]{32,64}"),
    ("linear", ("lin_api_",), r"lin_api_[A-Za-z0-9]{32,64}"),
    ("notion", ("ntn_",), r"ntn_[A-Za-z0-9]{40,64}"),
    ("groq", ("gsk_",), r"gsk_[A-Za-z0-9]{40,64}"),
    ("xai", ("xai-",), r"xai-[A-Za-z0-9]{60,128}"),
    ("replicate", ("r8_",), _at_start("r8_") + r"[A-Za-z0-9]{37,64}"),
    ("perplexity", ("pplx-",), r"pplx-[A-Za-z0-9]{40,64}"),
    ("supabase", ("sbp_",), r"sbp_[a-f0-9]{40}"),
    ("figma", ("figd_",), r"figd_[A-Za-z0-9_\-]{36,64}"),
    ("sentry", ("sntry",), r"sntry[su]_[A-Za-z0-9_+/=]{40,512}"),
    ("age", ("AGE-",), r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
    ("discord", ("/api/webhooks/",), r"/api/webhooks/\d{17,20}/[A-Za-z0-9_\-]{60,80}"),
)  # fmt: skip

LITERALS: dict[str, list[tuple[str, str]]] = {}
"""Each literal with the names and patterns it opens, so that it is looked for once."""
for _name, _literals, _pattern in KEY_FORMATS:
    for _literal in _literals:
        LITERALS.setdefault(_literal, []).append((_name, _pattern))
