"""In which formats rows may come and answers may go, by the names that HTTP has for them."""

from __future__ import annotations

from merula.web.service.refusals import RefusedError

JSON, LINES, CSV, ARROW, ARROW_FILE, PARQUET, TSV = "json", "lines", "csv", "arrow", "arrow file", "parquet", "tsv"
ACCEPTED = {
    "application/json": JSON,
    "text/json": JSON,
    "application/x-ndjson": LINES,
    "application/ndjson": LINES,
    "application/jsonl": LINES,
    "application/x-jsonlines": LINES,
    "text/csv": CSV,
    "application/csv": CSV,
    "text/tab-separated-values": TSV,
    "application/vnd.apache.arrow.stream": ARROW,
    "application/vnd.apache.arrow.file": ARROW_FILE,
    "application/vnd.apache.parquet": PARQUET,
}
WRITTEN = {
    JSON: "application/json",
    LINES: "application/x-ndjson",
    CSV: "text/csv; charset=utf-8",
    ARROW: "application/vnd.apache.arrow.stream",
}
ANSWERED = {TSV: CSV, ARROW_FILE: ARROW, PARQUET: ARROW}  # where nothing else is asked for
ANY = {"*/*": None, "application/*": JSON, "text/*": CSV}


def format_of(content_type: bytes) -> str:
    """The format in which rows come; JSON where nothing is said."""
    media = content_type.decode("latin-1").partition(";")[0].strip().lower()
    if not media:
        return JSON
    try:
        return ACCEPTED[media]
    except KeyError:
        raise RefusedError(
            415,
            "rows of this content type are not read",
            where="content-type",
            expected=f"one of {', '.join(ACCEPTED)}",
        ) from None


def answer_format(accept: bytes, came: str, offered: tuple[str, ...] = tuple(WRITTEN)) -> str:
    """The format of the answer: what is asked for, best first; where all will do, that of the rows.

    Examples
    --------
    >>> answer_format(b"text/html;q=0.1, text/csv", "json"), answer_format(b"*/*", "arrow"), answer_format(b"", "parquet")
    ('csv', 'arrow', 'arrow')
    """
    own = ANSWERED.get(came, came)
    own = own if own in offered else JSON
    if not accept or accept == b"*/*":
        return own
    for media in _ranked(accept.decode("latin-1")):
        found = ANY[media] if media in ANY else ACCEPTED.get(media, "")
        found = own if found is None else found
        if found in offered:
            return found
    raise RefusedError(
        406,
        "there is no answer in a format that is accepted",
        where="accept",
        expected=f"one of {', '.join(WRITTEN[name].partition(';')[0] for name in offered)}",
    )


def _ranked(accept: str) -> list[str]:
    """The media types of an Accept header, those wanted most first; those not wanted at all are left out."""
    ranked = []
    for place, part in enumerate(accept.split(",")):
        media, *parameters = (word.strip().lower() for word in part.split(";"))
        quality = next((word[2:] for word in parameters if word.startswith("q=")), "1")
        try:
            ranked.append((-float(quality), place, media))
        except ValueError:
            ranked.append((-1.0, place, media))
    return [media for quality, _, media in sorted(ranked) if quality < 0]
