"""A program without standard streams: prints and logs go to descriptors 0 to 2, and no file of the package may have one of those."""
import os
import subprocess
import sys
import textwrap

import pytest

SCRIPT = textwrap.dedent("""
    import os, sys
    import numpy as np
    import sindri as ms
    from sindri import Tensor, nn, ops

    folder = sys.argv[1]
    taken = []

    def look(where):
        for fd in range(3):
            if os.path.exists(f"/proc/self/fd/{fd}") and not os.readlink(f"/proc/self/fd/{fd}").startswith(("pipe:", "/dev/null")):
                taken.append(f"{where}: {fd} is {os.readlink(f'/proc/self/fd/{fd}')}")

    def log_much():  # log lines from compiling, on descriptor 2
        scale = float(len(taken) + np.random.rand())
        nn.SequentialCell(nn.Dense(3, 3), nn.ReLU())(Tensor(np.full((2, 3), scale, np.float32)))

    fsync = os.fsync
    def logged_fsync(fd):
        look("saving")
        log_much()
        fsync(fd)

    ms.set_seed(1)
    ms.set_context(mode=ms.GRAPH_MODE)
    weights = [{"name": f"w{i}", "data": Tensor(np.arange(300_000, dtype=np.float32) + i)} for i in range(8)]
    with ms.SummaryRecord(folder, file_prefix="s", export_options={"tensor_format": "npy"}) as record:
        for step in range(1, 4):
            record.add_value("scalar", "loss", Tensor(float(step), ms.float32))
            record.add_value("tensor", "values", Tensor(np.ones((2, 2), np.float32)))
            record.record(step)
            look("summary")
            log_much()
    os.fsync = logged_fsync
    ms.save_checkpoint(weights, os.path.join(folder, "w.ckpt"))
    ms.save_checkpoint(weights, os.path.join(folder, "w.safetensors"), format="safetensors")
    ms.save_checkpoint(weights, os.path.join(folder, "later.ckpt"), async_save=True)
    for _ in range(20):
        log_much()
    ms.save_checkpoint(weights[:1], os.path.join(folder, "secret.ckpt"), enc_key=b"0123456789abcdef")
    read = ms.load_checkpoint(os.path.join(folder, "secret.ckpt"), dec_key=b"0123456789abcdef")
    assert np.array_equal(read["w0"].asnumpy(), weights[0]["data"].asnumpy())
    look("the end")
    assert not taken, taken
""")


def run(folder, redirection):
    script = folder / "script.py"
    script.write_text("import traceback\ntry:\n" + textwrap.indent(SCRIPT, "    ") +
                      "except BaseException:\n    open(sys.argv[1] + '/error', 'w').write(traceback.format_exc())\n    raise\n")
    env = {**os.environ, "SINDRI_LOG": "debug", "GLOG_v": "0"}
    done = subprocess.run(["sh", "-c", f'exec "$0" "$1" "$2" {redirection}', sys.executable, str(script), str(folder)], env=env, timeout=120,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    error = folder / "error"
    assert done.returncode == 0, error.read_text() if error.exists() else done.stderr[-2000:]
    return done.stderr


@pytest.fixture(scope="module")
def usual(tmp_path_factory):
    folder = tmp_path_factory.mktemp("usual")
    assert "[graph]" in run(folder, "")  # the script does write logs
    return folder


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_files_are_whole(closed, tmp_path, usual):
    run(tmp_path, closed)
    for name in ("w.ckpt", "later.ckpt", "w.safetensors"):
        assert (tmp_path / name).read_bytes() == (usual / name).read_bytes(), name
    files = [p for p in tmp_path.rglob("*") if p.is_file() and p.name != "script.py"]
    assert len(files) == len([p for p in usual.rglob("*") if p.is_file()]) - 1 >= 7
    for path in files:
        data = path.read_bytes()
        assert b"[graph]" not in data and b"[dispatch]" not in data, path
