"""Who may see and who may write: sign-in by OpenID Connect, two roles, and no listening to others without it.

Everything here fails closed: what cannot be read lets nobody in. Messages name keys of ``secrets.toml``, never values,
since values are secrets.
"""

from __future__ import annotations

import ipaddress
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import streamlit as st
from streamlit.errors import StreamlitSecretNotFoundError

from energy.errors import SignInError, did_you_mean
from energy.ui.notices import notice

_LOG = logging.getLogger(__name__)
WITHOUT_VARIABLE = "ENERGY_WITHOUT_SIGN_IN"
ALL_ADDRESSES = "*"  # how the variable names a server that listens on every address of its machine
LEAST_COOKIE_SECRET = 32  # characters
Role = Literal["viewer", "editor"]

_SECTIONS: dict[str, Role] = {"editors": "editor", "viewers": "viewer"}  # the stronger role first
_UNVERIFIED = "accept_unverified_emails"
_PROVIDER_KEYS = ("client_id", "client_secret", "server_metadata_url")
_CALLBACK = "/oauth2callback"
_DEFAULT = "default"
_TRUE = (True, "true")  # some providers write the claim as a text


@dataclass(frozen=True, slots=True)
class Rule:
    """Who has a role.

    Attributes
    ----------
    emails : tuple of str
        Addresses in lower case; ``@example.org`` is everybody of that domain.
    claims : mapping of str to tuple of str
        Claim of the provider, such as ``groups``, to the values that give the role.
    """

    emails: tuple[str, ...] = ()
    claims: Mapping[str, tuple[str, ...]] | None = None

    def fits(self, user: Mapping[str, Any], *, unverified: bool) -> bool:
        """Tell whether a user has this role; an address counts only if the provider has verified it."""
        email = str(user.get("email") or "").strip().lower()
        if email and (unverified or user.get("email_verified") in _TRUE):
            local, _, domain = email.rpartition("@")
            if local and (email in self.emails or f"@{domain}" in self.emails):
                return True
        return any(set(values) & set(_values(user.get(name))) for name, values in (self.claims or {}).items())


@dataclass(frozen=True, slots=True)
class SignIn:
    """Sign-in as ``secrets.toml`` describes it.

    Attributes
    ----------
    providers : tuple of str
        Names of the providers; ``default`` is the one without a name.
    rules : mapping
        Role to who has it.
    unverified : bool
        Whether addresses count that the provider does not call verified.
    """

    providers: tuple[str, ...]
    rules: Mapping[Role, Rule]
    unverified: bool = False

    def role_of(self, user: Mapping[str, Any]) -> Role | None:
        """Return the role of a user by the claims of the provider; None for nobody known.

        Examples
        --------
        >>> rules = {"editor": Rule(("ana@example.org",)), "viewer": Rule(("@example.org",))}
        >>> known = SignIn(("default",), rules)
        >>> known.role_of({"is_logged_in": True, "email": "Ana@example.org", "email_verified": True})
        'editor'
        >>> known.role_of({"is_logged_in": True, "email": "ben@example.org", "email_verified": True})
        'viewer'

        An address that nobody verified may be anybody's:

        >>> known.role_of({"is_logged_in": True, "email": "ana@example.org"}) is None
        True

        """
        if user.get("is_logged_in") is not True:
            return None
        for role in _SECTIONS.values():
            rule = self.rules.get(role)
            if rule is not None and rule.fits(user, unverified=self.unverified):
                return role
        return None


def _values(claim: Any) -> tuple[str, ...]:
    """Return the values of a claim, which may be one or a list; what is neither has none."""
    many = claim if isinstance(claim, Sequence) and not isinstance(claim, str) else (claim,)
    return tuple(value for value in many if isinstance(value, str))


# --- the description ---
def read_sign_in(secrets: Mapping[str, Any]) -> SignIn | None:
    """Read sign-in from the content of ``secrets.toml``.

    Parameters
    ----------
    secrets : mapping
        ``[auth]`` as Streamlit documents it, and ``[roles]`` (docs/app.md).

    Returns
    -------
    SignIn or None
        None where neither section is there.

    Raises
    ------
    SignInError
        A key is missing, unknown or cannot be right; names the key, never its value.

    Examples
    --------
    >>> read_sign_in({}) is None
    True
    >>> read_sign_in({"roles": {"viewers": {"emails": ["@example.org"]}}})
    Traceback (most recent call last):
        ...
    energy.errors.SignInError: secrets.toml has [roles] but no [auth]: add [auth], or nobody can sign in.

    """
    auth, roles = secrets.get("auth"), secrets.get("roles")
    if auth is None and roles is None:
        return None
    if auth is None:
        raise SignInError("secrets.toml has [roles] but no [auth]: add [auth], or nobody can sign in.")
    if not isinstance(auth, Mapping):
        raise SignInError("secrets.toml: auth must be a section: write [auth].")
    if not isinstance(roles, Mapping):
        raise SignInError("secrets.toml has [auth] but no [roles]: say who may see and who may write (docs/app.md).")
    _check_auth(auth)
    return SignIn(_providers(auth), _rules(roles), _flag(roles))


def _check_auth(auth: Mapping[str, Any]) -> None:
    redirect = auth.get("redirect_uri")
    if not isinstance(redirect, str) or not redirect.endswith(_CALLBACK):
        raise SignInError(
            f"secrets.toml: auth.redirect_uri must be the app's own address with {_CALLBACK} behind it, such as "
            f"https://ledger.example.org{_CALLBACK}."
        )
    _check_private(redirect, "auth.redirect_uri")
    secret = auth.get("cookie_secret")
    if not isinstance(secret, str) or len(secret) < LEAST_COOKIE_SECRET:
        raise SignInError(
            f"secrets.toml: auth.cookie_secret must have at least {LEAST_COOKIE_SECRET} random characters: who guesses "
            "it can sign in as anybody."
        )


def _check_private(address: str, key: str) -> None:
    """Refuse plain http to other machines, where anybody on the way could take the sign-in over."""
    try:
        parts = urlsplit(address)
        host = parts.hostname
    except ValueError:
        parts, host = urlsplit(""), None
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(host)):
        raise SignInError(f"secrets.toml: {key} must begin with https:// (http:// only on this machine).")


def _providers(auth: Mapping[str, Any]) -> tuple[str, ...]:
    named = [name for name, value in auth.items() if isinstance(value, Mapping) and name != "client_kwargs"]
    found = {name: auth[name] for name in named}
    if any(key in auth for key in _PROVIDER_KEYS):
        found = {_DEFAULT: auth} | found
    if not found:
        raise SignInError(f"secrets.toml: [auth] names no provider: give {', '.join(_PROVIDER_KEYS)}.")
    for name, section in found.items():
        where = "auth" if name == _DEFAULT else f"auth.{name}"
        for key in _PROVIDER_KEYS:
            if not isinstance(section.get(key), str) or not section[key]:
                raise SignInError(f"secrets.toml: {where}.{key} is missing.")
        _check_private(section["server_metadata_url"], f"{where}.server_metadata_url")
    return tuple(found)


def _rules(roles: Mapping[str, Any]) -> dict[Role, Rule]:
    known = (*_SECTIONS, _UNVERIFIED)
    for name in roles:
        if name not in known:
            raise SignInError(
                f"secrets.toml: no key roles.{name}.{did_you_mean(name, known)} Keys: {', '.join(known)}."
            )
    rules = {role: _rule(roles[name], f"roles.{name}") for name, role in _SECTIONS.items() if name in roles}
    if not rules:
        raise SignInError("secrets.toml: [roles] names nobody: give roles.viewers, roles.editors or both.")
    return rules


def _rule(section: Any, where: str) -> Rule:
    if not isinstance(section, Mapping):
        raise SignInError(f"secrets.toml: {where} must be a section with emails, claims or both.")
    for name in section:
        if name not in ("emails", "claims"):
            raise SignInError(f"secrets.toml: no key {where}.{name}.{did_you_mean(name, ('emails', 'claims'))}")
    emails = tuple(email.strip().lower() for email in _texts(section.get("emails", []), f"{where}.emails"))
    for email in emails:
        if email.count("@") != 1 or email.endswith("@") or "*" in email:
            raise SignInError(
                f"secrets.toml: {where}.emails has an entry that is no address: write ana@example.org, or "
                "@example.org for a whole domain."
            )
    claims = section.get("claims", {})
    if not isinstance(claims, Mapping):
        raise SignInError(f'secrets.toml: {where}.claims must name claims and values: {{groups = ["energy"]}}.')
    values = {name: _texts(value, f"{where}.claims.{name}") for name, value in claims.items()}
    if not emails and not any(values.values()):
        raise SignInError(f"secrets.toml: {where} names nobody: give emails, claims or both, or leave it out.")
    return Rule(emails, values)


def _texts(value: Any, where: str) -> tuple[str, ...]:
    many = [value] if isinstance(value, str) else value
    if not isinstance(many, list | tuple) or not all(isinstance(one, str) and one.strip() for one in many):
        raise SignInError(f"secrets.toml: {where} must be a list of texts.")
    return tuple(many)


def _flag(roles: Mapping[str, Any]) -> bool:
    value = roles.get(_UNVERIFIED, False)
    if not isinstance(value, bool):
        raise SignInError(f"secrets.toml: roles.{_UNVERIFIED} must be true or false.")
    return value


# --- where the app listens ---
def is_loopback(address: str | None) -> bool:
    """Tell whether an address reaches this machine only; a name other than ``localhost`` may be anything.

    Examples
    --------
    >>> [is_loopback(one) for one in ("localhost", "127.0.0.1", "::1", "127.8.0.1")]
    [True, True, True, True]
    >>> [is_loopback(one) for one in ("0.0.0.0", "::", "10.0.0.7", "ledger.example.org", "", None)]
    [False, False, False, False, False, False]

    """
    text = (address or "").strip().strip("[]").lower()
    if text == "localhost":
        return True
    try:
        found = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return (mapped or found).is_loopback


def refusal(address: str | None, sign_in: SignIn | None, without: str | None) -> str:
    """Return why the app must not listen on an address; an empty text where it may.

    Parameters
    ----------
    address : str or None
        The server's address; None is every address of the machine.
    sign_in : SignIn or None
        Sign-in, if it is described.
    without : str or None
        Address that somebody said may be open to everybody: it opens that one, no other.

    Examples
    --------
    >>> refusal("localhost", None, None)
    ''
    >>> refusal("0.0.0.0", None, None)[:78]
    'The app would be open to everybody who reaches 0.0.0.0: describe sign-in in .s'

    """
    if is_loopback(address) or sign_in is not None:
        return ""
    name = address or ALL_ADDRESSES
    if without == name:
        return ""
    where = "any address of this machine" if address is None else address
    return (
        f"The app would be open to everybody who reaches {where}: describe sign-in in .streamlit/secrets.toml "
        "(docs/app.md), listen on localhost, or say --without-sign-in if everybody may see and write."
    )


def secrets() -> Mapping[str, Any]:
    """Return the content of ``secrets.toml``; empty where there is no such file.

    Raises
    ------
    SignInError
        A file is there and cannot be read: to take it for none would let everybody in.
    """
    try:
        return {name: st.secrets[name] for name in st.secrets}
    except (StreamlitSecretNotFoundError, OSError, UnicodeDecodeError) as error:
        if any(Path(path).exists() for path in st.get_option("secrets.files")):
            raise SignInError("secrets.toml cannot be read: correct it; nobody is let in before.") from error
        return {}


def check_start(arguments: Sequence[str], environment: Mapping[str, str]) -> None:
    """Refuse a start that would listen to others without sign-in, before anything listens.

    Parameters
    ----------
    arguments : sequence of str
        Words of Streamlit's command line. Without ``--server.address`` (or its variable) the configuration decides,
        and ``gate`` looks at it when somebody comes.
    environment : mapping
        Variables of the process.

    Raises
    ------
    SignInError
        One line with the remedy.
    """
    address = environment.get("STREAMLIT_SERVER_ADDRESS")
    for place, word in enumerate(arguments):
        if word.startswith("--server.address="):
            address = word.partition("=")[2]
        elif word == "--server.address" and place + 1 < len(arguments):
            address = arguments[place + 1]
    described = read_sign_in(secrets())
    if described is not None:
        _check_packages()
    elif address is not None and (why := refusal(address, None, environment.get(WITHOUT_VARIABLE))):
        raise SignInError(why)


def _check_packages() -> None:
    lacking = [name for name in ("authlib", "httpx") if find_spec(name) is None]
    if lacking:
        raise SignInError(f"Sign-in needs {' and '.join(lacking)}: install with `pip install 'energy[app,auth]'`.")


# --- the reader of this session ---
def may_write() -> bool:
    """Tell whether this reader may change what is stored, uploads included; without sign-in whoever is let in may."""
    try:
        sign_in = read_sign_in(secrets())
    except SignInError:
        return False
    if sign_in is None:
        return not refusal(st.get_option("server.address"), None, os.environ.get(WITHOUT_VARIABLE))
    return sign_in.role_of(st.user.to_dict()) == "editor"


def need_editor(what: str) -> None:
    """Refuse a reader who may only look; whatever writes calls it first, since a hidden button is no lock.

    Parameters
    ----------
    what : str
        What was asked for, as ``upload files``.

    Raises
    ------
    SignInError
        The reader is no editor.
    """
    if not may_write():
        raise SignInError(f"Only editors may {what}: whoever runs this app gives that role (docs/app.md).")


def is_described() -> bool:
    """Tell whether sign-in is on; also where it is described wrongly, since nobody is let in then."""
    try:
        return read_sign_in(secrets()) is not None
    except SignInError:
        return True


def gate() -> bool:
    """Tell whether this reader may see the pages; where not, show why and the way in.

    What is wrong with the description goes to the server's log: a stranger need not know it.
    """
    try:
        sign_in = read_sign_in(secrets())
        if sign_in is not None:
            _check_packages()
    except SignInError as error:
        _LOG.error("%s", error)
        st.title("Closed")
        notice(
            "", ["The sign-in of this app is not rightly described, so nobody is let in. Its server's log says why."]
        )
        return False
    if sign_in is None:
        why = refusal(st.get_option("server.address"), None, os.environ.get(WITHOUT_VARIABLE))
        if why:
            _LOG.error("%s", why)
            st.title("Closed")
            notice("", [why])
        return not why
    if sign_in.role_of(st.user.to_dict()) is not None:
        return True
    if st.user.to_dict().get("is_logged_in") is True:
        st.title("No role here")
        notice("", [f"You are signed in as {_name()}, who has no role here. Ask whoever runs this app for one."])
        st.button("Sign out", on_click=st.logout, key="sign_in.leave")
    else:
        _ask(sign_in)
    return False


def _ask(sign_in: SignIn) -> None:
    st.title("Sign in")
    for provider in sign_in.providers:
        if provider == _DEFAULT:
            st.button("Sign in", on_click=st.login, key="sign_in.default")
        else:
            st.button(f"Sign in with {provider}", on_click=st.login, args=(provider,), key=f"sign_in.{provider}")


def _name() -> str:
    user = st.user.to_dict()
    return str(user.get("email") or user.get("name") or user.get("sub") or "somebody without a name")


def account(before_leaving: Callable[[], None]) -> None:
    """Show in the sidebar who is signed in, and the way out; nothing where sign-in is off.

    Parameters
    ----------
    before_leaving : callable
        Takes away what belongs to this session.
    """
    if not is_described():
        return

    def leave() -> None:
        before_leaving()
        st.logout()

    st.caption(f"Signed in as {_name()}, {'editor' if may_write() else 'viewer'}")
    st.button("Sign out", on_click=leave, key="sign_in.leave")
