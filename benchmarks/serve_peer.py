"""The peer of `serve.py`: a lean FastAPI endpoint around scikit-learn's GaussianNB, with pydantic's TypeAdapter and orjson.

Run by a Python that has fastapi, orjson, uvicorn, httptools, uvloop and scikit-learn: python serve_peer.py PORT TABLE.npz
"""

from __future__ import annotations

import sys

import numpy as np
import orjson
import uvicorn
from fastapi import FastAPI, Request, Response
from pydantic import TypeAdapter
from sklearn.naive_bayes import GaussianNB
from typing_extensions import TypedDict

held = np.load(sys.argv[2])
names = held["names"].tolist()
model = GaussianNB().fit(held["X"], held["y"])
Row = TypedDict("Row", dict.fromkeys(names, float))
one, many, matrix = TypeAdapter(Row), TypeAdapter(list[Row]), TypeAdapter(list[list[float]])
app = FastAPI()


def answer(posterior: np.ndarray) -> Response:
    data = {"posterior": np.ascontiguousarray(posterior), "class": model.classes_[posterior.argmax(axis=1)].tolist()}
    return Response(orjson.dumps(data, option=orjson.OPT_SERIALIZE_NUMPY), media_type="application/json")


@app.post("/row")
async def row(request: Request) -> Response:
    read = one.validate_json(await request.body())
    return answer(model.predict_proba(np.array([[read[name] for name in names]])))


@app.post("/rows")
async def rows(request: Request) -> Response:
    read = many.validate_json(await request.body())
    return answer(model.predict_proba(np.array([[row[name] for name in names] for row in read])))


@app.post("/matrix")
async def lists(request: Request) -> Response:
    return answer(model.predict_proba(np.array(matrix.validate_json(await request.body()))))


if __name__ == "__main__":
    uvicorn.run(app, port=int(sys.argv[1]), log_level="warning", access_log=False)
