"""Several readers of one running app: who signs in, who sees whose upload, and that eight see what one sees."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import secrets
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from energy.ui.server import running

jwt = pytest.importorskip("joserfc.jwt", reason="sign-in is not installed: pip install 'energy[auth]'")
pytest.importorskip("authlib", reason="sign-in is not installed: pip install 'energy[auth]'")
pytest.importorskip("httpx", reason="sign-in is not installed: pip install 'energy[auth]'")

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = Path(os.environ.get("ENERGY_CHROMIUM", "/usr/bin/chromium"))
if not CHROMIUM.exists():
    pytest.skip(f"no Chromium at {CHROMIUM}; name it in ENERGY_CHROMIUM", allow_module_level=True)

PATIENCE_MS = 20_000
READERS = 8
CLIENT = {"client_id": "energy", "client_secret": secrets.token_hex(16)}


@pytest.fixture(scope="module")
def browser() -> Iterator[sync_api.Browser]:
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def reader(browser) -> Iterator[Any]:
    """Return pages of readers who share nothing: each has cookies of its own."""
    contexts = []

    def make() -> sync_api.Page:
        contexts.append(browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True))
        page = contexts[-1].new_page()
        page.set_default_timeout(PATIENCE_MS)
        return page

    yield make
    for context in contexts:
        context.close()


def settled(page: sync_api.Page) -> None:
    """Wait until the page has its title and the server has answered all."""
    page.wait_for_selector("h1")
    page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")


# --- eight at once ---
def test_eight_readers_at_once_see_the_numbers_of_one(reader, server):
    asked = [f"{server}/?by={group}&unit={unit}" for group in ("project", "chip") for unit in ("kWh", "MWh")]
    asked += [f"{server}/fleet", f"{server}/fleet?tier=measured"]

    def figures(page: sync_api.Page) -> str:
        page.wait_for_selector(".en-fig .value", timeout=60_000)
        settled(page)
        return str(page.locator(".en-figs").first.inner_text())

    alone = {}
    for address in asked:
        page = reader()
        page.goto(address)
        alone[address] = figures(page)
        page.context.close()
    assert len(set(alone.values())) > 2
    pages = [(asked[number % len(asked)], reader()) for number in range(READERS)]
    for address, page in pages:
        page.goto(address, wait_until="commit")
    for address, page in pages:
        assert figures(page) == alone[address]


# --- uploads ---
def power(watts: int) -> bytes:
    rows = (f"2026-01-05T00:{place:02d}:00Z,h-1,0,{watts},90\n" for place in range(60))
    return ("ts,host,gpu,power_w,gpu_util_pct\n" + "".join(rows)).encode()


def bring(page: sync_api.Page, server: str, name: str, content: bytes) -> None:
    page.goto(f"{server}/fleet")
    settled(page)
    page.get_by_text("Look at your own files").click()
    page.locator("input[type=file]").set_input_files({"name": name, "mimeType": "text/csv", "buffer": content})
    page.get_by_text(name).first.wait_for()
    for label, value in (
        ("Grid zone or place", "DEU"),
        ("PUE, kWh_facility/kWh_it", "1.25"),
        ("Hosts, one kind a line: pattern; chip; chips of one host", "h-1; NVIDIA H100 80GB HBM3; 8"),
    ):
        page.get_by_label(label, exact=True).fill(value)
    page.get_by_role("button", name="Read the files").click()


def test_readers_at_once_each_see_their_own_upload_alone(reader, server):
    watts = {300: reader(), 600: reader()}
    other = reader()
    other.goto(f"{server}/fleet")
    settled(other)
    before = other.locator(".en-figs").first.inner_text()
    for number, page in watts.items():
        bring(page, server, f"power-{number}.csv", power(number))
    for number, page in watts.items():
        page.get_by_text(f"power-{number}.csv: power, 60 of 60 rows").wait_for()
        page.get_by_text("Every figure here is of your files").wait_for()
        assert page.get_by_text(f"power-{900 - number}").count() == 0
    one, two = (page.locator(".en-figs").first.inner_text() for page in watts.values())
    assert one != two
    other.reload()
    settled(other)
    assert other.locator(".en-figs").first.inner_text() == before
    assert other.get_by_text("Looking at").count() == 0


def test_a_refused_file_is_said_in_one_line(reader, server):
    page = reader()
    bring(page, server, "jobs.csv", power(300).replace(b"300", b"273.51 W"))
    notice = page.locator(".en-notice", has_text="Upload refused.")
    notice.wait_for()
    assert "jobs.csv, line 2" in notice.inner_text()
    assert "Nothing was stored." in notice.inner_text()


# --- sign-in against a provider of our own ---
class Provider(BaseHTTPRequestHandler):
    """The least of an OpenID Connect provider: it signs in whoever it was told to, with authorization code and PKCE."""

    user: ClassVar[dict[str, Any]] = {}
    codes: ClassVar[dict[str, dict[str, str]]] = {}
    key: Any = None

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    @property
    def issuer(self) -> str:
        return f"http://localhost:{self.server.server_port}"

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        if parts.path == "/.well-known/openid-configuration":
            self.answer(
                {
                    "issuer": self.issuer,
                    "authorization_endpoint": f"{self.issuer}/authorize",
                    "token_endpoint": f"{self.issuer}/token",
                    "jwks_uri": f"{self.issuer}/keys",
                    "code_challenge_methods_supported": ["S256"],
                    "id_token_signing_alg_values_supported": ["RS256"],
                }
            )
        elif parts.path == "/keys":
            self.answer({"keys": [self.key.as_dict(private=False)]})
        elif parts.path == "/authorize":
            asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
            code = secrets.token_hex(8)
            self.codes[code] = asked
            self.send_response(302)
            back = urlencode({"code": code, "state": asked["state"]})
            self.send_header("Location", f"{asked['redirect_uri']}?{back}")
            self.end_headers()
        else:
            self.send_error(404)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        sent = {name: values[0] for name, values in parse_qs(body).items()}
        asked = self.codes.pop(sent["code"])
        challenge = base64.urlsafe_b64encode(hashlib.sha256(sent["code_verifier"].encode()).digest()).decode()
        given = f"{CLIENT['client_id']}:{CLIENT['client_secret']}".encode()
        if (
            challenge.rstrip("=") != asked["code_challenge"]
            or self.headers["Authorization"] != f"Basic {base64.b64encode(given).decode()}"
        ):
            self.send_error(400)
            return
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": CLIENT["client_id"], "sub": "1", "iat": now, "exp": now + 300}
        claims |= {"nonce": asked["nonce"]} | self.user
        token = jwt.encode({"alg": "RS256", "kid": self.key.kid}, claims, self.key)
        self.answer({"access_token": "none", "token_type": "Bearer", "expires_in": 300, "id_token": token})

    def answer(self, document: Any) -> None:
        content = json.dumps(document).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@pytest.fixture(scope="module")
def provider() -> Iterator[str]:
    from joserfc.jwk import RSAKey

    Provider.key = RSAKey.generate_key(2048, parameters={"kid": "one", "use": "sig"})
    served = ThreadingHTTPServer(("localhost", 0), Provider)
    thread = Thread(target=served.serve_forever, daemon=True)
    thread.start()
    yield f"http://localhost:{served.server_port}"
    served.shutdown()
    served.server_close()
    thread.join()


@pytest.fixture(scope="module")
def signed_server(provider, small_ledger, tmp_path_factory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("signed")
    (folder / ".streamlit").mkdir()
    auth = {
        "redirect_uri": "http://localhost:{port}/oauth2callback",
        "cookie_secret": secrets.token_hex(32),
        "server_metadata_url": f"{provider}/.well-known/openid-configuration",
        **CLIENT,
    }
    lines = ["[auth]", *(f'{name} = "{value}"' for name, value in auth.items())]
    lines += ["[roles.viewers]", 'emails = ["@example.org"]', "[roles.editors]", 'emails = ["ana@example.org"]']
    (folder / ".streamlit" / "secrets.toml").write_text("\n".join(lines) + "\n")
    before = {name: os.environ.pop(name, None) for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")}
    try:
        with running(small_ledger, folder) as address:
            yield address
    finally:
        os.environ.update({name: value for name, value in before.items() if value is not None})


@pytest.mark.parametrize(
    ("claims", "seen"),
    [
        ({"email": "ana@example.org", "email_verified": True}, "Signed in as ana@example.org, editor"),
        ({"email": "ben@example.org", "email_verified": True}, "Signed in as ben@example.org, viewer"),
        ({"email": "eve@elsewhere.org", "email_verified": True}, "who has no role here"),
        ({"email": "ana@example.org", "email_verified": False}, "who has no role here"),
    ],
)
def test_sign_in_and_out_with_a_provider(reader, signed_server, monkeypatch, claims, seen):
    monkeypatch.setattr(Provider, "user", claims)
    page = reader()
    page.goto(f"{signed_server}/fleet")
    settled(page)
    assert page.locator(".en-fig").count() == 0
    page.get_by_role("button", name="Sign in").click()
    page.get_by_text(seen).wait_for()
    page.goto(f"{signed_server}/fleet")
    page.get_by_text(seen).wait_for()
    settled(page)
    known = "no role" not in seen
    assert (page.locator(".en-fig").count() > 0) is known
    if known:
        page.get_by_text("Look at your own files").click()
        assert (page.locator("input[type=file]").count() > 0) is ("editor" in seen)
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("button", name="Sign in").wait_for()
    assert page.locator(".en-fig").count() == 0


def test_a_cookie_that_was_changed_signs_nobody_in(reader, signed_server, monkeypatch):
    monkeypatch.setattr(Provider, "user", {"email": "ben@example.org", "email_verified": True})
    page = reader()
    page.goto(signed_server)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_text("Signed in as ben@example.org").wait_for()
    (cookie,) = (one for one in page.context.cookies() if one["name"] == "_streamlit_user")
    forged = cookie["value"][:-4] + ("0000" if cookie["value"][-4:] != "0000" else "1111")
    page.context.add_cookies([cookie | {"value": forged}])
    page.goto(signed_server)
    page.get_by_role("button", name="Sign in").wait_for()
    assert page.locator(".en-fig").count() == 0
