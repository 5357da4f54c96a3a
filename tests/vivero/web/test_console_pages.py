"""The console's files, as a browser gets them."""

import gzip
import json
from dataclasses import replace

import pytest

from tests.vivero.web.conftest import SCRIPT, Browser
from vivero.web import application
from vivero.web.console.console_files import find_console

SCRIPT_PATH = "/console/assets/app-1a2b3c.js"


@pytest.mark.parametrize("path", ["/", "/console"])
async def test_a_browser_is_sent_to_the_console(browser, path):
    page = await browser("GET", path, [(b"accept", b"text/html")])
    assert (page.status, page.headers["location"]) == (302, "/console/")


@pytest.mark.parametrize("path", ["", "instances", "instances/2251799813685249", "processes/order.v1.js"])
async def test_the_address_of_a_page_gives_the_index(browser, path):
    page = await browser("GET", f"/console/{path}")
    assert (page.status, page.text) == (200, "<!doctype html><title>console</title>")
    assert page.headers["cache-control"] == "no-cache"
    assert page.headers["content-type"] == "text/html; charset=utf-8"


@pytest.mark.parametrize("path", ["assets/other.js", "robots.txt", ".stamp", "assets/", "assets/../.stamp"])
async def test_a_file_that_is_not_there_is_not_the_index(browser, path):
    assert (await browser("GET", f"/console/{path}")).status == 404


AHEAD = {"instances/*": ["assets/instance-1.js", "assets/diagram-1.css"], "jobs": ["assets/jobs-1.js"], "about": []}
INSTANCE = "</console/assets/instance-1.js>; rel=modulepreload, </console/assets/diagram-1.css>; rel=preload; as=style"


@pytest.mark.parametrize(
    ("path", "links"),
    [
        ("instances/2251799813685249", INSTANCE),
        ("jobs", "</console/assets/jobs-1.js>; rel=modulepreload"),
        ("instances", None),
        ("jobs/1", None),
        ("about", None),
        ("", None),
        ("assets/app-1a2b3c.js", None),
    ],
)
async def test_a_page_names_what_it_needs_next(built, parts, path, links):
    (built / "preloads.json").write_text(json.dumps(AHEAD))
    browser = Browser(application.build(replace(parts, files=find_console((built,)))))
    assert (await browser("GET", f"/console/{path}")).headers.get("link") == links


async def test_names_with_a_hash_are_kept_for_ever(browser):
    page = await browser("GET", SCRIPT_PATH)
    assert (page.body, page.headers["content-type"]) == (SCRIPT, "text/javascript; charset=utf-8")
    assert page.headers["cache-control"] == "public, max-age=31536000, immutable"


@pytest.mark.parametrize(
    ("accepted", "coding"), [("gzip, br", "gzip"), ("gzip;q=0", None), ("identity", None), ("br", None)]
)
async def test_what_the_build_compressed_is_sent_so(browser, accepted, coding):
    page = await browser("GET", SCRIPT_PATH, [(b"accept-encoding", accepted.encode())])
    assert page.headers.get("content-encoding") == coding
    assert (gzip.decompress(page.body) if coding else page.body) == SCRIPT
    assert page.headers["vary"] == "Accept-Encoding"


@pytest.mark.parametrize("accepted", ["gzip", "identity"])
async def test_files_with_a_hash_have_the_headers_of_all_answers(browser, accepted):
    """Quart answers HEAD, and does not answer GET."""
    encoding = [(b"accept-encoding", accepted.encode())]
    page, head = await browser("GET", SCRIPT_PATH, encoding), await browser("HEAD", SCRIPT_PATH, encoding)
    assert (page.status, page.headers) == (200, head.headers)
    assert "content-security-policy" in page.headers
    assert int(page.headers["content-length"]) == len(page.body) > 0


async def test_a_file_that_the_browser_has_is_not_sent_again(browser):
    first = await browser("GET", SCRIPT_PATH)
    again = await browser("GET", SCRIPT_PATH, [(b"if-none-match", first.headers["etag"].encode())])
    assert (again.status, again.body) == (304, b"")


async def test_what_the_browser_has_is_not_sent_again(browser):
    first = await browser("GET", "/console/")
    again = await browser("GET", "/console/", [(b"if-none-match", first.headers["etag"].encode())])
    assert (again.status, again.body) == (304, b"")


async def test_nothing_foreign_may_run_in_the_console(browser):
    page = await browser("GET", "/console/")
    policy = dict(part.strip().split(" ", 1) for part in page.headers["content-security-policy"].split(";"))
    assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert policy["script-src"] == policy["connect-src"] == policy["form-action"] == "'self'"
    assert page.headers["x-content-type-options"] == "nosniff"


async def test_without_a_build_a_page_says_what_is_missing(parts):
    browser = Browser(application.build(replace(parts, files=None)))
    page = await browser("GET", "/console/instances")
    assert page.status == 503
    assert "make console" in page.text
    assert page.headers["cache-control"] == "no-store"
    assert "script-src 'none'" in page.headers["content-security-policy"]


async def test_a_foreign_host_gets_nothing(parts):
    """A page of another site whose name points to this machine."""
    browser = Browser(application.build(parts), host=(b"host", b"evil.example.com"))
    assert (await browser("GET", "/console/")).status == 421
    assert (await browser("GET", SCRIPT_PATH)).status == 421


async def test_only_reads_are_allowed(browser):
    assert (await browser("POST", "/console/")).status == 405


def test_a_console_is_looked_for_where_packages_and_builds_have_it(built, tmp_path_factory):
    assert find_console((tmp_path_factory.mktemp("none"), built)) is not None
    assert find_console((tmp_path_factory.mktemp("none"),)) is None
