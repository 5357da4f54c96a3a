"""A bucket on loopback, in memory: it checks signatures and sums, and fails as tests want.

It knows the operations that documents need. Its answers are those of S3's documentation.
"""

import base64
import hashlib
import hmac
import threading
from collections.abc import Callable
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, quote, unquote, urlsplit
from xml.etree import ElementTree

BUCKET, REGION, ACCESS_KEY, SECRET = "files", "eu-test-1", "of the test", "a secret / of the test"
LEAST_PART = 300 * 1024
"""S3 demands 5 MiB."""
PARTIAL = 206
CUT = 0
"""The status of a fault that closes the connection instead of answering."""


def in_full(first, last, _size):
    """The answer to a range, as a store gives it."""
    return first, last, PARTIAL


class BucketServer(ThreadingHTTPServer):
    """`objects` and `uploads` are what it has. `fault(method, key, query)` gives the status of a failure, or None."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.objects: dict[str, bytes] = {}
        self.uploads: dict[str, tuple[str, dict[int, bytes]]] = {}
        self.calls: list[str] = []
        self.fault: Callable[[str, str, dict[str, str]], int | None] = lambda *_request: None
        self.ranged: Callable[[int, int, int], tuple[int, int, int]] = in_full
        """Its answer to a range: the first and the last byte, and the status."""
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def left(self) -> tuple[int, int]:
        """Objects, and uploads in parts."""
        return len(self.objects), len(self.uploads)


@contextmanager
def serving():
    """A server while the block runs."""
    with BucketServer() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


class _Refused(Exception):
    def __init__(self, status: int, code: str) -> None:
        super().__init__(status, code)
        self.status, self.code = status, code


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: BucketServer

    def log_message(self, *_args) -> None:
        """Say nothing: tests look at what is there."""

    def do_GET(self):
        self._serve(self._get)

    def do_HEAD(self):
        self._serve(self._head)

    def do_PUT(self):
        self._serve(self._put)

    def do_POST(self):
        self._serve(self._post)

    def do_DELETE(self):
        self._serve(self._delete)

    def _serve(self, work):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        split = urlsplit(self.path)
        query = dict(parse_qsl(split.query, keep_blank_values=True))
        bucket, _, key = unquote(split.path).removeprefix("/").partition("/")
        try:
            self._check(split.path, split.query, body)
            fault = self.server.fault(self.command, key, query)
            if fault == CUT:
                self.close_connection = True
                return
            if fault is not None:
                raise _Refused(fault, "InternalError")
            if bucket != BUCKET:
                raise _Refused(404, "NoSuchBucket")
            with self.server.lock:
                self.server.calls.append(f"{self.command} {' '.join(sorted(query))}".strip())
                work(key, query, body)
        except _Refused as refused:
            self._answer(f"<Error><Code>{refused.code}</Code></Error>".encode(), refused.status)

    def _answer(self, body=b"", status=200, headers=()):
        self.send_response(status)
        for name, value in (("Content-Length", str(len(body))), *headers):
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    # -- operations

    def _get(self, key, query, _body):
        if "uploads" in query:
            return self._list_uploads(query)
        content = self.server.objects.get(key)
        if content is None:
            raise _Refused(404, "NoSuchKey")
        if asked := self.headers.get("range"):
            first, last = map(int, asked.removeprefix("bytes=").split("-"))
            if first >= len(content):
                raise _Refused(416, "InvalidRange")
            last = min(last, len(content) - 1)
            first, last, status = self.server.ranged(first, last, len(content))
            headers = [("Content-Range", f"bytes {first}-{last}/{len(content)}")] if status == PARTIAL else []
            return self._answer(content[first : last + 1], status, headers)
        return self._answer(content)

    def _head(self, key, _query, _body):
        if key not in self.server.objects:
            raise _Refused(404, "NoSuchKey")
        self._answer(self.server.objects[key])

    def _list_uploads(self, query):
        found = [
            f"<Upload><Key>{key}</Key><UploadId>{id}</UploadId></Upload>"
            for id, (key, _parts) in self.server.uploads.items()
            if key.startswith(query.get("prefix", ""))
        ]
        self._answer(f"<ListMultipartUploadsResult>{''.join(found)}</ListMultipartUploadsResult>".encode())

    def _put(self, key, query, body):
        self._check_sum(body)
        tag = f'"{hashlib.md5(body).hexdigest()}"'
        if "uploadId" in query:
            self._upload(key, query)[int(query["partNumber"])] = body
        else:
            self.server.objects[key] = body
        self._answer(headers=[("ETag", tag)])

    def _post(self, key, query, body):
        if "uploads" in query:
            id = f"upload-{len(self.server.calls)}"
            self.server.uploads[id] = key, {}
            text = f"<UploadId>{id}</UploadId>"
            return self._answer(f"<InitiateMultipartUploadResult>{text}</InitiateMultipartUploadResult>".encode())
        parts = self._upload(key, query)
        numbers = [int(each.text or "") for each in ElementTree.fromstring(body).iter() if "PartNumber" in each.tag]
        if numbers != sorted(parts) or any(len(parts[number]) < LEAST_PART for number in numbers[:-1]):
            raise _Refused(400, "InvalidPart")
        self.server.objects[key] = b"".join(parts[number] for number in numbers)
        del self.server.uploads[query["uploadId"]]
        return self._answer(b"<CompleteMultipartUploadResult></CompleteMultipartUploadResult>")

    def _delete(self, key, query, _body):
        if "uploadId" in query:
            self._upload(key, query)
            del self.server.uploads[query["uploadId"]]
        else:
            self.server.objects.pop(key, None)
        self._answer(status=204)

    def _upload(self, key, query):
        found = self.server.uploads.get(query["uploadId"])
        if found is None or found[0] != key:
            raise _Refused(404, "NoSuchUpload")
        return found[1]

    # -- signatures and sums

    def _check_sum(self, body):
        sum = base64.b64encode(hashlib.md5(body).digest()).decode()
        if self.headers.get("content-md5") != sum:
            raise _Refused(400, "BadDigest")

    def _check(self, path, query, body):
        """Signature version 4 of a request, as the documentation of S3 says it."""
        kind, _, rest = self.headers.get("authorization", "").partition(" ")
        if kind != "AWS4-HMAC-SHA256":
            raise _Refused(403, "AccessDenied")
        given = dict(each.strip().split("=", 1) for each in rest.split(","))
        key, day, region, service, end = given["Credential"].rsplit("/", 4)
        names = given["SignedHeaders"].split(";")
        sum = self.headers["x-amz-content-sha256"]
        if sum not in (hashlib.sha256(body).hexdigest(), "UNSIGNED-PAYLOAD"):
            raise _Refused(400, "XAmzContentSHA256Mismatch")
        pairs = sorted(parse_qsl(query, keep_blank_values=True))
        canonical = "\n".join(
            [
                self.command,
                path,
                "&".join(f"{quote(name, safe='-_.~')}={quote(value, safe='-_.~')}" for name, value in pairs),
                *(f"{name}:{' '.join(self.headers[name].split())}" for name in names),
                "",
                ";".join(names),
                sum,
            ]
        )
        scope = f"{day}/{region}/{service}/{end}"
        text = "\n".join([kind, self.headers["x-amz-date"], scope, hashlib.sha256(canonical.encode()).hexdigest()])
        secret = f"AWS4{SECRET}".encode()
        for part in (day, region, service, end):
            secret = hmac.digest(secret, part.encode(), "sha256")
        if (key, region, end) != (ACCESS_KEY, REGION, "aws4_request") or not hmac.compare_digest(
            hmac.new(secret, text.encode(), "sha256").hexdigest(), given["Signature"]
        ):
            raise _Refused(403, "SignatureDoesNotMatch")
