"""What a service is told when it starts: where it listens, who may ask, and how much it takes on."""

from __future__ import annotations

import os
from dataclasses import dataclass
from ipaddress import ip_address

from merula.core import InputError
from merula.core.checks import checked_number

LOOPBACK = ("localhost", "127.0.0.1", "::1")
MIB = 2**20


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class Settings:
    """How a service is to be; what is not stated suits a machine of one's own.

    Examples
    --------
    >>> Settings().is_local, Settings(host="0.0.0.0", token="a long secret").is_local
    (True, False)
    """

    host: str = "127.0.0.1"
    port: int = 8000
    token: str | None = None
    without_token: bool = False
    hosts: tuple[str, ...] = ()  # names by which it may be asked, besides its own
    origins: tuple[str, ...] = ()  # of other hosts' pages that may ask
    max_body: int = 64 * MIB
    max_rows: int = 1_000_000
    max_header: int = 16 * 1024
    timeout: float = 30.0  # seconds for the body to come, and for the work
    concurrent: int = 0  # requests that are worked on at a time; 0: two for each core
    waiting: int = 32  # that wait for a place
    connections: int = 1_000
    grace: float = 30.0  # seconds to finish what was begun, when it is to stop
    poll: float = 1.0  # seconds between two looks at the files
    log: bool = True
    log_values: bool = False
    record: str | None = None  # the file that requests and answers are recorded in

    def __post_init__(self) -> None:
        for name in ("max_body", "max_rows", "connections"):
            checked_number(getattr(self, name), name, "a whole number from 1", lambda n: n >= 1, whole=True)
        for name in ("concurrent", "waiting", "port"):
            checked_number(getattr(self, name), name, "a whole number from 0", lambda n: n >= 0, whole=True)
        for name in ("timeout", "poll", "grace"):
            checked_number(getattr(self, name), name, "a number above 0", lambda n: n > 0)
        if self.token is not None and not (self.token.isascii() and self.token.isprintable() and self.token.strip()):
            raise InputError("the token must be plain letters, digits and signs", remedy="such as openssl rand -hex 32")
        if not self.is_local and self.token is None and not self.without_token:
            raise InputError.at(
                "host",
                f"is {self.host}, where other machines may ask, and there is no token",
                remedy="--token-file or MERULA_TOKEN states one, --without-token says that none is wanted",
            )

    @property
    def is_local(self) -> bool:
        """Whether only this machine can ask."""
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host in LOOPBACK

    @property
    def places(self) -> int:
        """How many requests are worked on at a time."""
        return self.concurrent or 2 * _cores()

    @property
    def known_hosts(self) -> frozenset[str] | None:
        """The names by which it may be asked; None for any, where a token says who may."""
        if self.hosts:
            return frozenset({name.lower() for name in self.hosts} | {self.host.lower()})
        return frozenset({*LOOPBACK, self.host.lower()}) if self.is_local else None
