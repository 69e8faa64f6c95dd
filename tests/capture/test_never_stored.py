"""Files that hold secrets are known by their names."""

import pytest

from memhub_mcp.capture.never_stored import is_never_stored


@pytest.mark.parametrize(
    "path",
    [
        *(".env", "app/.env", ".env.local", ".ENV.Production", ".env-prod", ".envrc", "prod.env", "C:\\app\\.Env"),
        *("key.pem", "SERVER.PEM", "tls/server.key", "cert.p12", ".npmrc", "home/.netrc", "_netrc", ".pypirc"),
        *("id_rsa", "id_ed25519", "keys/id_ecdsa_sk", "ID_RSA", "id_rsa.pub", "id_work", "id_rsa.bak"),
        *("credentials", ".aws/credentials", "credentials.json", "Credentials.yaml", "credentials-prod.xml"),
        *("terraform.tfstate", "env/prod.tfstate.backup", "a\\b\\terraform.TFSTATE", "x/.env/"),
    ],
)
def test_its_content_is_never_stored(path: str) -> None:
    assert is_never_stored(path)


@pytest.mark.parametrize(
    "path",
    [
        *("env.py", "environment.yml", "src/env/main.go", ".environ/x.py", "pem.py", "keys.py", "key", "monkey.txt"),
        *("id.py", "ids.txt", "valid_rsa.txt", "src/id_map.go", "id_generator.py", "credentials_provider.py"),
        *("lib/credentials.ts", "docs/credentials.md", "npmrc", "tfstate.tf", "main.tf", "", "/"),
    ],
)
def test_its_content_is_ordinary(path: str) -> None:
    assert not is_never_stored(path)
