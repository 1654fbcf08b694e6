"""What is asked now and then: the page, the list of models, what they hold, how the service is, and how to ask it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from html import escape
from typing import Any
from urllib.parse import quote

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from merula.core.versions import installed_version
from merula.web.said import Health, Metadata, ModelList, ModelNamed, json_schema
from merula.web.service.documentation import documentation_page
from merula.web.service.inference_protocol import model_told
from merula.web.service.metrics import MEDIA, Metrics
from merula.web.service.models import Served
from merula.web.service.openapi import openapi
from merula.web.service.refusals import RefusedError, not_found
from merula.web.service.shelf import Shelf
from merula.web.service.work import Work

Endpoint = Callable[[Request], Awaitable[Response]]
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
NO_PAGE = "this model has no page"


class Pages:
    """The answers to GET."""

    def __init__(self, shelf: Shelf, work: Work, metrics: Metrics, state: Callable[[], str]) -> None:
        self._shelf, self._work, self._metrics, self._state = shelf, work, metrics, state

    def application(self) -> Starlette:
        """The routes, and what becomes of addresses that are none."""
        routes = {
            "/": self.index, "/models/{name}": self.page, "/docs": self.documentation, "/openapi.json": self.openapi,
            "/v1/schema.json": self.schema, "/v1/models": self.models, "/v1/models/{name}": self.metadata, "/v1/models/{name}/metadata": self.metadata,
            "/healthz": self.health, "/readyz": self.ready, "/metrics": self.metrics, "/v2": self.protocol, "/v2/health/live": self.live,
            "/v2/health/ready": self.protocol_ready, "/v2/models/{name}": self.protocol_model, "/v2/models/{name}/ready": self.model_ready,
            "/v2/models/{name}/versions/{version}": self.protocol_model, "/v2/models/{name}/versions/{version}/ready": self.model_ready,
        }  # fmt: skip
        made = [Route(path, _named(path, endpoint), methods=["GET"]) for path, endpoint in routes.items()]
        handlers: Any = {HTTPException: _http_error, RefusedError: _refused}
        found = Starlette(routes=made, exception_handlers=handlers)
        found.router.redirect_slashes = False  # a redirection would name the host as who asks calls it
        return found

    def _served(self, request: Request) -> Served:
        served = self._shelf.get(request.path_params["name"])
        version = request.path_params.get("version", served.hash)
        if version != served.hash:
            raise not_found("this version of the model is not served")
        return served

    # ------------------------------------------------------------------------------------------------ for people

    async def index(self, request: Request) -> Response:
        """The page of the one model, or a list of several."""
        if len(self._shelf.models) == 1:
            return await self._page(request, next(iter(self._shelf.models.values())))
        return HTMLResponse(self._listing(), headers={"content-security-policy": POLICY})

    async def page(self, request: Request) -> Response:
        """The page of one model."""
        return await self._page(request, self._served(request))

    async def _page(self, request: Request, served: Served) -> Response:
        html = await self._made(request, served)
        if html is None:
            return HTMLResponse(self._listing(served), headers={"content-security-policy": POLICY})
        return HTMLResponse(html)

    async def _made(self, request: Request, served: Served) -> str | None:
        """The page of a model, made once; None where it has none."""
        if "page" not in served.pages:
            exchange = request.scope["exchange"]
            served.pages["page"] = await exchange.work.run(exchange.deadline, _page_of, served)
        return served.pages["page"] or None

    def _listing(self, only: Served | None = None) -> str:
        """The models as a plain list; of one that has no page, why."""
        shown = [only] if only else list(self._shelf.models.values())
        items = [
            f'<li><a href="/models/{quote(one.name)}">{escape(one.name)}</a>: {escape(one.about["model"])}, <a href="/v1/models/{quote(one.name)}/metadata">metadata</a></li>'
            for one in shown
        ]
        why = f"<p>{escape(only.pages.get('why', NO_PAGE))}</p>" if only else ""
        return f'<!doctype html><html lang="en"><meta charset="utf-8"><title>merula</title><style>body{{font:16px/1.5 system-ui;margin:2rem auto;max-width:45rem;color-scheme:light dark}}</style><h1>Models</h1><ul>{"".join(items)}</ul>{why}<p><a href="/docs">How to ask them</a></p></html>'

    async def documentation(self, request: Request) -> Response:
        """How the service is asked, as a page that needs nothing from elsewhere."""
        return HTMLResponse(documentation_page(openapi(self._shelf)), headers={"content-security-policy": POLICY})

    async def openapi(self, request: Request) -> Response:
        """The same for machines."""
        return _json(openapi(self._shelf))

    async def schema(self, request: Request) -> Response:
        """The JSON Schema of everything that is said."""
        return _json(json_schema())

    # ------------------------------------------------------------------------------------------------ for machines

    async def models(self, request: Request) -> Response:
        """The models that are served."""
        return _json(ModelList([ModelNamed(**self._name(served)) for served in self._shelf.models.values()]))

    def _name(self, served: Served) -> dict[str, Any]:
        return {
            "name": served.name,
            "hash": served.hash,
            "kind": served.kind,
            "model": served.about["model"],
            "loaded": served.loaded,
            "problem": self._shelf.problems.get(served.name),
        }

    async def metadata(self, request: Request) -> Response:
        """What a model holds."""
        served = self._served(request)
        return _json(Metadata(**{**served.about, **self._name(served), "page": served.pages.get("why")}))

    async def health(self, request: Request) -> Response:
        """Whether the service lives."""
        return _json(Health("ok"))

    async def ready(self, request: Request) -> Response:
        """Whether the service takes requests."""
        state: Any = self._state()
        return _json(Health(state), 200 if state == "ok" else 503)

    async def metrics(self, request: Request) -> Response:
        """What was counted."""
        return Response(self._metrics.text(self._shelf, self._work), headers={"content-type": MEDIA.decode()})

    async def protocol(self, request: Request) -> Response:
        """The server, as the Open Inference Protocol has it."""
        return _json({"name": "merula", "version": installed_version("merula"), "extensions": []})

    async def live(self, request: Request) -> Response:
        """Whether it lives, in the words of the protocol."""
        return _json({"live": True})

    async def protocol_ready(self, request: Request) -> Response:
        """Whether it is ready, likewise."""
        is_ready = self._state() == "ok"
        return _json({"ready": is_ready}, 200 if is_ready else 503)

    async def protocol_model(self, request: Request) -> Response:
        """A model, likewise."""
        served = self._served(request)
        if served.saved is None:
            raise RefusedError(422, "a network has no columns to infer from", remedy="ask it: POST /v1/models/…/query")
        return _json(model_told(served))

    async def model_ready(self, request: Request) -> Response:
        """Whether a model is ready, likewise."""
        return _json({"name": self._served(request).name, "ready": True})


def _page_of(served: Served) -> str:
    """The page of a model; empty where it has none, and why is kept."""
    try:
        from merula.web.page import page_html  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        served.pages["why"] = NO_PAGE
        return ""
    try:
        costs = served.saved and served.saved.costs
        return str(page_html(served.model, costs=costs, name=served.name))
    except (ValueError, ImportError) as error:
        served.pages["why"] = f"{NO_PAGE}: {' '.join(str(error).split())[:500]}"
        return ""


def _named(path: str, endpoint: Endpoint) -> Endpoint:
    """An endpoint that says for the metrics which route it is."""

    async def answer(request: Request) -> Response:
        exchange = request.scope["exchange"]
        exchange.route = path
        return await endpoint(request)

    return answer


def _json(said: Any, status: int = 200) -> Response:
    return Response(msgspec.json.encode(said), status, media_type="application/json")


async def _http_error(_: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 500)
    words = {404: "there is nothing at this address", 405: "this address is not asked in this way"}
    refusal = RefusedError(
        status, words.get(status, "the request cannot be answered"), remedy="GET /docs tells how to ask"
    )
    return Response(refusal.body, status, getattr(error, "headers", None), "application/json")


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, RefusedError)
    headers = {name.decode(): value.decode() for name, value in error.headers}
    return Response(error.body, error.status, headers, "application/json")
