"""The REST door: the same verbs as JSON, with an OpenAPI document."""

from collections.abc import Mapping
from typing import Annotated, Any

import sqlalchemy as sa
from fastapi import APIRouter, Depends, FastAPI, Path, Query, Request, Response, Security
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.security import HTTPBearer
from starlette.exceptions import HTTPException

from chartpact._version import VERSION
from chartpact.problem import Failure, Problem
from chartpact.script import manual
from chartpact.server import connect_page, shapes
from chartpact.server.allowance import TooMuch
from chartpact.server.refusals import NO_DATABASE, UNEXPECTED, status_of
from chartpact.server.settings import UserLimits
from chartpact.server.verbs import Verbs

PRIVATE = {"Cache-Control": "private, no-store"}
PICTURE = {"Content-Security-Policy": connect_page.PICTURE_POLICY}

Name = Annotated[str, Path(max_length=128, json_schema_extra=shapes.NAME_LIMIT)]
Cursor = Annotated[str | None, Query(max_length=128, description="next of an earlier answer")]
Filter = Annotated[str, Query(max_length=128, description="words of a name or a description")]


def get_user(request: Request) -> str:
    """The user whose request it is, as the front identified them."""
    return str(request.scope["chartpact.user"])


def get_inline_bars(request: Request) -> Any:
    """The bars of a large body, which a worker has read; a text says what is wrong with them."""
    return request.scope.get("chartpact.bars")


User = Annotated[str, Depends(get_user)]
ReadBars = Annotated[Any, Depends(get_inline_bars)]

# Who is calling is decided in front of every route; this declares it in the OpenAPI document.
_BEARER = HTTPBearer(
    auto_error=False, description="A token of yours; a server on loopback may need none."
)

# FastAPI builds a validator for every model of every route: one names it, the others refer to it.
_A_PROBLEM = {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
_ERRORS: dict[int | str, dict[str, Any]] = {
    400: {"model": shapes.ProblemOut},
    **{code: {"content": _A_PROBLEM} for code in (401, 404, 413, 422, 429, 502, 503, 504)},
    431: {"description": "The address and the headers have more than 64 KB"},
}

_FILE: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            kind: {"schema": {"type": "string", "format": "binary"}}
            for kind in ("text/csv", "application/octet-stream")
        },
    }
}


def _add_study(api: APIRouter, verbs: Verbs) -> None:
    @api.post("/study")
    async def study(user: User, ask: shapes.StudyAsk) -> shapes.StudyOut:
        """What followed signals, and whether chance does as much; counted in your ledger.

        What would not be honest is refused, with a kind of `rewrites`, `provisional`, `undated`,
        `too_few`, `too_long` or `no_side`.
        """
        return await verbs.study_signals(user, ask)


def routes(verbs: Verbs) -> APIRouter:
    """Every route under /api/v1."""
    api = APIRouter(prefix="/api/v1", responses=_ERRORS, dependencies=[Security(_BEARER)])

    @api.get("/indicators", response_model=shapes.Indicators)
    async def list_indicators(user: User, filter: Filter = "", detail: bool = True) -> Response:
        """Builtins and your own scripts, with their parameters unless `detail` is false."""
        listing = await verbs.list_indicators(user, filter, detail)
        return Response(listing.out, media_type="application/json")

    @api.get("/symbols")
    async def list_symbols(user: User) -> shapes.Symbols:
        """What can be drawn."""
        return await verbs.list_symbols(user)

    @api.post("/charts", response_model=shapes.ChartOut)
    async def chart_values(user: User, ask: shapes.ChartAsk, bars: ReadBars) -> Response:
        """Last values, signals and errors (with format "series" the series too)."""
        ask = _with_format(ask, "summary", "series")
        picture = await verbs.charts.draw(user, ask, bars)
        return Response(picture.out, media_type="application/json")

    @api.post(
        "/charts/image",
        response_class=Response,
        responses={200: {"content": {"image/png": {}, "image/svg+xml": {}}}},
    )
    async def chart_image(user: User, ask: shapes.ChartAsk, bars: ReadBars) -> Response:
        """The picture itself, PNG or SVG."""
        picture = await verbs.charts.draw(user, _with_format(ask, "png", "svg"), bars)
        return Response(picture.image, media_type=picture.mime, headers=PICTURE)

    @api.post(
        "/charts/series",
        response_class=Response,
        responses={200: {"content": {"application/octet-stream": {}}}},
    )
    async def chart_series(user: User, ask: shapes.SeriesAsk) -> Response:
        """A chart as typed columns, whole or a range of its bars, for programs that draw.

        The body is eight bytes, `cpact`, 0, 1 and a line feed; two little-endian uint64, the sizes
        of the JSON and of the arrays; then the JSON, `[HEAD, [[TYPE, COUNT], …]]`, and the arrays,
        each padded to eight bytes. The types are d (float64), q (int64), H (uint16) and B (uint8).
        A column stands in the head as `{"$": NUMBER}`, its place in the list; a colour for each bar
        as `{"palette": […], "codes": COLUMN}`. An indicator that ran as a script has the `steps`
        that its run was charged and the milliseconds of processor time that it took (`cpu_ms`).
        """
        out = await verbs.charts.encode_series(user, ask)
        return Response(out, media_type="application/octet-stream")

    @api.post("/check")
    async def check(user: User, script: shapes.CheckAsk) -> shapes.CheckOut:
        """Checks a source and tries it, the way registering it would; nothing is kept."""
        return await verbs.charts.check(user, script.source)

    @api.post("/prove")
    async def prove(user: User, ask: shapes.ProveAsk) -> shapes.ProofOut:
        """Does it rewrite its past? It is run on prefixes of the bars, and drawings compared."""
        return await verbs.charts.prove(user, ask)

    _add_study(api, verbs)

    @api.get("/reference")
    async def reference() -> shapes.Reference:
        """The names of the script language, for editors."""
        entries = [shapes.ReferenceEntry(**vars(entry)) for entry in manual.entries()]
        return shapes.Reference(version=VERSION, entries=entries)

    @api.get("/thumbnails")
    async def thumbnails(user: User) -> shapes.Thumbnails:
        """A small picture of every indicator that draws on a sample as it is."""
        return await verbs.draw_thumbnails(user)

    @api.get("/my/layout")
    async def get_layout(user: User) -> shapes.LayoutOut:
        """How you left your page; null where you have not been there."""
        return await verbs.get_layout(user)

    @api.put("/my/layout")
    async def put_layout(user: User, layout: shapes.Layout) -> shapes.Outcome:
        """Keeps how you left your page."""
        return await verbs.put_layout(user, layout.layout)

    @api.get("/me")
    async def me(user: User) -> shapes.Me:
        """Whose token or session it is, and what they may do here."""
        return verbs.describe_user(user)

    @api.post("/state")
    async def read_state(user: User, ask: shapes.StateAsk) -> shapes.StateOut:
        """Typed state: what several contracts read from their pacts on one chart."""
        return await verbs.read_state(user, ask)

    @api.get("/forks/{builtin_name}")
    async def fork_indicator(builtin_name: Name) -> shapes.Fork:
        """The editable source of a builtin."""
        return await verbs.fork_indicator(builtin_name)

    @api.get("/my/indicators")
    async def list_my_indicators(user: User) -> shapes.MyIndicators:
        """Your own scripts."""
        return await verbs.list_my_indicators(user)

    @api.get("/my/indicators/{name}")
    async def get_indicator_source(user: User, name: Name) -> shapes.SourceOut:
        """The source of one of your scripts."""
        return await verbs.get_indicator_source(user, name)

    @api.put("/my/indicators/{name}")
    async def register_indicator(
        user: User, name: Name, script: shapes.NewScript
    ) -> shapes.Outcome:
        """Validates and keeps a script; with ok false nothing was changed."""
        return await verbs.register_indicator(user, name, script.source, script.params_schema)

    @api.patch("/my/indicators/{name}")
    async def update_indicator(
        user: User, name: Name, script: shapes.UpdatedScript
    ) -> shapes.Outcome:
        """A new source for a script that is there."""
        return await verbs.update_indicator(user, name, script.source)

    @api.delete("/my/indicators/{name}")
    async def delete_indicator(user: User, name: Name) -> shapes.Outcome:
        """Takes a script out of use."""
        return await verbs.delete_indicator(user, name)

    @api.get("/my/indicators/{name}/versions")
    async def history(user: User, name: Name, sources: bool = True) -> shapes.Versions:
        """The kept versions, newest first, without their sources where `sources` is false."""
        return await verbs.history(user, name, sources)

    @api.post("/my/indicators/{name}/restore")
    async def restore(user: User, name: Name, which: shapes.Restore) -> shapes.Outcome:
        """Puts an earlier version back in force."""
        return await verbs.restore(user, name, which.version)

    @api.get("/my/bars")
    async def list_bars(user: User) -> shapes.MyBars:
        """Your own files of bars, drawn as NAME@mine."""
        return await verbs.list_bars(user)

    @api.put("/my/bars/{name}", openapi_extra=_FILE)
    async def put_bars(
        user: User, name: Name, known: Annotated[shapes.LoadQuery, Query()], request: Request
    ) -> shapes.StoredBars:
        """Checks a CSV or Parquet file, the request's body, and keeps it under the name."""
        given = known.model_dump(exclude_defaults=True)
        return await verbs.put_bars(user, name, await request.body(), given)

    @api.post("/my/bars/{name}/check", openapi_extra=_FILE)
    async def check_bars(
        user: User, name: Name, known: Annotated[shapes.LoadQuery, Query()], request: Request
    ) -> shapes.StoredBars:
        """What a file would be read as, with all that was guessed of it; it is not kept."""
        given = known.model_dump(exclude_defaults=True)
        return await verbs.check_bars(user, name, await request.body(), given)

    @api.get(
        "/my/bars/{name}",
        response_class=Response,
        responses={200: {"content": {"application/octet-stream": {}}}},
    )
    async def get_bars(user: User, name: Name) -> Response:
        """One of your files, as you put it in."""
        content = await verbs.get_bars(user, name)
        return Response(content, media_type="application/octet-stream")

    @api.delete("/my/bars/{name}")
    async def delete_bars(user: User, name: Name) -> shapes.Outcome:
        """Deletes one of your files."""
        return await verbs.delete_bars(user, name)

    @api.get("/my/library")
    async def export(user: User) -> shapes.Library:
        """Your whole library."""
        return await verbs.export(user)

    @api.put("/my/library")
    async def load(user: User, library: shapes.Library) -> shapes.Outcome:
        """Registers every script of an export, or none."""
        return await verbs.load(user, library)

    _add_page_routes(api, verbs)
    _add_contract_routes(api, verbs)
    return api


# A picture by its address: nobody else's page may show it, and no cache keeps it.
LINKED = {**PICTURE, **PRIVATE, "Cross-Origin-Resource-Policy": "same-origin"}
OWN_SITES = ("same-origin", "none")


def picture_routes(verbs: Verbs) -> APIRouter:
    """Pictures by an address, for people: `/chart.png?symbol=sample:es-5m&i=rsi:period=7`."""
    api = APIRouter(responses=_ERRORS, dependencies=[Security(_BEARER)])

    async def draw(user: str, request: Request, link: shapes.PictureLink, kind: str) -> Response:
        site = request.headers.get("sec-fetch-site", "none")
        if site not in OWN_SITES:
            raise HTTPException(403, "pages of other sites may not show this picture")
        fields = link.model_dump(exclude={"i", "tf", "tz"})
        fields |= {"indicators": link.i, "timeframe": link.tf, "format": kind}
        ask = shapes.ChartAsk.model_validate(fields)
        picture = await verbs.charts.draw(user, ask, None, link.tz)
        return Response(picture.image, media_type=picture.mime, headers=LINKED)

    Link = Annotated[shapes.PictureLink, Query()]

    @api.get("/chart.png", response_class=Response, responses={200: {"content": {"image/png": {}}}})
    async def chart_png(user: User, request: Request, link: Link) -> Response:
        """The picture of a chart as PNG; indicators and symbols are names."""
        return await draw(user, request, link, "png")

    @api.get(
        "/chart.svg", response_class=Response, responses={200: {"content": {"image/svg+xml": {}}}}
    )
    async def chart_svg(user: User, request: Request, link: Link) -> Response:
        """The picture of a chart as SVG; indicators and symbols are names."""
        return await draw(user, request, link, "svg")

    return api


def _add_page_routes(api: APIRouter, verbs: Verbs) -> None:
    """What the page asks for beside charts."""

    @api.post("/bars/after")
    async def bars_after(user: User, ask: shapes.BarsAfterAsk) -> shapes.BarsAfter:
        """How many bars have closed after one, and the one that is forming, for live charts."""
        return await verbs.charts.find_bars_after(user, ask)

    @api.get("/my/watchlists")
    async def list_watchlists(user: User) -> shapes.WatchlistsOut:
        """Your watchlists, by name."""
        return await verbs.list_watchlists(user)

    @api.put("/my/watchlists/{name}")
    async def put_watchlist(
        user: User, name: Name, watchlist: shapes.WatchlistIn
    ) -> shapes.WatchlistOut:
        """Keeps the symbols of a watchlist, in place of what it had."""
        return await verbs.put_watchlist(user, name, watchlist.symbols)

    @api.delete("/my/watchlists/{name}")
    async def remove_watchlist(user: User, name: Name) -> shapes.Outcome:
        """Removes a watchlist."""
        return await verbs.remove_watchlist(user, name)


def _add_contract_routes(api: APIRouter, verbs: Verbs) -> None:
    @api.get("/contracts")
    async def list_contracts(user: User) -> shapes.ContractList:
        """The contracts that ship, and your own."""
        return await verbs.contracts.list_contracts(user)

    @api.post("/contracts/check")
    async def check_contract(user: User, contract: shapes.ContractIn) -> shapes.ContractOutcome:
        """Makes every proof about a contract, and keeps nothing."""
        return await verbs.contracts.check_contract(user, contract.source)

    @api.post("/contracts/draft")
    async def draft_contract(user: User, ask: shapes.DraftAsk) -> shapes.DraftOut:
        """A starting contract, from a snapshot or from an indicator on a symbol."""
        return await verbs.contracts.draft_contract(user, ask)

    @api.post("/contracts/match")
    async def match_contract(user: User, ask: shapes.MatchAsk) -> shapes.MatchOut:
        """Tries a contract: what it reads, and which element each drawn object matched."""
        return await verbs.contracts.match_contract(user, ask)

    @api.get("/contracts/{name}")
    async def get_contract(user: User, name: Name) -> shapes.ContractOut:
        """A contract with its text."""
        return await verbs.contracts.get_contract(user, name)

    @api.get("/strategies")
    async def list_strategies(user: User) -> shapes.StrategyList:
        """The strategies that ship, and your own."""
        return await verbs.strategies.list_strategies(user)

    @api.post("/strategies/check")
    async def check_strategy(user: User, strategy: shapes.ContractIn) -> shapes.ContractOutcome:
        """Makes every proof about a strategy, and keeps nothing."""
        return await verbs.strategies.check_strategy(user, strategy.source)

    @api.post("/strategies/state")
    async def read_strategies(user: User, ask: shapes.StateAsk) -> shapes.StateOut:
        """What strategies, and contracts beside them, say on one chart."""
        return await verbs.read_state(user, ask)

    @api.get("/strategies/{name}")
    async def get_strategy(user: User, name: Name) -> shapes.StrategyOut:
        """A strategy with its text."""
        return await verbs.strategies.get_strategy(user, name)

    @api.put("/my/strategies/{name}")
    async def register_strategy(
        user: User, name: Name, strategy: shapes.ContractIn
    ) -> shapes.ContractOutcome:
        """Checks and keeps a strategy of yours; with ok false nothing was changed."""
        return await verbs.strategies.register_strategy(user, strategy.source, name)

    @api.delete("/my/strategies/{name}")
    async def delete_strategy(user: User, name: Name) -> shapes.Outcome:
        """Takes a strategy of yours out of use."""
        return await verbs.strategies.delete_strategy(user, name)

    @api.put("/my/contracts/{name}")
    async def register_contract(
        user: User, name: Name, contract: shapes.ContractIn
    ) -> shapes.ContractOutcome:
        """Checks and keeps a contract of yours; with ok false nothing was changed."""
        return await verbs.contracts.register_contract(user, contract.source, name)

    @api.delete("/my/contracts/{name}")
    async def delete_contract(user: User, name: Name) -> shapes.Outcome:
        """Takes a contract of yours out of use."""
        return await verbs.contracts.delete_contract(user, name)

    @api.get("/my/contracts/{name}/versions")
    async def contract_versions(user: User, name: Name) -> shapes.ContractVersions:
        """The kept versions, newest first."""
        return await verbs.contracts.history(user, name)

    @api.post("/my/contracts/{name}/restore")
    async def restore_contract(
        user: User, name: Name, which: shapes.Restore
    ) -> shapes.ContractOutcome:
        """Puts an earlier version back in force."""
        return await verbs.contracts.restore(user, name, which.version)

    @api.get("/my/follows")
    async def list_follows(user: User) -> shapes.FollowList:
        """What you follow."""
        return await verbs.following.list_follows(user)

    @api.post("/my/follows")
    async def follow_state(user: User, ask: shapes.FollowAsk) -> shapes.FollowList:
        """Follows contracts: they are read every so many seconds, and changes are kept."""
        return await verbs.following.follow_state(user, ask)

    @api.get("/my/follows/{number}")
    async def get_follow(user: User, number: int) -> shapes.FollowDetail:
        """A follow: what was read last, since when its states count, and the latest changes."""
        return await verbs.following.get_follow(user, number)

    @api.patch("/my/follows/{number}")
    async def change_follow(
        user: User, number: int, change: shapes.FollowChange
    ) -> shapes.FollowOut:
        """Pauses a follow, or lets it go on."""
        return await verbs.following.pause(user, number, change.paused)

    @api.delete("/my/follows/{number}")
    async def unfollow_state(user: User, number: int) -> shapes.Outcome:
        """Ends a follow, and deletes its journal."""
        return await verbs.following.unfollow_state(user, number)

    @api.get("/my/follows/{number}/changes")
    async def get_state_changes(
        user: User, number: int, since: Cursor = None
    ) -> shapes.StateChanges:
        """What changed after a cursor; without one, the states and a cursor."""
        return await verbs.following.get_state_changes(user, number, since)


def declare_limits(app: FastAPI, limits: UserLimits) -> None:
    """Lets the OpenAPI document declare what this server allows."""

    def openapi() -> dict[str, Any]:
        schema = FastAPI.openapi(app)
        shapes.declare_limits(schema, vars(limits))
        return schema

    app.openapi = openapi  # type: ignore[method-assign]


def _with_format(ask: shapes.ChartAsk, default: str, *others: str) -> shapes.ChartAsk:
    """The request with a format that the route can answer in."""
    fits = ask.format in (default, *others)
    return ask if fits else ask.model_copy(update={"format": default})


def _says_json(request: Request) -> bool:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind == "application/json" or (
        kind.startswith("application/") and kind.endswith("+json")
    )


def _explain(wrong: Mapping[str, Any]) -> str:
    if wrong["type"] == "json_invalid":
        return f"the body is not JSON: {wrong['ctx']['error']} (character {wrong['loc'][-1]})"
    return f"{'.'.join(map(str, wrong['loc']))}: {wrong['msg'].removeprefix('Value error, ')}"


def answer_failures(app: FastAPI) -> None:
    """Turns every exception into a status and a problem."""

    def answer(status: int, problem: Problem, headers: Mapping[str, str]) -> JSONResponse:
        return JSONResponse(problem.to_json(), status, headers={**PRIVATE, **headers})

    @app.exception_handler(Failure)
    async def failed(_: Request, failure: Failure) -> JSONResponse:
        if isinstance(failure, TooMuch):
            wait_s = str(int(failure.retry_after_s) + 1)
            return answer(429, failure.problem, {"Retry-After": wait_s})
        return answer(status_of(failure), failure.problem, {})

    @app.exception_handler(RequestValidationError)
    async def malformed(request: Request, error: RequestValidationError) -> JSONResponse:
        # Places and reasons only: what was sent may not even be JSON.
        errors = error.errors()
        message = "; ".join(map(_explain, errors[:5]))
        if any(wrong["loc"] == ("body",) for wrong in errors) and not _says_json(request):
            message = "send the body as JSON, with the header Content-Type: application/json"
        return answer(422, Problem("value", message[:1000]), {})

    @app.exception_handler(HTTPException)
    async def not_routed(request: Request, error: HTTPException) -> JSONResponse:
        status, headers = error.status_code, error.headers or {}
        kind, message = "value", str(error.detail)
        if status == 404:
            path = f"{request.url.path:.200}"
            kind, message = "name", f"there is nothing at {path}; /openapi.json lists every path"
        elif status == 405:
            allowed = headers.get("Allow", "none")
            message = f"{request.method:.20} is not for this path; {allowed} is"
        return answer(status, Problem(kind, message), headers)

    @app.exception_handler(sa.exc.TimeoutError)  # all connections are in use
    @app.exception_handler(sa.exc.DBAPIError)
    async def no_database(request: Request, error: sa.exc.SQLAlchemyError) -> JSONResponse:
        request.scope["chartpact.database_failed"](error)
        return answer(503, Problem("busy", NO_DATABASE), {"Retry-After": "5"})

    @app.exception_handler(Exception)
    async def unexpected(_: Request, __: Exception) -> JSONResponse:
        return answer(500, Problem("crash", UNEXPECTED), {})
