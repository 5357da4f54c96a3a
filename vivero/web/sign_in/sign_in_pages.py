"""Sign-in, sign-out and change of password: pages that work without JavaScript."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import structlog
from quart import Response, redirect, render_template, request
from quart_trio import QuartTrio

from vivero.api.access import passwords
from vivero.api.access.authentication import Authenticator
from vivero.api.access.code_flow import CodeFlow, NotSignedIn, ProviderFailed
from vivero.api.access.sessions import digest, new_id, session_id
from vivero.api.access.settings import AuthSettings
from vivero.api.http.origins import Gate
from vivero.api.http.problems import Problem
from vivero.storage.access import audit_log, identities, sessions
from vivero.storage.access.audit_log import AuditRecord
from vivero.storage.access.sessions import NewSession
from vivero.storage.postgres.errors import StorageError, describe
from vivero.storage.postgres.pool import Pool
from vivero.web.mount import PREFIX
from vivero.web.requests import address, headers
from vivero.web.sign_in import cookies, records
from vivero.web.sign_in.cookies import AnyResponse
from vivero.web.sign_in.texts import LANGUAGES, TEXTS, Language, Text, language

log = structlog.get_logger(__name__)

HOME = f"{PREFIX}/"
LOGIN, LOGOUT, PASSWORD = f"{PREFIX}/login", f"{PREFIX}/logout", f"{PREFIX}/password"
PROVIDER, RETURN = f"{LOGIN}/provider", f"{LOGIN}/return"
STYLE = f"{PREFIX}/sign-in.css"
STYLE_TEXT = (Path(__file__).parents[1] / "pages" / "sign-in.css").read_text(encoding="utf-8")
MAX_NEXT = 1000


@dataclass(frozen=True, slots=True)
class SignIn:
    """The parts that sign users in. `flow` is None without an identity provider for browsers."""

    authenticator: Authenticator
    pool: Pool
    settings: AuthSettings
    flow: CodeFlow | None = None


def add(application: QuartTrio, parts: SignIn | None, gate: Gate) -> None:
    """Add the routes. Without authentication, the page of sign-in leads to the console."""
    application.add_url_rule(STYLE, "style", view_func=_style, methods=["GET"])
    if parts is None:
        application.add_url_rule(LOGIN, "login", view_func=_home, methods=["GET"])
        return
    pages = _Pages(parts, gate)
    routes: Sequence[tuple[str, str, object]] = (
        ("GET", LOGIN, pages.login), ("POST", LOGIN, pages.sign_in), ("POST", LOGOUT, pages.sign_out),
        ("GET", PASSWORD, pages.password), ("POST", PASSWORD, pages.change_password),
        ("GET", PROVIDER, pages.to_provider), ("GET", RETURN, pages.from_provider),
    )  # fmt: skip
    for method, path, view in routes:
        application.add_url_rule(path, f"{method} {path}", view_func=view, methods=[method])  # type: ignore[arg-type]


async def _style() -> AnyResponse:
    return Response(STYLE_TEXT, headers={"Cache-Control": "max-age=300"}, content_type="text/css; charset=utf-8")


async def _home() -> AnyResponse:
    return redirect(HOME, 303)


class _Pages:
    def __init__(self, parts: SignIn, gate: Gate) -> None:
        self._parts = parts
        self._gate = gate
        self._settings = parts.settings

    # -- by password

    async def login(self) -> AnyResponse:
        return await self._login_page(200, safe_next(request.args.get("next")))

    async def sign_in(self) -> AnyResponse:
        form = await request.form
        username, next = form.get("username", ""), safe_next(form.get("next"))
        try:
            self._check_origin()
            await self._parts.authenticator.check_password(username, form.get("password", ""), address())
            id = await self._sign_in(NewSession(username, sessions.PASSWORD))
        except (Problem, StorageError) as error:
            status, message = _explained(error)
            return await self._login_page(status, next, username, message)
        response = redirect(next, 303)
        cookies.set_session(response, id, self._settings.session_max_s)
        return response

    async def _login_page(
        self, status: int, next: str, username: str = "", message: _Message | None = None
    ) -> Response:
        provider = urlsplit(self._settings.oidc_issuer).hostname if self._parts.flow is not None else None
        return await _page("login", "sign_in", status, message, next=next, username=username, provider=provider)

    # -- sessions

    async def _sign_in(self, new: NewSession) -> str:
        """Make a session for a user who has been authenticated."""
        id = await self._begin(new, records.signed_in(new, address()))
        log.info("a user signed in", username=new.username, provider=new.provider, address=address())
        return id

    async def _begin(self, new: NewSession, record: AuditRecord | None = None) -> str:
        """A new session, instead of the one that the browser may have, with its record in the audit log."""
        id, old = new_id(), session_id(headers())
        async with self._parts.pool.connection() as connection, connection.transaction():
            if old is not None:
                await sessions.end(connection, digest(old))
            await sessions.create(connection, digest(id.encode()), new, self._settings.session_max_s)
            if record is not None:
                await audit_log.add(connection, record)
        return id

    async def sign_out(self) -> AnyResponse:
        form, id = await request.form, session_id(headers())
        try:
            self._check_origin()
            if id is not None:
                await self._end(digest(id), everywhere=bool(form.get("everywhere")))
        except (Problem, StorageError) as error:
            status, message = _explained(error)
            return await self._login_page(status, HOME, message=message)
        response = redirect(LOGIN, 303)
        cookies.forget_session(response)
        return response

    async def _end(self, sha256: bytes, *, everywhere: bool) -> None:
        """End a session, or all of its user, with its record in the audit log."""
        end = sessions.end_all if everywhere else sessions.end
        async with self._parts.pool.connection() as connection, connection.transaction():
            user = await end(connection, sha256)
            if user is not None:
                await audit_log.add(connection, records.signed_out(user, address(), everywhere))

    def _check_origin(self) -> None:
        """Raise Problem 403 unless the form is one of our pages."""
        self._gate.check_session(request.method, headers())

    # -- the password

    async def password(self) -> AnyResponse:
        username = await self._username()
        return redirect(LOGIN, 303) if username is None else await _page("password", "change", 200, username=username)

    async def _username(self) -> str | None:
        """The user of this session if it has a password here, otherwise None."""
        id = session_id(headers())
        if id is None:
            return None
        async with self._parts.pool.connection() as connection:
            session = await sessions.read(
                connection, digest(id), self._settings.session_idle_s, self._settings.shared_names
            )
        return session.username if session is not None and session.provider == sessions.PASSWORD else None

    async def change_password(self) -> AnyResponse:
        form, username = await request.form, await self._username()
        if username is None:
            return redirect(LOGIN, 303)
        new = form.get("new", "")
        try:
            self._check_origin()
            if (message := _unfit(new, form.get("repeat", ""))) is None:
                await self._parts.authenticator.check_password(username, form.get("current", ""), address())
                id = await self._set_password(username, new)
        except (Problem, StorageError) as error:
            status, message = _explained(error)
            return await _page("password", "change", status, message, username=username)
        if message is not None:
            return await _page("password", "change", 400, message, username=username)
        response = await _page("password", "change", 200, _Message("changed"), username=username, done=True)
        cookies.set_session(response, id, self._settings.session_max_s)
        return response

    async def _set_password(self, username: str, new: str) -> str:
        """Set the password, which ends all sessions of the user, and begin a new one."""
        password_hash = await passwords.hash_in_thread(new)
        async with self._parts.pool.connection() as connection, connection.transaction():
            await identities.set_password(connection, username, password_hash)
            await audit_log.add(connection, records.password_changed(username, address()))
        log.info("a user changed its password", username=username, address=address())
        return await self._begin(NewSession(username, sessions.PASSWORD))

    # -- by an identity provider

    async def to_provider(self) -> AnyResponse:
        next = safe_next(request.args.get("next"))
        if self._parts.flow is None:
            return redirect(LOGIN, 303)
        try:
            url, begun = await self._parts.flow.begin(self._return_url(), next)
        except ProviderFailed as error:
            return await self._failed(error, next)
        response = redirect(url, 303)
        cookies.keep_flow(response, begun)
        return response

    async def from_provider(self) -> AnyResponse:
        begun = cookies.kept_flow()
        if request.method == "HEAD":
            return Response("", 405, {"Allow": "GET"})  # only the browser's own visit may sign in
        if self._parts.flow is None or begun is None:
            return redirect(LOGIN, 303)
        next = safe_next(begun.next)
        try:
            user = await self._parts.flow.finish(begun, request.args.to_dict(), self._return_url())
            async with self._parts.pool.connection() as connection:
                await self._parts.authenticator.check_name(connection, user.id)
            id = await self._sign_in(NewSession(user.id, sessions.OIDC, user.name, user.email, user.claims))
        except Problem:
            return await self._refused(403, next, "taken")
        except (ProviderFailed, NotSignedIn, StorageError) as error:
            return await self._failed(error, next)
        # A redirect would still count as caused by the provider's site, and the browser would keep the session back.
        response = await _page("signed_in", "going_on", 200, next=next)
        cookies.set_session(response, id, self._settings.session_max_s)
        cookies.forget_flow(response)
        return response

    async def _failed(self, error: Exception, next: str) -> AnyResponse:
        log.warning("a sign-in by the identity provider failed", reason=describe(error), address=address())
        refused = isinstance(error, NotSignedIn)
        return await self._refused(401 if refused else 503, next, "refused" if refused else "unavailable")

    async def _refused(self, status: int, next: str, text: Text) -> AnyResponse:
        response = await self._login_page(status, next, message=_Message(text))
        cookies.forget_flow(response)
        return response

    def _return_url(self) -> str:
        base = self._settings.public_url.rstrip("/") or f"{request.scheme}://{request.host}"
        return f"{base}{RETURN}"


@dataclass(frozen=True, slots=True)
class _Message:
    text: Text
    seconds: str = ""


_BY_STATUS: dict[int, Text] = {401: "wrong", 403: "foreign", 429: "too_many"}


def _explained(error: Problem | StorageError) -> tuple[int, _Message]:
    """The status and the message for an error."""
    if isinstance(error, StorageError):
        log.warning("a sign-in failed because of the database", error=describe(error))
        return 503, _Message("unavailable")
    seconds = next((value.decode() for name, value in error.headers if name == b"retry-after"), "")
    return error.status, _Message(_BY_STATUS.get(error.status, "unavailable"), seconds)


def _unfit(new: str, repeated: str) -> _Message | None:
    """The problem of a new password; None without one."""
    if new != repeated:
        return _Message("differ")
    try:
        passwords.check_new(new)
    except ValueError:
        return _Message("length")
    return None


async def _page(template: str, title: Text, status: int, message: _Message | None = None, **values: object) -> Response:
    chosen = await _language()
    texts = TEXTS[chosen]
    shown = "" if message is None else texts[message.text].format(seconds=message.seconds)
    frame = {
        "language": chosen,
        "languages": LANGUAGES,
        "t": texts,
        "title": texts[title],
        "message": shown,
        "next": HOME,
    }
    return Response(await render_template(f"{template}.html", **(frame | values)), status)


async def _language() -> Language:
    asked = request.args.get("lang") or (await request.form).get("lang")
    return language(asked, request.accept_languages.best_match(list(LANGUAGES)))


def safe_next(text: str | None) -> str:
    """The page to show after the sign-in: one of the console's, and never another site's."""
    fits = text is not None and len(text) <= MAX_NEXT and text.isascii() and text.isprintable() and "\\" not in text
    return text if fits and text is not None and text.startswith(HOME) else HOME
