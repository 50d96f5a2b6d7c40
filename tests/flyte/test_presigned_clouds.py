"""Upload URLs of GCS and Azure: signed offline with credentials that are made here, and checked as the clouds do it."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import subprocess
from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import fsspec  # type: ignore[import-untyped]  # it has none
import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from flyteplugins.slurm_rest.presigned import CannotSign, signed_url, with_upload_urls

from .test_presigned import WEEK, plan

AZURE_KEY = base64.b64encode(b"a key of nobody")


@pytest.fixture(autouse=True)
def _no_cloud(monkeypatch: pytest.MonkeyPatch) -> None:
    """No credentials but those of a test, and no store that was opened with others."""
    for name in [name for name in os.environ if name.startswith(("GOOGLE_", "AZURE_"))]:
        monkeypatch.delenv(name)
    for scheme in ("gs", "abfs"):
        fsspec.get_filesystem_class(scheme).clear_instance_cache()


async def uploads(prefix: str) -> tuple[str, str]:
    """Return the URL and the command that a job is given for an output below a prefix."""
    env = (await with_upload_urls(plan(prefix=prefix), WEEK)).spec.env or {}
    return env["FLYTE_OUTPUT_MODEL_URL"], env["FLYTE_OUTPUT_MODEL_UPLOAD"]


def words_of(command: str, tmp_path: Path) -> str:
    """Return the words with which a command calls curl."""
    tool = tmp_path / "curl"
    tool.write_text("#!/bin/sh\nprintf '%s\\n' \"$@\"\n")
    tool.chmod(0o755)
    env = {"PATH": f"{tmp_path}:/usr/bin:/bin", "FLYTE_OUTPUT_MODEL": "/m", "FLYTE_OUTPUT_MODEL_URL": "secret"}
    return subprocess.run(["sh", "-c", command], env=env, capture_output=True, text=True, check=True).stdout


async def test_gcs_with_the_key_of_a_service_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()
    account = {
        "type": "service_account",
        "private_key_id": "1",
        "private_key": pem,
        "client_email": "flyte@example.iam.gserviceaccount.com",
        "token_uri": "http://127.0.0.1:9/token",
    }
    (tmp_path / "account.json").write_text(json.dumps(account))
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "account.json"))
    url, command = await uploads("gs://bucket/a b/é")
    parts = urlsplit(url)
    asked, _, signature = parts.query.partition("&X-Goog-Signature=")
    query = {name: values[0] for name, values in parse_qs(asked).items()}
    assert (parts.scheme, parts.netloc) == ("https", "storage.googleapis.com")
    assert unquote(parts.path) == "/bucket/a b/é/model"
    assert (query["X-Goog-Expires"], query["X-Goog-SignedHeaders"]) == (str(int(WEEK.total_seconds())), "host")
    request = f"PUT\n{parts.path}\n{asked}\nhost:{parts.netloc}\n\nhost\nUNSIGNED-PAYLOAD"
    scope = query["X-Goog-Credential"].partition("/")[2]
    digest = hashlib.sha256(request.encode()).hexdigest()
    signed = f"GOOG4-RSA-SHA256\n{query['X-Goog-Date']}\n{scope}\n{digest}"
    key.public_key().verify(bytes.fromhex(signature), signed.encode(), padding.PKCS1v15(), hashes.SHA256())
    assert "x-ms-" not in words_of(command, tmp_path)


async def test_azure_with_the_key_of_an_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", "account")
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_KEY", AZURE_KEY.decode())
    for prefix in ("abfs://container/a-b", "abfss://container@account.dfs.core.windows.net/a-b"):
        url, command = await uploads(prefix)
        parts = urlsplit(url)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        assert (parts.netloc, parts.path) == ("account.blob.core.windows.net", "/container/a-b/model")
        assert (query["sp"], query["sr"]) == ("w", "b")
        begin, end = (datetime.fromisoformat(query[name].replace("Z", "+00:00")) for name in ("st", "se"))
        assert end - begin == WEEK
        fields = ["w", query["st"], query["se"], "/blob/account/container/a-b/model", "", "", "", query["sv"], "b"]
        signed = "\n".join([*fields, *[""] * 7])
        mac = hmac.new(base64.b64decode(AZURE_KEY), signed.encode(), hashlib.sha256).digest()
        assert base64.b64decode(query["sig"]) == mac
        assert "x-ms-blob-type: BlockBlob" in words_of(command, tmp_path).splitlines()


@pytest.mark.parametrize(
    ("uri", "variables", "remedy"),
    [
        ("gs://b/m", {"GOOGLE_APPLICATION_CREDENTIALS": "/nowhere.json"}, "GOOGLE_APPLICATION_CREDENTIALS"),
        ("abfs://c/m", {"AZURE_STORAGE_ACCOUNT_NAME": "a"}, "AZURE_STORAGE_ACCOUNT_KEY"),
        (
            "abfs://c/m",
            {"AZURE_STORAGE_ACCOUNT_NAME": "a", "AZURE_STORAGE_SAS_TOKEN": "sv=1&sig=hidden"},
            "a SAS token signs nothing",
        ),
        ("memory://b/m", {}, "no upload URLs for memory:// storage"),
    ],
)
async def test_credentials_that_sign_nothing_are_refused_with_the_remedy(
    uri: str, variables: dict[str, str], remedy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(CannotSign, match=remedy) as caught:
        await signed_url(uri, "PUT", timedelta(hours=1))
    assert "output_upload='connector' or 'job'" in str(caught.value)
    assert "hidden" not in str(caught.value)


async def test_azure_gets_no_url_that_it_would_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", "account")
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_KEY", AZURE_KEY.decode())
    with pytest.raises(CannotSign, match=r"its name has other characters\. Use letters"):
        await signed_url("abfs://container/a b/m", "PUT", WEEK)
