"""The client of a bucket, by boto3: `pip install 'vivero[s3]'`. Imported only if the settings name a bucket.

boto3 signs, repeats what failed (5xx, lost connections) with growing pauses, and checks certificates. Its calls block:
run them in threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import boto3
from botocore.awsrequest import AWSResponse
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, ConnectionError, HTTPClientError, NoCredentialsError
from urllib3.exceptions import HTTPError

CONNECT_S, READ_S = 5.0, 30.0
MAX_ANSWER_BYTES = 16 * 1024 * 1024
"""The limit of an answer without the content of an object: a page of a list has 1,000 names."""
ATTEMPTS = 3
"""The attempts of one call. The caller repeats the whole later."""
ABSENT = ("NoSuchKey", "404")
"""Answers of a store for an object that it does not have; without a body, to HEAD, it is only the status."""


class TooLong(Exception):
    """An answer of a store exceeds the limit."""


@dataclass(frozen=True, slots=True)
class Bucket:
    """A bucket, and how to reach it. Without an endpoint it is Amazon's."""

    name: str
    prefix: str
    """The beginning of all keys: empty, or with a slash at the end."""
    endpoint: str | None
    region: str | None
    access_key: str | None
    """None: credentials are where Amazon's tools look for them."""
    secret_key: str | None = field(repr=False)
    path_style: bool = True
    """Whether an endpoint has buckets in its paths, and not in the names of its hosts."""

    @property
    def url(self) -> str:
        """For people."""
        return f"s3://{self.name}/{self.prefix}"


@dataclass(frozen=True, slots=True)
class Failures:
    """The exceptions that a failing call becomes. `absent`: the store does not have the object."""

    problem: type[Exception]
    absent: type[Exception]
    key_setting: str
    """The setting of the credentials, for a message."""

    @contextmanager
    def raised(self, begin: str) -> Iterator[None]:
        """Errors of the store become exceptions whose texts begin so."""
        try:
            yield
        except TooLong as error:
            raise self.problem(f"{begin}: {error}") from error
        except ClientError as error:
            code = error.response.get("Error", {}).get("Code", "Unknown")
            kind = self.absent if code in ABSENT else self.problem
            raise kind(f"{begin}: the store answers {code}") from error
        except NoCredentialsError as error:
            raise self.problem(f"{begin}: there are no credentials. Set {self.key_setting}") from error
        except (ConnectionError, HTTPClientError, HTTPError, OSError) as error:
            raise self.problem(f"{begin}: the store does not answer ({type(error).__name__})") from error
        except (BotoCoreError, ValueError) as error:
            raise self.problem(f"{begin}: {type(error).__name__}") from error


def connect(bucket: Bucket) -> Any:
    """A client, which threads share; blocks for some tens of milliseconds."""
    options: dict[str, Any] = {
        "connect_timeout": CONNECT_S,
        "read_timeout": READ_S,
        "retries": {"total_max_attempts": ATTEMPTS, "mode": "standard"},
        # Other stores than Amazon's do not know the newer checksums. The archive reads its objects back.
        "request_checksum_calculation": "when_required",
        "response_checksum_validation": "when_required",
    }
    if bucket.endpoint is not None:
        options["s3"] = {"addressing_style": "path" if bucket.path_style else "virtual"}
    client = boto3.session.Session().client(
        "s3",
        endpoint_url=bucket.endpoint,
        region_name=bucket.region,
        aws_access_key_id=bucket.access_key,
        aws_secret_access_key=bucket.secret_key,
        config=Config(**options),
    )
    endpoint = client._endpoint  # botocore has no public way to its session
    endpoint.http_session = _BoundedSession(endpoint.http_session)
    return client


class _BoundedSession:
    """botocore's session. It reads each answer that is no object's content whole into memory: here up to a limit."""

    def __init__(self, session: Any) -> None:
        self._session = session

    def send(self, request: Any) -> AWSResponse:
        """Send a request. Raises botocore's errors, and TooLong for an answer that is too long."""
        streams, request.stream_output = request.stream_output, True
        found = self._session.send(request)
        response = _BoundedAnswer(found.url, found.status_code, found.headers, found.raw)
        if not streams:
            _ = response.content
        return response

    def close(self) -> None:
        self._session.close()


class _BoundedAnswer(AWSResponse):  # type: ignore[misc]  # botocore has no types
    _content: bytes | None

    @property
    def content(self) -> bytes:
        """The whole content. Raises TooLong, HTTPClientError."""
        if self._content is None:
            content = bytearray()
            try:
                for part in self.raw.stream():
                    content += part
                    if len(content) > MAX_ANSWER_BYTES:
                        self.raw.close()
                        raise TooLong(f"an answer of the store has more than {MAX_ANSWER_BYTES} bytes")
            except HTTPError as error:
                raise HTTPClientError(error=error) from error
            self._content = bytes(content)
        return self._content
