"""Upload URLs for a script's outputs: signed by the connector, so that a node needs curl and no credentials.

A URL is a secret while it is good. It is in the job's environment and nowhere else: the command that uploads takes it
from there and hands it to curl on its standard input, since other users of a node see the words of a command.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, cast
from urllib.parse import urlsplit

import flyte.storage as storage
import obstore

from slurm_rest import JobSpec
from slurm_rest.errors import ConfigError
from slurm_rest.within import within

from .objects import located
from .plan import JobPlan, OutputPlace
from .values import output_variable, upload_command_variable, upload_url_variable

__all__ = ["CannotSign", "signed_url", "with_upload_urls"]

# Between the signing and Slurm's own look at its clock.
_MARGIN = timedelta(minutes=5)
# A store without credentials looks for them at the cloud's own addresses; the call has a deadline of 10 seconds.
_PATIENCE = 4.0
_OTHERWISE = "Use a run with s3://, gs:// or abfs:// storage, or output_upload='connector' or 'job'."
_AZURE = (
    "AZURE_STORAGE_ACCOUNT_NAME with AZURE_STORAGE_ACCOUNT_KEY, or a principal (AZURE_TENANT_ID, AZURE_CLIENT_ID,"
    " AZURE_CLIENT_SECRET) with the role Storage Blob Delegator; a SAS token signs nothing"
)
_SIGNING = {
    "s3": "an S3 key or a role",
    "gs": "a service account's key file in GOOGLE_APPLICATION_CREDENTIALS, or an account that may sign for itself"
    " (iam.serviceAccounts.signBlob)",
    "abfs": _AZURE,
    "abfss": _AZURE,
}


class CannotSign(ConfigError):
    """The object store gives out no URLs, or this process may not have them signed."""


async def with_upload_urls(plan: JobPlan, lifetime: timedelta) -> JobPlan:
    """Return the plan with a URL and a command for each output that its script uploads; most plans have none.

    A job that could still run when its URLs have expired is given a deadline, by which Slurm ends it (state DEADLINE),
    unless it has one already. Raises ValueError for a time limit that no URL outlives, and ConfigError (CannotSign).
    """
    places = {name: place for name, place in plan.outputs.items() if place.upload == "presigned"}
    if not places:
        return plan
    options = _deadline(plan.spec, lifetime)
    env: dict[str, str] = dict(plan.spec.env or {})
    for name, place in places.items():
        env[upload_url_variable(name)] = await signed_url(place.uri, "PUT", lifetime)
        env[upload_command_variable(name)] = _command(name, place)
    return replace(plan, spec=plan.spec.replace(env=env, **options))


def _deadline(spec: JobSpec, lifetime: timedelta) -> Mapping[str, object]:
    given = spec.options()
    limit = given.get("time")
    if not isinstance(limit, timedelta) or "deadline" in given:
        # Slurm takes no deadline for a job without a time limit, where its partition sets none.
        return {}
    if limit > lifetime - _MARGIN:
        raise ValueError(
            f"The time limit of {limit} is longer than an upload URL is good ({lifetime}): lower time_limit, or use"
            " output_upload='connector' or 'job'"
        )
    return {"deadline": f"now+{int((lifetime - _MARGIN).total_seconds())}"}


def _command(name: str, place: OutputPlace) -> str:
    """Return a line for a shell; it holds the names of variables, not their values."""
    path, url = f'"${output_variable(name)}"', f'"${upload_url_variable(name)}"'
    header = " --header 'x-ms-blob-type: BlockBlob'" if place.uri.startswith("abfs") else ""
    curl = f"curl --fail --silent --show-error --globoff --retry 5{header}"
    return f"printf 'url = \"%s\"\\n' {url} | {curl} --config - --upload-file {path}"


async def signed_url(uri: str, method: str, lifetime: timedelta) -> str:
    """Return a URL by which anybody may read (GET) or write (PUT) one object for a time. Raises CannotSign.

    S3 signs with any credentials, GCS with a service account's key or its right to sign, Azure with an account's key or
    a principal's right to delegate: obstore 0.12.
    """
    scheme = uri.partition("://")[0]
    if not storage.is_remote(uri):
        raise CannotSign(f"There are no upload URLs for {uri}: its storage is a directory", hint=_OTHERWISE)
    if scheme not in _SIGNING:
        raise CannotSign(f"There are no upload URLs for {scheme}:// storage, and {uri} is there", hint=_OTHERWISE)
    try:
        bucket_store, key = located(uri)
        signing = obstore.sign_async(cast("Any", bucket_store), cast("Any", method), key, lifetime)
        url = str(await within(_PATIENCE, signing))
    except Exception as error:  # each store has its own ways to be without credentials that sign
        # Its text is not shown: it may have the request, and so a signature.
        what = f"No URL for {uri} can be signed ({type(error).__name__})"
        hint = f"The connector needs credentials of its own that may sign: {_SIGNING[scheme]}. {_OTHERWISE}"
        raise CannotSign(what, hint=hint) from None
    if scheme.startswith("abfs") and "%" in urlsplit(url).path:
        # obstore 0.12 signs the path as it is encoded, Azure compares it decoded, and would refuse the upload.
        hint = "Use letters, digits and - . _ ~ in the names of outputs and of the run's storage."
        raise CannotSign(f"No URL for {uri} can be signed for Azure: its name has other characters", hint=hint)
    return url
