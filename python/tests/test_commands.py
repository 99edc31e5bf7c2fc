"""hxmesh.run, sweep, train and info."""
import os
import pickle
import pathlib

import pytest

import hxmesh

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERSION = (ROOT / "lib/base/version.h").read_text().split('HXMESH_VERSION "')[1].split('"')[0]


def test_run_is_the_report():
    report = hxmesh.run("2x2 Hx2Mesh", traffic="uniform", rate=0.2, duration="20us", links=False)
    assert report["complete"] and report["settings"]["rate"] == 0.2 and "links" not in report
    assert report["version"] == VERSION == hxmesh.__version__


def test_sweep_is_a_table():
    pandas = pytest.importorskip("pandas")
    rows = hxmesh.sweep(["2x2 Hx2Mesh", "torus 4x4"], traffic="uniform", rate="0.1,0.2", duration="10us")
    table = rows.to_pandas()
    assert isinstance(table, pandas.DataFrame) and len(table) == len(rows) == 4
    assert list(table["rate"]) == [0.1, 0.2, 0.1, 0.2] and (table["packets_sent"] > 0).all()


def test_info_of_one_and_of_several():
    assert hxmesh.info("4x4 Hx2Mesh")["accelerators"] == 64
    assert [fabric["injection_gbps"] for fabric in hxmesh.info(["2x2 Hx2Mesh", "torus 4x4"])] == [6400, 6400]


def test_train_estimates():
    found = hxmesh.train("8x4 Hx2Mesh", str(ROOT / "examples/models/vgg16.model.yaml"), estimate=True)
    assert isinstance(found, hxmesh.Report)


def test_mistakes_have_the_line_and_the_code():
    with pytest.raises(hxmesh.CommandError, match="^4x4 Hx9: is not a fabric") as error:
        hxmesh.run("4x4 Hx9")
    assert error.value.code == 3
    with pytest.raises(hxmesh.CommandError, match="--plains: unknown option"):
        hxmesh.run("2x2 Hx2Mesh", plains=2)


def test_program_that_is_not_there(monkeypatch):
    monkeypatch.setitem(os.environ, "HXMESH", "/nowhere/hxmesh")
    with pytest.raises(hxmesh.CommandError, match="install the package hxmesh"):
        hxmesh.info("2x2 Hx2Mesh")


def test_errors_can_be_pickled():
    error = pickle.loads(pickle.dumps(hxmesh.CommandError("it failed", 3)))
    assert str(error) == "it failed" and error.code == 3
