#!/usr/bin/env python3
"""Draws docs/images/scaling.svg: the efficiency of data-parallel training on more ranks as predicted by `sindri plan`. If measured points exist, a second
panel compares measurements between hosts with the same model.

usage: scaling_plot.py [--program SINDRI] [--measure | --check]

The curves are computed by the program each time; the points are stored in docs/images/scaling_measured.json. --measure measures them between network
namespaces with shaped links (tests/lab/speed.py; needs root and two minutes). --check writes nothing; the exit code is 1 if the committed plot differs from
the one that would be drawn.
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PICTURE, POINTS = ROOT / "docs/images/scaling.svg", ROOT / "docs/images/scaling_measured.json"
RANKS = [8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]
COLOURS = {"batch 256, 100 Gbit/s": "#1b6ca8", "batch 256, 25 Gbit/s": "#2a9d8f", "batch 32, 100 Gbit/s": "#e08e0b", "batch 32, 25 Gbit/s": "#c8553d"}
BACKENDS = {"gloo": "#1b6ca8"}  # the measured backends
ONE, BOTH, HEIGHT, TOP, TALL = 500, 860, 320, 56, 210  # widths with one panel and with both, height, and the panels' top and height


def predicted(program):
    """Returns {curve: efficiencies in percent, in the order of RANKS}."""
    ranks = ",".join(map(str, RANKS))
    words = [program, "plan", "--net", "resnet50", "--scale", "--ranks", ranks, "--batch", "256,32", "--network", "25,100"]
    text = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout
    out = {}
    for line in text.splitlines():
        for name in COLOURS:
            if line.startswith(name):
                out[name] = [float(v) for v in line[len(name):].split()]
    assert len(out) == len(COLOURS) and all(len(v) == len(RANKS) for v in out.values()), text
    return out


class Panel:
    """Axes: efficiency upwards, the number of ranks or hosts to the right on a logarithmic scale."""

    def __init__(self, left, width, ticks, title, below):
        self.left, self.width, self.low, self.high = left, width, math.log2(ticks[0]), math.log2(ticks[-1])
        self.parts = [f'<text x="{left}" y="{TOP - 18}" font-size="14" font-weight="bold">{title}</text>']
        for percent in range(0, 101, 25):
            y = self.up(percent)
            self.parts.append(f'<path d="M{left} {y}H{left + width}" stroke="#ddd"/>')
            self.parts.append(f'<text x="{left - 6}" y="{y + 4}" text-anchor="end">{percent} %</text>')
        for tick in ticks:
            self.parts.append(f'<text x="{self.right(tick)}" y="{TOP + TALL + 18}" text-anchor="middle">{tick}</text>')
        self.parts.append(f'<text x="{left + width / 2:g}" y="{TOP + TALL + 38}" text-anchor="middle">{below}</text>')

    def right(self, number):
        """Returns the x coordinate of a number of ranks."""
        return round(self.left + (math.log2(number) - self.low) / (self.high - self.low) * self.width, 1)

    @staticmethod
    def up(percent):
        """Returns the y coordinate of an efficiency."""
        return round(TOP + TALL * (1 - percent / 100), 1)

    def line(self, numbers, percents, colour, dashed=False):
        """Draws a curve."""
        points = " ".join(f"{self.right(n)},{self.up(p)}" for n, p in zip(numbers, percents))
        dashes = ' stroke-dasharray="5 4"' if dashed else ""
        self.parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/>')

    def points(self, numbers, percents, colour):
        """Draws measured values."""
        self.parts += [f'<circle cx="{self.right(n)}" cy="{self.up(p)}" r="4.5" fill="{colour}"/>' for n, p in zip(numbers, percents)]

    def label(self, x, percent, text, colour):
        """Writes text next to a curve."""
        self.parts.append(f'<text x="{x}" y="{self.up(percent) - 7}" fill="{colour}" text-anchor="end">{text}</text>')


def draw_measured(measured):
    """Returns the panel with measurements between hosts."""
    hosts = [m["hosts"] for m in measured["gloo"]]
    right = Panel(540, 290, hosts, f"Measured, {measured['megabytes']:g} MB over {measured['rate']}", "hosts, one rank on each")
    right.line(hosts, [100 * m["model"] for m in measured["gloo"]], "#777", dashed=True)
    for place, (backend, colour) in enumerate(BACKENDS.items()):
        right.points(hosts, [100 * m["efficiency"] for m in measured[backend]], colour)
        right.parts.append(f'<circle cx="{right.left + 16}" cy="{TOP + TALL - 32 - 18 * place}" r="4.5" fill="{colour}"/>')
        right.parts.append(f'<text x="{right.left + 28}" y="{TOP + TALL - 28 - 18 * place}">measured, {backend}</text>')
    right.parts.append(f'<path d="M{right.left + 8} {TOP + TALL - 14}h16" stroke="#777" stroke-width="2" stroke-dasharray="5 4"/>')
    right.parts.append(f'<text x="{right.left + 28}" y="{TOP + TALL - 10}">model</text>')
    return right.parts


def draw(curves, measured):
    """Returns the plot's SVG text; `measured` may be None."""
    left = Panel(56, 400, [8, 64, 512, 4096], "Modelled efficiency of ResNet-50, 8 cards per host", "ranks")
    for name, values in curves.items():
        left.line(RANKS, values, COLOURS[name])
        left.label(left.left + left.width, values[-1] + (-11 if name == "batch 256, 25 Gbit/s" else 0), name, COLOURS[name])
    parts, width = left.parts, ONE if measured is None else BOTH
    if measured is not None:
        parts = parts + draw_measured(measured)
    body = "\n".join(parts)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT}" width="{width}" height="{HEIGHT}" font-family="sans-serif" font-size="12">\n'
            f'<title>Efficiency of data-parallel training</title>\n<rect width="{width}" height="{HEIGHT}" fill="#fff"/>\n{body}\n</svg>\n')


def measure():
    """Measures points with tests/lab/speed.py."""
    sys.path.insert(0, str(ROOT / "tests/lab"))
    import speed  # pylint: disable=import-error,import-outside-toplevel
    rate, buckets, compute, forward, congestion = "100mbit", [1, 4, 4, 2], 1.0, 0.2, "reno"
    out = {"megabytes": sum(buckets), "rate": "100 Mbit/s", "seconds_of_computing": compute + forward}
    for backend in BACKENDS:
        out[backend] = []
        for hosts in (2, 4, 8):
            r = speed.measure(backend, hosts, rate, buckets, compute, forward, 5, congestion)
            out[backend].append({"hosts": hosts, "efficiency": round((compute + forward) / r["seconds"], 4), "model": round((compute + forward) / r["predicted"], 4)})
            print(backend, out[backend][-1], flush=True)
    return out


def main():
    """Runs the command line described in the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "build/release/sindri"))
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--measure", action="store_true")
    what.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.measure:
        POINTS.write_text(json.dumps(measure(), indent=1) + "\n", encoding="utf-8")
    measured = json.loads(POINTS.read_text(encoding="utf-8")) if POINTS.exists() else None
    picture = draw(predicted(options.program), measured)
    if options.check:
        same = PICTURE.exists() and PICTURE.read_text(encoding="utf-8") == picture
        print("the plot is up to date" if same else f"{PICTURE} is out of date: run {sys.argv[0]}")
        return 0 if same else 1
    PICTURE.write_text(picture, encoding="utf-8")
    print(PICTURE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
