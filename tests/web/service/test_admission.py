"""Who may ask: tokens, names of the host, pages of other hosts, names of models that are paths."""

import pytest
from tests.web.service.conftest import running

from merula.core import InputError
from merula.web.service import Settings, named_files

ADDRESSES = [
    "/", "/docs", "/openapi.json", "/v1/models", "/v1/schema.json", "/v1/models/penguins/metadata", "/models/penguins", "/metrics", "/v2",
    "/v2/models/penguins", "/v2/models/penguins/ready", "/nothing",
]  # fmt: skip
HEALTH = ["/healthz", "/readyz", "/v2/health/live", "/v2/health/ready"]
POSTS = ["/v1/models/penguins/predict", "/v1/models/penguins/explain", "/v1/models/garden/query", "/v2/models/penguins/infer", "/v1/models/none/predict"]  # fmt: skip
TOKEN = "f3a1-long-and-secret"


@pytest.fixture(scope="module")
def guarded(models):
    with running({name: models[name] for name in ("penguins", "garden")}, token=TOKEN) as one:
        yield one


@pytest.mark.parametrize("given", [None, "", "Bearer", "Bearer ", f"Basic {TOKEN}", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", TOKEN, f"Bearer  {TOKEN} {TOKEN}"])  # fmt: skip
def test_without_the_token_nothing_but_health_answers(guarded, given):
    headers = {} if given is None else {"authorization": given}
    for path in ADDRESSES:
        status, told, body = guarded.ask("GET", path, **headers)
        assert status == 401 and told["www-authenticate"] == "Bearer"
        assert b"penguins" not in body
    for path in POSTS:
        assert guarded.ask("POST", path, b"{}", **headers)[0] == 401
    for path in HEALTH:
        assert guarded.ask("GET", path, **headers)[0] == 200


def test_with_the_token_all_answer(guarded):
    for path in ADDRESSES[:-1]:
        assert guarded.ask("GET", path, authorization=f"Bearer {TOKEN}")[0] == 200, path
    assert guarded.json(POSTS[0], {"island": "Dream"}, authorization=f"bearer {TOKEN}")[0] == 200


def test_tokens_are_compared_in_constant_time(monkeypatch, guarded):
    from merula.web.service import admission

    compared = []
    monkeypatch.setattr(admission, "compare_digest", lambda a, b: compared.append((len(a), len(b))) or a == b)
    for token in ("x", TOKEN[:-1], TOKEN, 9_000 * "y"):
        guarded.ask("GET", "/v1/models", authorization=f"Bearer {token}")
    assert compared == [(32, 32)] * 4


@pytest.mark.parametrize("name", ["..", "%2e%2e", "../../etc/passwd", "..%2f..%2fetc%2fpasswd", "penguins%00", "penguins/..", "%2Ftmp", "penguins.merula", "。。", "\\..\\"])  # fmt: skip
def test_names_that_are_paths_are_no_models(service, name):
    from urllib.parse import quote

    name = quote(name, safe="%/.")
    for path in (f"/v1/models/{name}/metadata", f"/models/{name}", f"/v2/models/{name}"):
        status, _, body = service.ask("GET", path)
        assert status in (404, 405, 422), path
        assert b"root:" not in body and b"/tmp" not in body
    assert service.ask("POST", f"/v1/models/{name}/predict", b"{}")[0] in (404, 405)


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "", "localhost.evil", "[::2]"]
)
def test_other_names_of_the_host_are_refused(service, host):
    assert service.ask("GET", "/v1/models", host=host)[0] == 421
    assert service.ask("POST", "/v1/models/penguins/predict", b"{}", host=host)[0] == 421


@pytest.mark.parametrize("host", ["localhost", "localhost:9", "127.0.0.1", "[::1]:80", "LOCALHOST"])
def test_its_own_names_are_known(service, host):
    assert service.ask("GET", "/v1/models", host=host)[0] == 200


def test_pages_of_other_hosts_may_not_ask(service):
    for origin in ("https://evil.example", "null", "http://localhost:1"):
        status, headers, _ = service.ask("POST", "/v1/models/penguins/predict", b"{}", origin=origin)
        assert status == 403 and "access-control-allow-origin" not in headers
        assert service.ask("OPTIONS", "/v1/models/penguins/predict", origin=origin, access_control_request_method="POST")[0] == 403  # fmt: skip
    assert service.ask("GET", "/v1/models", sec_fetch_site="cross-site", sec_fetch_mode="no-cors")[0] == 403
    assert service.ask("GET", "/", sec_fetch_site="cross-site", sec_fetch_mode="navigate")[0] == 200
    own = f"http://127.0.0.1:{service.port}"
    assert service.ask("POST", "/v1/models/penguins/predict", b"{}", origin=own)[0] == 200


def test_hosts_and_origins_may_be_allowed(models):
    settings = {"hosts": ("models.example",), "origins": ("https://intranet.example",)}
    with running({"penguins": models["penguins"]}, **settings) as one:
        assert one.ask("GET", "/v1/models", host="models.example")[0] == 200
        path, origin = "/v1/models/penguins/predict", "https://intranet.example"
        status, headers, _ = one.ask("POST", path, b"{}", origin=origin)
        assert (status, headers["access-control-allow-origin"]) == (200, origin)
        status, headers, _ = one.ask("OPTIONS", path, origin=origin, access_control_request_method="POST")
        assert status == 204 and "POST" in headers["access-control-allow-methods"]
        assert "content-length" not in headers and "content-type" not in headers


def test_other_machines_are_not_let_in_by_mistake():
    with pytest.raises(InputError, match="no token"):
        Settings(host="0.0.0.0")
    assert Settings(host="0.0.0.0", without_token=True).known_hosts is None
    assert Settings(host="0.0.0.0", token="secret").known_hosts is None
    with pytest.raises(InputError, match="token"):
        Settings(token="geheim\n")


def test_models_are_named(models):
    assert list(named_files(["a/penguins.merula", "b=c.merula", "net.bif.gz"])) == ["penguins", "b", "net"]
    for words in ([], ["x=a", "x=b"], ["a/b=c"], ["..=c"]):
        with pytest.raises(InputError):
            named_files(words)
