#!/usr/bin/env python3
"""Kills training runs at random moments, resumes them, and compares their results with uninterrupted runs of the same settings.

usage: random_kills.py [--program build/release/sindri] [--kills 100] [--seed 1] [--work DIR] [--task NAME]... [--out FILE]
       random_kills.py --sum FILE...

The tasks cover graph and PyNative mode, sunk epochs, float16 with loss scale, digits, JPEG folders (one with a damaged file) and CIFAR binaries, checkpoints
by steps and by epochs, with and without evaluation. A run is killed (SIGKILL) 1 to 6 times and then runs to its end. These must be equal to those of the
uninterrupted run: names and bytes of all checkpoints, metrics.csv and metrics.jsonl except times, all points of the TensorBoard file, and repro.json. The
folder may contain nothing else. Prints one line per run; the exit code is 1 if any run differs.

A long study consists of pieces. Each has its own seed, and so different kills, and its own FILE. FILE holds the counts, the tree's commit and the program's
hash. It is rewritten after every run, so an interrupted piece counts the runs it finished. --sum adds up pieces; it rejects pieces of different programs or
commits, or with the same seed.
"""
import argparse
import collections
import hashlib
import json
import os
import pathlib
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

try:
    from PIL import Image
except ImportError:
    sys.exit('random_kills: writes its JPEG files with Pillow, which is not installed | pip install pillow')

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
    """Writes small class folders of JPEG files, a copy in which one file is truncated, and CIFAR-10 binaries."""
    rng = random.Random(5)
    for part, count in (('train', 16), ('test', 6)):
        for label in range(3):
            place = folder / 'jpeg' / part / f'class_{label}'
            place.mkdir(parents=True)
            for i in range(count):
                pixels = bytearray()
                for y in range(32):
                    for x in range(32):
                        noise = rng.randrange(90)
                        pixels += bytes(220 if c == label and 8 <= x < 24 and 8 <= y < 24 else noise for c in range(3))
                Image.frombytes('RGB', (32, 32), bytes(pixels)).save(place / f'{i}.jpg', quality=90)
    shutil.copytree(folder / 'jpeg', folder / 'damaged')
    victim = folder / 'damaged/train/class_1/7.jpg'
    victim.write_bytes(victim.read_bytes()[:-400])
    (folder / 'cifar').mkdir()
    for name, count in (('data_batch_1.bin', 60), ('data_batch_2.bin', 60), ('test_batch.bin', 40)):
        records = b''.join(bytes([rng.randrange(10)]) + bytes(rng.randrange(256) for _ in range(3072)) for _ in range(count))
        (folder / 'cifar' / name).write_bytes(records)


def fields(message: bytes) -> list:
    """Returns [(number, value)] of a protobuf message: an int for a varint, bytes for the other wire types."""
    out: list = []
    at = 0

    def varint() -> int:
        nonlocal at
        number = shift = 0
        while True:
            byte = message[at]
            at += 1
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number

    while at < len(message):
        key = varint()
        if key & 7 == 0:
            out.append((key >> 3, varint()))
            continue
        length = varint() if key & 7 == 2 else 8 if key & 7 == 1 else 4
        out.append((key >> 3, message[at:at + length]))
        at += length
    return out


def event_points(folder: pathlib.Path) -> list:
    """Returns [(step, tag, bits)] of all event files, in order. Times and the command line differ in each run, so only their tags are compared."""
    points = []
    for path in sorted(folder.glob('events.out.tfevents.*')):
        data = path.read_bytes()
        at = 0
        while at + 12 <= len(data):
            length, = struct.unpack_from('<Q', data, at)
            assert at + 16 + length <= len(data), f'{path} ends within a record'
            event = fields(data[at + 12:at + 12 + length])
            at += length + 16
            step = dict(event).get(2, 0)
            for value in [v for number, summary in event if number == 5 for n, v in fields(summary) if n == 1]:
                tag = dict(fields(value))[1].decode()
                points.append((step, tag, b'' if tag in NO_TIMES or tag == 'run' else value))
    return points


def contents(folder: pathlib.Path) -> dict:
    """Returns the values that two runs of the same settings must have in common."""
    out = {'names': sorted(str(p.relative_to(folder)) for p in folder.rglob('*') if not p.name.startswith('events.')),
           'event files': len(list(folder.glob('events.*'))), 'events': event_points(folder)}
    for path in sorted((folder / 'checkpoints').iterdir()):
        out[path.name] = path.read_bytes()
    rows = [line.split(',') for line in (folder / 'metrics.csv').read_text().splitlines()]
    out['metrics.csv'] = [[v for name, v in zip(rows[0], row) if name not in NO_TIMES] for row in rows]
    events = [json.loads(line) for line in (folder / 'metrics.jsonl').read_text().splitlines()]
    out['metrics.jsonl'] = [{k: v for k, v in e.items() if k not in NO_TIMES} for e in events]
    out['repro.json'] = json.loads((folder / 'repro.json').read_text())
    del out['repro.json']['kernel_choices_from']  # measured in the unbroken run, recorded in the resumed one
    out['report.png'] = (folder / 'report.png').stat().st_size > 0
    return out


def state(program: pathlib.Path) -> dict:
    """Returns the commit of the tree (marked if tracked files differ from it) and the hash of the program."""
    def git(*words: str) -> str:
        return subprocess.run(['git', '-C', str(ROOT), *words], capture_output=True, text=True, check=True).stdout.strip()
    digest = hashlib.sha256()
    for path in [program, *sorted(program.resolve().parent.glob('libsindri.so*'))]:
        digest.update(path.read_bytes())
    return {'commit': git('rev-parse', 'HEAD') + ('+changes' if git('status', '--porcelain', '--untracked-files=no') else ''), 'program': digest.hexdigest()}


def sum_pieces(paths: list) -> int:
    pieces = {path: json.loads(pathlib.Path(path).read_text()) for path in paths}
    for key in ('commit', 'program'):
        if len({piece[key] for piece in pieces.values()}) > 1:
            print(f'the pieces differ in their {key}:', *(f'  {piece[key]} {path}' for path, piece in pieces.items()), sep='\n', file=sys.stderr)
            return 2
    repeated = [seed for seed, n in collections.Counter(piece['seed'] for piece in pieces.values()).items() if n > 1]
    if repeated:
        print(f'seed {repeated[0]} is in more than one piece', file=sys.stderr)
        return 2
    tasks: collections.Counter = collections.Counter()
    for piece in pieces.values():
        tasks.update(piece['kills_by_task'])
    kills, runs, different = (sum(piece[key] for piece in pieces.values()) for key in ('kills', 'runs', 'different'))
    print(f'commit {next(iter(pieces.values()))["commit"]}, {len(pieces)} pieces')
    print(*(f'  {name}: {n} kills' for name, n in sorted(tasks.items())), sep='\n')
    print(f'{kills} kills of {runs} runs, {different} different')
    return 1 if different else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--program', default=str(ROOT / 'build/release/sindri'))
    parser.add_argument('--kills', type=int, default=100)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--work', help='folder for the runs; runs that differ are kept')
    parser.add_argument('--task', action='append', choices=sorted(TASKS))
    parser.add_argument('--out', type=pathlib.Path, help='file for the counts of this piece')
    parser.add_argument('--sum', nargs='+', metavar='FILE', help='add up files written by --out, then exit')
    args = parser.parse_args()
    if args.sum:
        return sum_pieces(args.sum)
    if args.out and args.out.exists():
        parser.error(f'--out {args.out} exists: each piece needs a separate file')
    work = pathlib.Path(args.work or tempfile.mkdtemp(prefix='random_kills.'))
    work.mkdir(parents=True, exist_ok=True)
    if not (work / 'jpeg').exists():
        make_data(work)
    rng = random.Random(args.seed)
    names = args.task or sorted(TASKS)
    whole: dict = {}
    seconds: dict = {}
    kills = runs = different = 0
    kills_by_task: collections.Counter = collections.Counter()
    piece = {**state(pathlib.Path(args.program)), 'seed': args.seed}

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
            folder = work / f'run_{name}_{args.seed}'  # the same for all runs of a task, because files contain its name
            shutil.rmtree(folder, ignore_errors=True)
            begin = time.monotonic()
            if not finish(command(name, folder), folder):
                return 1
            seconds[name] = time.monotonic() - begin
            whole[name] = contents(folder)
            kept = work / f'whole_{name}_{args.seed}'
            shutil.rmtree(kept, ignore_errors=True)
            folder.rename(kept)
        folder = work / f'run_{name}_{args.seed}'
        words = command(name, folder)
        of_this = 0
        for _ in range(rng.randint(1, 6)):
            started = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            # Startup and the first step take most of the time; the interesting moments are later.
            time.sleep(rng.uniform(0, 1) ** 0.7 * seconds[name])
            started.send_signal(signal.SIGKILL)
            if started.wait() == 0:
                break
            of_this += 1
            words = command(name, folder) + ['--resume']
        kills += of_this
        kills_by_task[name] += of_this
        runs += 1
        words = command(name, folder) + ['--resume']
        found = contents(folder) if finish(words, folder) else {}
        wrong = [key for key in whole[name] if found.get(key) != whole[name][key]] + [key for key in found if key not in whole[name]]
        different += bool(wrong)
        kept = work / f'killed_{name}_{args.seed}_{runs}'
        print(f'{name}: {of_this} kills, {kills} in all: {"equal" if not wrong else "DIFFERENT: " + ", ".join(wrong) + " in " + str(kept)}', flush=True)
        shutil.rmtree(kept, ignore_errors=True)
        if wrong:
            folder.rename(kept)
        else:
            shutil.rmtree(folder)
        if args.out:
            new = args.out.with_name(args.out.name + '.new')
            new.write_text(json.dumps({**piece, 'kills': kills, 'runs': runs, 'different': different, 'kills_by_task': kills_by_task}, indent=1) + '\n')
            os.replace(new, args.out)
    print(f'{kills} kills of {runs} runs, {different} different', flush=True)
    return 1 if different else 0


if __name__ == '__main__':
    sys.exit(main())
