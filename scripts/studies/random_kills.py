#!/usr/bin/env python3
"""Kills trainings at random moments, resumes them, and compares what they leave with unbroken runs of the same settings.

usage: random_kills.py [--program build/release/sindri] [--kills 100] [--seed 1] [--work DIR] [--task NAME]...

Tasks cover graph and PyNative mode, sunk epochs, float16 with loss scale, digits, JPEG folders (also with a damaged file) and CIFAR binaries,
checkpoints by steps and by epochs, with and without evaluation. A run is killed (SIGKILL) 1 to 6 times and then goes on to its end. Equal must
be: names and bytes of all checkpoints, metrics.csv and metrics.jsonl but for times, all points of the TensorBoard file, repro.json; nothing else
may lie in the folder. One line per run; exit 1 when one differs. Another seed gives other kills: many short calls make one long study.
"""
import argparse
import json
import pathlib
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIGITS = ['model.name=digits', 'data.kind=digits', f'data.path={ROOT}/dataset/digits', 'train.epochs=3', 'lr.schedule=cosine']
TASKS = {
    'digits': DIGITS + ['checkpoint.save_every_steps=7'],
    'digits_epochs': DIGITS + ['checkpoint.save_every_steps=0', 'train.eval_interval=2'],
    'digits_pynative': DIGITS + ['train.mode=pynative', 'checkpoint.save_every_steps=11', 'train.eval_interval=0'],
    'digits_sunk': DIGITS + ['train.sink_mode=true', 'train.sink_size=11', 'train.epochs=9', 'checkpoint.save_every_steps=22'],
    'digits_float16': DIGITS + ['train.amp_level=O2', 'train.amp_dtype=f16', 'checkpoint.save_every_steps=5', 'checkpoint.keep_max=2'],
    'digits_steps': DIGITS + ['train.max_steps=70', 'checkpoint.save_every_steps=10', 'checkpoint.compat=mindspore1'],
    'digits_every_step': DIGITS + ['train.epochs=2', 'checkpoint.save_every_steps=1', 'checkpoint.keep_max=3', 'optimizer.name=adam', 'lr.max=0.001'],
    'jpeg': ['model.name=resnet20', 'data.path=@jpeg', 'train.batch_size=8', 'train.epochs=3', 'checkpoint.save_every_steps=4'],
    'jpeg_skip': ['model.name=resnet20', 'data.path=@damaged', 'train.batch_size=8', 'train.epochs=3', 'checkpoint.save_every_steps=3',
                  'data.on_corrupt=skip'],
    'cifar': ['model.name=resnet20', 'data.path=@cifar', 'train.batch_size=8', 'train.epochs=2', 'checkpoint.save_every_steps=5', 'data.workers=2'],
}
NO_TIMES = ('time', 'throughput/samples_per_sec', 'time/data_wait')


def make_data(folder: pathlib.Path) -> None:
    """Small class folders of images (BMP needs no library), a copy with a damaged file, and CIFAR-10 binaries."""
    rng = random.Random(5)
    for part, count in (('train', 16), ('test', 6)):
        for label in range(3):
            place = folder / 'jpeg' / part / f'class_{label}'
            place.mkdir(parents=True)
            for i in range(count):
                pixels = bytearray()
                for y in range(32):
                    for x in range(32):
                        value = rng.randrange(90)
                        pixels += bytes(220 if c == label and 8 <= x < 24 and 8 <= y < 24 else value for c in range(3))
                head = b'BM' + struct.pack('<IHHI', 54 + len(pixels), 0, 0, 54) + struct.pack('<IiiHHIIiiII', 40, 32, 32, 1, 24, 0, len(pixels), 0, 0, 0, 0)
                (place / f'{i}.bmp').write_bytes(head + pixels)
    shutil.copytree(folder / 'jpeg', folder / 'damaged')
    (folder / 'damaged/train/class_1/7.bmp').write_bytes(b'BM and no more')
    (folder / 'cifar').mkdir()
    for name, count in (('data_batch_1.bin', 60), ('data_batch_2.bin', 60), ('test_batch.bin', 40)):
        records = b''.join(bytes([rng.randrange(10)]) + bytes(rng.randrange(256) for _ in range(3072)) for _ in range(count))
        (folder / 'cifar' / name).write_bytes(records)


def event_points(folder: pathlib.Path) -> list:
    """(tag, step, bits) of all event files, in order."""
    points = []
    for path in sorted(folder.glob('events.out.tfevents.*')):
        data = path.read_bytes()
        at = 0
        while at + 12 <= len(data):
            length, = struct.unpack_from('<Q', data, at)
            event = data[at + 12:at + 12 + length]
            assert len(event) == length, f'{path} ends within a record'
            points.append(event[9:])  # behind the wall time; the rest is step, tag and value
            at += length + 16
    return points


def contents(folder: pathlib.Path) -> dict:
    """What two runs of the same settings must have in common."""
    out = {'names': sorted(str(p.relative_to(folder)) for p in folder.rglob('*') if not p.name.startswith('events.')),
           'event files': len(list(folder.glob('events.*'))), 'events': event_points(folder)}
    for path in sorted((folder / 'checkpoints').iterdir()):
        out[path.name] = path.read_bytes()
    rows = [line.split(',') for line in (folder / 'metrics.csv').read_text().splitlines()]
    out['metrics.csv'] = [[v for name, v in zip(rows[0], row) if name not in NO_TIMES] for row in rows]
    events = [json.loads(line) for line in (folder / 'metrics.jsonl').read_text().splitlines()]
    out['metrics.jsonl'] = [{k: v for k, v in e.items() if k not in NO_TIMES} for e in events]
    out['repro.json'] = json.loads((folder / 'repro.json').read_text())
    del out['repro.json']['kernel_choices_from']  # measured there, recorded here
    out['report.png'] = (folder / 'report.png').stat().st_size > 0
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--program', default=str(ROOT / 'build/release/sindri'))
    parser.add_argument('--kills', type=int, default=100)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--work', help='folder for the runs; those that differ stay there')
    parser.add_argument('--task', action='append', choices=sorted(TASKS))
    args = parser.parse_args()
    work = pathlib.Path(args.work or tempfile.mkdtemp(prefix='random_kills.'))
    work.mkdir(parents=True, exist_ok=True)
    if not (work / 'jpeg').exists():
        make_data(work)
    rng = random.Random(args.seed)
    names = args.task or sorted(TASKS)
    whole: dict = {}
    seconds: dict = {}
    kills = runs = different = 0

    def command(name: str, folder: pathlib.Path) -> list:
        words = [args.program, 'train', '--quiet', '--set', f'train.run_dir={folder}']
        for setting in TASKS[name]:
            words += ['--set', setting.replace('=@', f'={work}/')]
        return words

    def finish(words: list, folder: pathlib.Path) -> bool:
        done = subprocess.run(words, capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            print(f'{folder}: exit {done.returncode}: {done.stderr}', flush=True)
        return done.returncode == 0

    while kills < args.kills:
        name = names[runs % len(names)]
        if name not in whole:
            folder = work / f'whole_{name}_{args.seed}'
            shutil.rmtree(folder, ignore_errors=True)
            begin = time.monotonic()
            if not finish(command(name, folder), folder):
                return 1
            seconds[name] = time.monotonic() - begin
            whole[name] = contents(folder)
        folder = work / f'killed_{name}_{args.seed}_{runs}'
        shutil.rmtree(folder, ignore_errors=True)
        words = command(name, folder)
        of_this = 0
        for _ in range(rng.randint(1, 6)):
            started = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            # Most of the time goes into starting and the first step; what is of interest lies behind.
            time.sleep(rng.uniform(0, 1) ** 0.7 * seconds[name])
            started.send_signal(signal.SIGKILL)
            if started.wait() == 0:
                break
            of_this += 1
            words = command(name, folder) + ['--resume']
        kills += of_this
        runs += 1
        words = command(name, folder) + ['--resume']
        found = contents(folder) if finish(words, folder) else {}
        wrong = [key for key in whole[name] if found.get(key) != whole[name][key]] + [key for key in found if key not in whole[name]]
        different += bool(wrong)
        print(f'{name}: {of_this} kills, {kills} in all: {"equal" if not wrong else "DIFFERENT: " + ", ".join(wrong) + " in " + str(folder)}', flush=True)
        if not wrong:
            shutil.rmtree(folder)
    print(f'{kills} kills of {runs} runs, {different} different', flush=True)
    return 1 if different else 0


if __name__ == '__main__':
    sys.exit(main())
