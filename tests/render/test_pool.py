"""PNGs are drawn in other processes when that matters, and those come and go cleanly."""

import gc
import os
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from chartpact.render import RenderError, pool, raster
from chartpact.work import worker as worker_module
from chartpact.work.process import Process

SMALL = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30">'
    '<rect width="9" height="9"/></svg>'
)
BROKEN = "<svg"


@pytest.fixture
def two():
    made = pool.PicturePool(size=2, timeout_s=20)
    yield made
    made.close()


def workers(made: pool.PicturePool) -> list[Process]:
    return [worker.process for worker in made.workers.idle]


def kill_from_outside(worker: Process) -> None:
    os.kill(worker.pid, signal.SIGKILL)
    os.waitid(os.P_PID, worker.pid, os.WEXITED | os.WNOWAIT)


def test_a_pool_starts_nobody_before_the_first_picture(two):
    assert workers(two) == []


def test_the_pool_draws_what_this_process_draws(two):
    assert two.png(SMALL) == raster.rasterize(SMALL)


def test_a_worker_serves_one_picture_after_another(two):
    two.png(SMALL)
    [first] = workers(two)
    two.png(SMALL)
    assert [each.pid for each in workers(two)] == [first.pid]


def test_a_document_that_cannot_be_read_is_an_error_and_the_worker_goes_on(two):
    with pytest.raises(RenderError, match="could not be drawn"):
        two.png(BROKEN)
    [worker] = workers(two)
    assert two.png(SMALL).startswith(b"\x89PNG")
    assert [each.pid for each in workers(two)] == [worker.pid]


def test_resvgs_panic_is_an_ordinary_error_in_this_process_too():
    with pytest.raises(RenderError, match="could not be drawn"):
        raster.rasterize(BROKEN)


def test_an_idle_worker_that_was_killed_is_replaced(two):
    two.png(SMALL)
    [worker] = workers(two)
    kill_from_outside(worker)
    assert two.png(SMALL).startswith(b"\x89PNG")
    assert workers(two)[0].pid != worker.pid


def test_a_worker_killed_at_work_costs_the_caller_nothing(two, monkeypatch):
    do, kills = worker_module.Worker.do, []

    def killed_once(self, job, wall_s):
        if not kills:
            kills.append(self.process.pid)
            kill_from_outside(self.process)
        return do(self, job, wall_s)

    monkeypatch.setattr(worker_module.Worker, "do", killed_once)
    assert two.png(SMALL).startswith(b"\x89PNG")
    assert len(kills) == 1


def test_a_worker_that_does_not_answer_is_let_go(monkeypatch):
    monkeypatch.setattr(worker_module, "_BOOT", "import time; time.sleep(60)")
    impatient = pool.PicturePool(size=1, timeout_s=0.3)
    with pytest.raises(RenderError, match="took too long"):
        impatient.png(SMALL)
    assert workers(impatient) == []


def test_a_worker_that_cannot_start_is_an_error_not_a_hang(monkeypatch):
    monkeypatch.setattr(worker_module, "_BOOT", "raise SystemExit(3)")
    with pytest.raises(RenderError, match="died twice"):
        pool.PicturePool(size=1).png(SMALL)


def test_many_threads_share_a_few_workers(two):
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(two.png, [SMALL] * 24))
    assert set(found) == {raster.rasterize(SMALL)}
    assert len(workers(two)) <= 2


def test_closing_ends_the_workers_and_a_later_picture_starts_anew(two, monkeypatch):
    monkeypatch.setattr(worker_module, "_END_S", 60)  # so that no clock decides
    two.png(SMALL)
    [worker] = workers(two)
    two.close()
    assert worker._process.returncode == 0  # it ended by itself, when there was no more to read
    assert two.png(SMALL).startswith(b"\x89PNG")


def test_another_thread_runs_while_a_worker_draws(two):
    two.png(SMALL)
    [worker] = workers(two)
    os.kill(worker.pid, signal.SIGSTOP)
    with ThreadPoolExecutor(1) as threads:
        drawing = threads.submit(two.png, SMALL)
        while workers(two):
            time.sleep(0.001)  # until it has taken the worker, which draws nothing as yet
        os.kill(worker.pid, signal.SIGCONT)  # which only a thread that runs can do
        assert drawing.result().startswith(b"\x89PNG")


def test_alone_in_its_process_a_picture_needs_no_worker():
    script = """
        import threading
        import chartpact as cp
        from chartpact.render import pool
        chart = cp.chart(cp.load("sample:es-5m"), last=30)
        chart.png(width=300, height=200)
        assert not pool.process_pool().workers.idle
        threading.Thread(target=lambda: chart.png(width=300, height=200)).start()
        chart.png(width=300, height=200)
        for thread in threading.enumerate():
            if thread is not threading.main_thread():
                thread.join()
        worker, *_ = pool.process_pool().workers.idle
        print(worker.process.pid)
    """
    ran = run(script)
    assert ran.stderr == ""
    assert not _alive(int(ran.stdout))


def test_a_script_without_a_main_guard_may_save_pictures_from_threads(tmp_path):
    script = tmp_path / "plain.py"
    script.write_text(
        textwrap.dedent(
            """
            import threading
            import chartpact as cp
            print("imported once")
            chart = cp.chart(cp.load("sample:es-5m"), last=30)
            thread = threading.Thread(target=chart.png)
            thread.start()
            thread.join()
            """
        )
    )
    ran = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert ran.stdout == "imported once\n"
    assert ran.stderr == ""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_has_workers_of_its_own():
    script = """
        import os, threading
        from chartpact.render import pool
        svg = '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"/>'
        shared = pool.process_pool()
        shared.png(svg)
        mine = shared.workers.idle[0].process.pid
        child = os.fork()
        if child == 0:
            assert not shared.workers.idle
            shared.png(svg)
            ok = shared.workers.idle[0].process.pid != mine
            shared.close()
            os._exit(0 if ok else 1)
        _, status = os.waitpid(child, 0)
        assert status == 0
        shared.png(svg)
        assert shared.workers.idle[0].process.pid == mine
    """
    assert run(script).stderr == ""


def run(script: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [
            *(sys.executable, "-W", "error", "-W", "ignore:ta kernels:RuntimeWarning"),
            *("-c", textwrap.dedent(script)),
        ],
        env={name: value for name, value in os.environ.items() if name != "PYTHONWARNINGS"},
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )


def _alive(pid: int) -> bool:
    for _ in range(50):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        time.sleep(0.05)
    return True


def test_nothing_is_left_open(two):
    two.png(SMALL)
    two.close()
    gc.collect()  # an open pipe or a lost child would warn here, and warnings are errors


class TestFallback:
    """Without `resvg`, `resvg_py` takes the same document."""

    def test_the_other_rasteriser_draws_the_same_size(self, monkeypatch):
        ours = raster.rasterize(SMALL)
        monkeypatch.setattr(raster, "_resvg", lambda: None)
        theirs = raster.rasterize(SMALL)
        assert theirs[16:24] == ours[16:24]

    def test_it_uses_the_fonts_of_the_package(self, monkeypatch):
        from .scenery import pixels

        words = '<text x="2" y="20" font-family="Chartpact Sans" font-size="16">Wide</text>'
        svg = SMALL.replace(
            '<rect width="9" height="9"/>', f'<rect width="40" height="30" fill="#fff"/>{words}'
        )
        ours = pixels(raster.rasterize(svg)).astype(int)
        monkeypatch.setattr(raster, "_resvg", lambda: None)
        theirs = pixels(raster.rasterize(svg)).astype(int)
        assert (theirs < 128).any()
        assert abs(ours - theirs).mean() < 12

    def test_without_either_the_error_says_what_to_install(self, monkeypatch):
        monkeypatch.setattr(raster, "_resvg", lambda: None)
        monkeypatch.setattr(raster, "_resvg_py", lambda: None)
        with pytest.raises(RenderError, match="needs the package resvg"):
            raster.rasterize(SMALL)
        assert raster.status().startswith("not possible")

    def test_the_doctor_names_what_draws(self, monkeypatch, capsys):
        from chartpact.cli import main
        from chartpact.sandbox import host_probe

        monkeypatch.setattr(
            host_probe, "probe", lambda: [host_probe.Finding("seccomp", True, "on")]
        )
        assert main(["doctor"]) == 0
        assert "resvg 0.2" in capsys.readouterr().out
        monkeypatch.setattr(raster, "_resvg", lambda: None)
        assert raster.status().startswith("resvg_py")


def test_a_font_that_is_not_there_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv(raster.EXTRA_FONTS, str(tmp_path / "gone.ttf"))
    with pytest.raises(RenderError, match=r"gone.ttf.* is not a font file"):
        raster.rasterize(SMALL)


def test_a_worker_that_does_not_even_read_is_given_up():
    impatient = pool.PicturePool(size=1, timeout_s=5)
    impatient.png(SMALL)
    [stopped] = workers(impatient)
    os.kill(stopped.pid, signal.SIGSTOP)
    impatient.timeout_s = 0.3
    try:
        with pytest.raises(RenderError, match="too long"):
            impatient.png(SMALL.replace("</svg>", f"<!--{'x' * 1_000_000}--></svg>"))
        assert not stopped.alive
    finally:
        impatient.close()
