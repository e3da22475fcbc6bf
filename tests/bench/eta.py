#!/usr/bin/env python3
"""Compares the ETA of a command's progress line with the time that was left, at several points of the run.

usage: eta.py [--columns N] COMMAND...      for example: eta.py sindri train --config configs/digits.yaml --set train.epochs=900 --set train.run_dir=/tmp/r

Runs the command in a new terminal. Prints one line per point: the ETA shown, the seconds that were left, and the error.
"""
import argparse
import fcntl
import os
import pty
import re
import struct
import sys
import termios
import time

SHOWN = re.compile(rb"ETA (?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")
PARTS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.8)


def watch(command, columns):
    """Returns [(seconds since the start, ETA in seconds)] of all ETAs shown, the duration in seconds, and the exit code."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ["TERM"] = "xterm-256color"
        os.execvp(command[0], command)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    seen, start = [], time.monotonic()
    while True:
        try:
            shown = os.read(terminal, 65536)
        except OSError:  # the command has ended
            break
        if not shown:
            break
        for match in SHOWN.finditer(shown):
            hours, minutes, seconds = (int(n or 0) for n in match.groups())
            seen.append((time.monotonic() - start, 3600 * hours + 60 * minutes + seconds))
    took = time.monotonic() - start
    return seen, took, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main():
    """Runs the command line described in the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--columns", type=int, default=80)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if not options.command:
        parser.error("which command?")
    seen, took, code = watch(options.command, options.columns)
    if code != 0 or not seen:
        print(f"exit code {code}, {len(seen)} ETAs", file=sys.stderr)
        return 1
    first = seen[0][0]
    print(f"{took:.1f} s")
    for part in PARTS:
        now, eta = next((s for s in seen if s[0] - first >= part * (took - first)), seen[-1])
        left = took - now
        print(f"{part:4.0%}: ETA {eta} s, {left:.1f} s left: {(eta - left) / left:+.0%}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
