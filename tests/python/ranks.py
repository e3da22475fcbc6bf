"""Starts Python processes as the ranks of one job, and ends them by process id, within a time limit."""
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

LIMIT = 100  # seconds, for one job
_IDENTITIES = ('SINDRI_RANK', 'SINDRI_WORLD_SIZE', 'SINDRI_LOCAL_RANK', 'SINDRI_LOCAL_SIZE', 'SINDRI_MASTER', 'RANK_TABLE_FILE', 'RANK_ID', 'RANK_SIZE',
               'MINDSPORE_HCCL_CONFIG_PATH', 'RANK', 'WORLD_SIZE', 'LOCAL_RANK', 'LOCAL_WORLD_SIZE', 'MASTER_ADDR', 'MASTER_PORT', 'MS_ROLE', 'DEVICE_ID')


class Ended:
    """How a rank ended: its exit code (negative: the signal) and its output."""

    def __init__(self, code, out):
        self.code, self.out = code, out


def free_port():
    """Returns a port on which nothing listens now."""
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


def environment(rank, size, port):
    """Returns the environment of one rank, on one host, with torchrun's names. Kernels are not measured, because ranks might choose different ones."""
    env = {k: v for k, v in os.environ.items() if k not in _IDENTITIES and not k.startswith(('OMPI_', 'PMIX_', 'SLURM_'))}
    env.update(RANK=str(rank), WORLD_SIZE=str(size), LOCAL_RANK=str(rank), LOCAL_WORLD_SIZE=str(size), MASTER_ADDR='127.0.0.1', MASTER_PORT=str(port),
               SINDRI_DIST_BACKEND='gloo', SINDRI_DIST_OP_TIMEOUT='60', SINDRI_DIST_OP_WARN='20', SINDRI_DIST_INIT_TIMEOUT='60', SINDRI_TUNE='0',
               SINDRI_NUM_THREADS='1', PYTHONUNBUFFERED='1')
    return env


def run(script, arguments, size, limit=LIMIT, **more):
    """Runs `python script arguments` as `size` ranks and returns a list of Ended. `more` holds environment variables. Ranks that exceed the time limit are
    killed and
    have the exit code -9."""
    port = free_port()
    started, logs = [], []
    try:
        for rank in range(size):
            logs.append(tempfile.TemporaryFile('w+'))
            env = {**environment(rank, size, port), **{k: str(v).replace('{rank}', str(rank)) for k, v in more.items()}}
            started.append(subprocess.Popen([sys.executable, script, *map(str, arguments)], env=env, stdout=logs[-1], stderr=subprocess.STDOUT,
                                            start_new_session=True))
        end = time.monotonic() + limit
        for p in started:
            try:
                p.wait(max(0.1, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                break
    finally:
        for p in started:
            if p.poll() is None:
                os.killpg(p.pid, signal.SIGKILL)
                p.wait()
    ended = []
    for p, log in zip(started, logs):
        log.seek(0)
        ended.append(Ended(p.returncode, log.read()))
        log.close()
    return ended


def launch(command, limit=LIMIT, **more):
    """Runs a launcher of ranks (mpirun, sindri run) in the manner of run(). Returns (exit code, output of all)."""
    env = {k: v for k, v in environment(0, 1, 0).items() if k not in _IDENTITIES and k != 'SINDRI_DIST_BACKEND'}
    env.update({k: str(v) for k, v in more.items()})
    with tempfile.TemporaryFile('w+') as log:
        p = subprocess.Popen(list(map(str, command)), env=env, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            p.wait(limit)
        except subprocess.TimeoutExpired:
            p.terminate()  # it ends its ranks, which have separate sessions
            try:
                p.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(p.pid, signal.SIGKILL)
                p.wait()
        log.seek(0)
        return p.returncode, log.read()


def text(ended):
    """Returns the output of all ranks, for test messages."""
    return '\n'.join(f'--- rank {i}, code {e.code}\n{e.out[-3000:]}' for i, e in enumerate(ended))
