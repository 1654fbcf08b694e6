"""Who may ask: the token, the name by which the service is asked, and pages of other hosts."""

from __future__ import annotations

from hashlib import sha256
from hmac import compare_digest

from merula.web.service.exchange import Exchange
from merula.web.service.refusals import RefusedError
from merula.web.service.settings import Settings

HEALTH = frozenset({"/healthz", "/readyz", "/v2/health/live", "/v2/health/ready"})
METHODS = b"GET, HEAD, POST, OPTIONS"


class Admission:
    """What is asked of every request before anything else; health answers anybody."""

    def __init__(self, settings: Settings) -> None:
        self._token = None if settings.token is None else sha256(settings.token.encode()).digest()
        self._hosts, self._origins = settings.known_hosts, frozenset(origin.lower() for origin in settings.origins)

    def check(self, exchange: Exchange) -> None:
        """A refusal for who may not ask."""
        if exchange.path in HEALTH:
            return
        if self._hosts is not None and _host(exchange.header(b"host")) not in self._hosts:
            raise RefusedError(
                421, "this service is not asked by that name", where="host", remedy="--allow-host adds a name"
            )
        self._check_origin(exchange)
        if self._token is not None and exchange.method != "OPTIONS":
            self._check_token(exchange.header(b"authorization"))

    def _check_token(self, given: bytes) -> None:
        """Compare digests, which take the same time however much of the token is right."""
        scheme, _, token = given.partition(b" ")
        known = compare_digest(sha256(token.strip()).digest(), self._token or b"")
        if not (known and scheme.lower() == b"bearer"):
            raise RefusedError(
                401,
                "a token is needed" if not given else "the token is not the one that is expected",
                ((b"www-authenticate", b"Bearer"),),
                where="authorization",
                expected="Bearer and the token",
            )

    def _check_origin(self, exchange: Exchange) -> None:
        """Refuse pages of other hosts, unless they were named."""
        origin = exchange.header(b"origin").decode("latin-1").lower()
        if not origin:
            crossed = exchange.header(b"sec-fetch-site") == b"cross-site"
            if crossed and exchange.header(b"sec-fetch-mode") != b"navigate":
                raise _foreign()
            return
        if origin in self._origins:
            exchange.cors = ((b"access-control-allow-origin", origin.encode("latin-1")), (b"vary", b"origin"))
            if exchange.method == "OPTIONS":
                exchange.cors += (
                    (b"access-control-allow-methods", METHODS),
                    (b"access-control-allow-headers", b"authorization, content-type"),
                    (b"access-control-max-age", b"600"),
                )
        elif origin.partition("://")[2] != exchange.header(b"host").decode("latin-1").lower():
            raise _foreign()


def _foreign() -> RefusedError:
    return RefusedError(403, "pages of other hosts may not ask", where="origin", remedy="--allow-origin names those that may")  # fmt: skip


def _host(header: bytes) -> str:
    """The name in a Host header, without its port."""
    text = header.decode("latin-1").strip().lower()
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0]
