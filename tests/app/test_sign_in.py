"""Sign-in: who is let in, who may write, and that the app never listens to others without it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from app_helpers import words
from hypothesis import given
from hypothesis import strategies as st

from energy.errors import SignInError
from energy.ui import sign_in

SECRETS = {
    "auth": {
        "redirect_uri": "https://ledger.example.org/oauth2callback",
        "cookie_secret": "x7" * 20,
        "client_id": "energy",
        "client_secret": "hidden-word",
        "server_metadata_url": "https://login.example.org/.well-known/openid-configuration",
    },
    "roles": {
        "viewers": {"emails": ["@example.org"], "claims": {"groups": ["readers"]}},
        "editors": {"emails": ["Ana@Example.org"], "claims": {"groups": ["energy-editors"]}},
    },
}


def changed(*path_and_value):
    """The settings with one value changed, or taken away where it is None."""
    *path, name, value = path_and_value
    out = {key: dict(section) for key, section in SECRETS.items()}
    place = out
    for step in path:
        place[step] = dict(place[step])
        place = place[step]
    if value is None:
        del place[name]
    else:
        place[name] = value
    return out


def user(**claims):
    return {"is_logged_in": True, "email_verified": True} | claims


@pytest.mark.parametrize(
    ("claims", "role"),
    [
        (user(email="ana@example.org"), "editor"),
        (user(email="ANA@EXAMPLE.ORG"), "editor"),
        (user(email="ben@example.org"), "viewer"),
        (user(email="ben@sub.example.org"), None),
        (user(email="ben@notexample.org"), None),
        (user(email="ana@example.org@evil.org"), None),
        (user(email="@example.org"), None),
        (user(groups=["other", "energy-editors"]), "editor"),
        (user(groups="readers"), "viewer"),
        (user(groups="energy-editors-not"), None),
        (user(groups={"energy-editors": True}), None),
        (user(email="ana@example.org", email_verified=False), None),
        (user(email="ana@example.org", email_verified="false"), None),
        (user(email="ana@example.org", is_logged_in=False), None),
        (user(email=""), None),
        ({"email": "ana@example.org", "email_verified": True}, None),
        ({}, None),
    ],
)
def test_roles_follow_verified_addresses_and_claims(claims, role):
    assert sign_in.read_sign_in(SECRETS).role_of(claims) == role


def test_unverified_addresses_count_only_when_it_is_said():
    told = sign_in.read_sign_in(changed("roles", "accept_unverified_emails", True))
    assert told.role_of({"is_logged_in": True, "email": "ana@example.org"}) == "editor"


@pytest.mark.parametrize(
    ("secrets", "part"),
    [
        (changed("roles", None), "[auth] but no [roles]"),
        (changed("auth", None), "[roles] but no [auth]"),
        (changed("auth", "cookie_secret", "short"), "auth.cookie_secret"),
        (changed("auth", "cookie_secret", None), "auth.cookie_secret"),
        (changed("auth", "client_secret", None), "auth.client_secret is missing"),
        (changed("auth", "redirect_uri", "https://ledger.example.org/"), "auth.redirect_uri"),
        (changed("auth", "redirect_uri", "http://ledger.example.org/oauth2callback"), "must begin with https://"),
        (changed("auth", "server_metadata_url", "http://login.example.org/x"), "must begin with https://"),
        (changed("roles", "editor", {"emails": ["a@b.c"]}), "no key roles.editor. Nearest: editors"),
        (changed("roles", "viewers", "email", ["a@b.c"]), "no key roles.viewers.email. Nearest: emails"),
        (changed("roles", "viewers", "emails", ["example.org"]), "is no address"),
        (changed("roles", "viewers", "emails", ["*@example.org"]), "is no address"),
        (changed("roles", "viewers", "emails", [1]), "must be a list of texts"),
        (changed("roles", "viewers", {}), "names nobody"),
        (changed("roles", {}), "names nobody"),
        (changed("roles", "accept_unverified_emails", "yes"), "true or false"),
        ({"auth": "on", "roles": {}}, "write [auth]"),
    ],
)
def test_a_wrong_description_is_refused_by_its_key_without_a_secret(secrets, part):
    with pytest.raises(SignInError) as caught:
        sign_in.read_sign_in(secrets)
    said = str(caught.value)
    assert part in said
    assert "\n" not in said
    assert "hidden-word" not in said
    assert "x7x7" not in said


def test_named_providers_are_each_checked():
    auth = {name: SECRETS["auth"][name] for name in ("redirect_uri", "cookie_secret")}
    one = {name: SECRETS["auth"][name] for name in ("client_id", "client_secret", "server_metadata_url")}
    both = {"auth": auth | {"corporate": one, "partner": one}, "roles": SECRETS["roles"]}
    assert sign_in.read_sign_in(both).providers == ("corporate", "partner")
    del both["auth"]["partner"]["client_id"]
    with pytest.raises(SignInError, match=r"auth\.(corporate|partner)\.client_id is missing"):
        sign_in.read_sign_in(both)


OTHERS = [
    "0.0.0.0",
    "::",
    "[::]",
    "192.168.1.4",
    "2001:db8::1",
    "::ffff:10.0.0.1",
    "ledger",
    "localhost.evil.org",
    "",
    "0",
]


@pytest.mark.parametrize("address", [*OTHERS, "unix:///run/app.sock", None])
def test_every_other_address_is_refused_without_sign_in(address):
    said = sign_in.refusal(address, None, None)
    assert "--without-sign-in" in said
    assert "\n" not in said
    assert sign_in.refusal(address, sign_in.read_sign_in(SECRETS), None) == ""


@pytest.mark.parametrize(
    "address", ["localhost", "LOCALHOST", "127.0.0.1", "127.1.2.3", "::1", "[::1]", "::ffff:127.0.0.1"]
)
def test_the_own_machine_needs_no_sign_in(address):
    assert sign_in.refusal(address, None, None) == ""


def test_the_way_around_opens_the_address_that_it_names_and_no_other():
    assert sign_in.refusal("10.0.0.1", None, "10.0.0.1") == ""
    assert sign_in.refusal("0.0.0.0", None, "10.0.0.1")
    assert sign_in.refusal("0.0.0.0", None, "1")
    assert sign_in.refusal(None, None, "*") == ""
    assert sign_in.refusal(None, None, "")


@given(st.ip_addresses())
def test_loopback_is_what_the_standard_says(address):
    expected = address.is_loopback or bool(
        address.version == 6 and address.ipv4_mapped and address.ipv4_mapped.is_loopback
    )
    assert sign_in.is_loopback(str(address)) is expected


@pytest.mark.parametrize(
    ("arguments", "environment"),
    [
        (["run", "app.py", "--server.address", "0.0.0.0"], {}),
        (["run", "app.py", "--server.address=::"], {}),
        (["run", "app.py"], {"STREAMLIT_SERVER_ADDRESS": "10.1.1.1"}),
        (["run", "app.py", "--server.address", "localhost", "--server.address", "0.0.0.0"], {}),
    ],
)
def test_a_start_is_refused_however_the_address_is_said(arguments, environment, monkeypatch, tmp_path):
    monkeypatch.setattr(sign_in, "secrets", dict)
    with pytest.raises(SignInError):
        sign_in.check_start(arguments, environment)
    monkeypatch.setattr(sign_in, "secrets", lambda: SECRETS)
    sign_in.check_start(arguments, environment)


def refused_start(tmp_path, *arguments, **environment):
    """Start the server as `energy app` does, where nothing may come of it."""
    command = [sys.executable, "-m", "energy.ui", "run", str(tmp_path / "app.py"), *arguments]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=os.environ | {"HOME": str(tmp_path)} | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("energy: ")
    return done.stderr


def test_the_process_ends_with_one_line_before_it_listens(tmp_path):
    assert "everybody who reaches 0.0.0.0" in refused_start(tmp_path, "--server.address", "0.0.0.0")


def test_a_spoilt_secrets_file_lets_nobody_in_even_on_this_machine(tmp_path):
    (tmp_path / ".streamlit").mkdir()
    (tmp_path / ".streamlit" / "secrets.toml").write_text("[auth\nclient_secret = 'hidden-word'\n")
    said = refused_start(tmp_path, "--server.address", "localhost")
    assert "cannot be read" in said
    assert "hidden-word" not in said


@pytest.mark.parametrize(("more", "told"), [([], None), (["--without-sign-in"], "10.0.0.7")])
def test_the_command_opens_an_address_only_by_its_flag(monkeypatch, more, told):
    from energy.cli import main

    found = {}

    def execve(path, arguments, environment):
        found.update(environment)
        raise SystemExit(0)

    monkeypatch.setenv(sign_in.WITHOUT_VARIABLE, "10.0.0.7")  # forgotten by somebody
    monkeypatch.setattr(os, "execve", execve)
    monkeypatch.setattr(sys, "argv", ["energy", "app", "--address", "10.0.0.7", *more])
    with pytest.raises(SystemExit):
        main()
    assert found.get(sign_in.WITHOUT_VARIABLE) == told


def test_without_the_extra_one_line_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(sign_in, "secrets", lambda: SECRETS)
    monkeypatch.setattr(sign_in, "find_spec", lambda name: None)
    with pytest.raises(SignInError, match=r"pip install 'energy\[app,auth\]'"):
        sign_in.check_start([], {})


# --- in the app ---
@pytest.fixture
def listening():
    """Set where the server says that it listens."""
    from streamlit import config

    before = config.get_option("server.address")
    yield lambda address: config.set_option("server.address", address)
    config.set_option("server.address", before)


def seen_by(start, ledger, claims, page="overview.py"):
    """The app with sign-in on, as a user with these claims sees it."""
    test = start(ledger, page)
    test.secrets = {name: dict(section) for name, section in SECRETS.items()}
    test.user = claims
    return test.run()


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "ledger.example.org", None])
def test_a_server_that_others_reach_shows_no_figure(start, small_ledger, listening, address, monkeypatch):
    monkeypatch.delenv(sign_in.WITHOUT_VARIABLE, raising=False)
    listening(address)
    test = start(small_ledger)
    seen = words(test)
    assert test.title[0].value == "Closed"
    assert "open to everybody" in seen
    assert "Facility energy" not in seen
    assert not test.sidebar.caption


def test_told_so_it_opens_and_offers_no_other_folder(start, small_ledger, listening, monkeypatch):
    listening("0.0.0.0")
    monkeypatch.setenv(sign_in.WITHOUT_VARIABLE, "0.0.0.0")
    test = start(small_ledger)
    assert "Facility energy" in words(test)
    assert not [one for one in test.text_input if one.key == "ledger.typed"]


@pytest.mark.parametrize("address", ["0.0.0.0", "localhost"])
def test_nobody_sees_a_figure_before_signing_in_also_behind_a_proxy(start, small_ledger, listening, address):
    listening(address)
    test = seen_by(start, small_ledger, {})
    assert test.title[0].value == "Sign in"
    assert [one.label for one in test.button] == ["Sign in"]
    assert "Facility energy" not in words(test)


def test_somebody_without_a_role_is_named_and_sees_nothing(start, small_ledger):
    test = seen_by(start, small_ledger, user(email="eve@elsewhere.org"))
    seen = words(test)
    assert "eve@elsewhere.org, who has no role here" in " ".join(seen.split())
    assert "Facility energy" not in seen


def test_a_viewer_sees_and_downloads_and_may_not_upload(start, small_ledger):
    test = seen_by(start, small_ledger, user(email="ben@example.org"), "fleet.py")
    seen = words(test)
    assert "Signed in as ben@example.org, viewer" in seen
    assert "Uploading needs the role of an editor" in seen
    assert test.get("download_button")
    assert not test.file_uploader
    assert not [one for one in test.text_input if one.key == "ledger.typed"]


def test_an_editor_may_upload(start, small_ledger):
    test = seen_by(start, small_ledger, user(email="ana@example.org"), "fleet.py")
    assert "Signed in as ana@example.org, editor" in words(test)
    assert test.file_uploader


def test_a_wrong_description_lets_nobody_in_and_tells_strangers_nothing(start, small_ledger):
    test = start(small_ledger)
    test.secrets = changed("roles", None)
    test.user = user(email="ana@example.org")
    seen = words(test.run())
    assert test.title[0].value == "Closed"
    assert "[roles]" not in seen
    assert "Facility energy" not in seen


def test_whatever_writes_asks_again_for_the_role(monkeypatch):
    monkeypatch.setattr(sign_in, "may_write", lambda: False)
    with pytest.raises(SignInError, match="Only editors may upload files"):
        sign_in.need_editor("upload files")
