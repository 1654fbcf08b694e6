"""As in a container: a read-only installation, no home, no user to speak of, little memory. `merula demo` works."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import merula

NOBODY = 65_534
ENOUGH = 512 << 20  # bytes
GROUPS = Path("/sys/fs/cgroup")
ALONE = """
import os, sys
class Absent:  # an installation of merula[cli,report], without what developers have besides
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pandas", "polars", "matplotlib"):
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Absent())
sys.argv = ["merula", "demo"]
from merula.cli import main
main()
"""


@pytest.fixture
def installed(tmp_path):
    """The package where nobody may write."""
    shutil.copytree(
        Path(merula.__file__).parent, tmp_path / "lib" / "merula", ignore=shutil.ignore_patterns("__pycache__")
    )
    for path in [tmp_path / "lib", *(tmp_path / "lib").rglob("*")]:
        path.chmod(path.stat().st_mode & ~0o222)
    work = tmp_path / "work"
    work.mkdir()
    os.chown(work, NOBODY, NOBODY) if os.getuid() == 0 else None
    return tmp_path


@pytest.fixture
def confined():
    """A folder of the kernel whose processes share 512 MiB, as containers have it; None where none can be made."""
    old = (GROUPS / "memory").is_dir()
    group = GROUPS / ("memory" if old else "") / f"merula-{os.getpid()}"
    try:
        group.mkdir()
        (group / ("memory.limit_in_bytes" if old else "memory.max")).write_text(str(ENOUGH))
    except OSError:
        group.rmdir() if group.is_dir() else None
        yield None
        return
    yield group
    group.rmdir()


@pytest.mark.skipif(os.getuid() != 0 or shutil.which("setpriv") is None, reason="only root becomes nobody (setpriv)")
def test_the_demo_works_for_nobody_without_a_home(installed, confined):
    # the one privilege left is to read: the interpreter itself may lie in root's home
    rights = ["--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups", "--no-new-privs"]
    rights += [f"--{which}=-all,+dac_read_search" for which in ("inh-caps", "ambient-caps", "bounding-set")]
    enter = f"echo $$ > '{confined}/cgroup.procs' && " if confined else ""
    with (installed / "told").open("w") as told, (installed / "notes").open("w") as notes:
        done = subprocess.Popen(
            ["sh", "-c", f'{enter}exec "$@"', "sh", "setpriv", *rights, sys.executable, "-c", ALONE],
            cwd=installed / "work",
            env={"PYTHONPATH": str(installed / "lib"), "PATH": os.environ["PATH"]},
            stdout=told,
            stderr=notes,
        )
        most = _watched(done)
    told, notes = ((installed / name).read_text() for name in ("told", "notes"))
    assert done.returncode == 0, notes
    assert "On your own file" in told
    assert notes.count("NUMBA_CACHE_DIR") == 1
    assert all(line.startswith("note: ") for line in notes.splitlines())
    assert sorted(os.listdir(installed / "work" / "merula-demo")) == ["penguins.html", "penguins.merula"]
    assert most < ENOUGH


def _watched(process):
    """The most bytes of its own that a process had in memory until it ended: beside them only pages of files, which go when memory is short."""
    most = 0
    while process.poll() is None:
        try:
            status = dict(line.split(":", 1) for line in Path(f"/proc/{process.pid}/status").read_text().splitlines())
            most = max(most, int(status.get("RssAnon", "0").split()[0]) * 1024)
        except (OSError, ValueError):
            pass
        time.sleep(0.05)
    return most


def test_without_a_cache_loops_are_compiled_and_it_is_said_once(tmp_path):
    """As anyone: numba is told to look for its cache where no folder can be."""
    script = "import merula.core.compiled as c; f = c.kernel(lambda x: x + 1); g = c.ordered(lambda x: x * 2); print(f(1), g(4))"
    done = subprocess.run(
        [sys.executable, "-W", "always", "-c", script],
        env={**os.environ, "NUMBA_CACHE_LOCATOR_CLASSES": "IPythonCacheLocator"},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (0, "2 8\n")
    assert done.stderr.count("NUMBA_CACHE_DIR") == 1
