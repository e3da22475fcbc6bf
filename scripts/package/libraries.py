#!/usr/bin/env python3
"""Copies shared libraries of other packages into a package: all of them into the wheel (wheel.py), three into the library's Debian package.

  libraries.py LIBRARY FOLDER STEM...    in a Debian package under construction: LIBRARY and the libraries STEM... that it needs are changed to load the
                                         copies in FOLDER

A copy's name contains a hash of its content, so neither it nor the system's library can be loaded in place of the other. Copies are found through $ORIGIN.
"""
import hashlib
import os
import re
import shutil
import struct
import subprocess
import sys

# The loader and glibc: the only libraries that a package with copies uses from the machine.
LIBC = re.compile(r"(ld-linux-x86-64|libc|libm|libmvec|libdl|librt|libpthread|libresolv|libutil|libnsl|libanl)\.so\.\d+$")


def run(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def needed(file: str) -> list[str]:
    return run("patchelf", "--print-needed", file).split()


def libraries_of(files: list[str]) -> dict[str, str]:
    """Maps name to path for all libraries that `files` need, directly or indirectly, except glibc's and Sindri's own."""
    found: dict[str, str] = {}
    for file in files:
        for name, path in re.findall(r"^\s*(\S+) => (.+?)(?: \(0x[0-9a-f]+\))?$", run("ldd", file), re.MULTILINE):
            if LIBC.match(name) or name.startswith("libsindri"):
                continue
            if path == "not found":
                raise SystemExit(f"error: {file} needs {name}, which this machine lacks | fix: scripts/install_deps.sh")
            found[name] = os.path.realpath(path)
    return found


def package_of(path: str) -> tuple[str, str]:
    """Returns the Debian package that a file belongs to, and its version."""
    # A path under /lib may be recorded under /usr/lib, or vice versa.
    for candidate in (path, path.removeprefix("/usr"), "/usr" + path):
        answer = subprocess.run(["dpkg", "-S", candidate], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        if answer.returncode == 0:
            name = answer.stdout.split(": ")[0].split(",")[0]
            return name.split(":")[0], run("dpkg-query", "-W", "-f=${Version}", name)
    raise SystemExit(f"error: {path} belongs to no Debian package, so its licence is unknown")


def part_from_other_copies(file: str) -> None:
    """Makes the process-wide unique symbols (STB_GNU_UNIQUE) of `file` weak, so that each library resolves them among its own dependencies.

    Otherwise the carried libstdc++ shares its locale facets' ids with the system's as soon as another module of the process loads the system's. Each of the
    two counts the ids separately, so facets overwrite each other and writing a number to a stream crashes. OpenCV's caches have the same problem.
    ELF-64, little-endian: section headers of 64 bytes; symbols of 24 bytes, whose fifth byte holds the binding in its upper half.
    """
    dynsym, symbol, unique, weak = 11, 24, 10, 2
    with open(file, "r+b") as f:
        image = bytearray(f.read())
        if image[:6] != b"\x7fELF\x02\x01":
            raise SystemExit(f"error: {file} is not a 64-bit little-endian ELF file")
        (sections,) = struct.unpack_from("<Q", image, 0x28)
        size, count = struct.unpack_from("<HH", image, 0x3A)
        for section in range(sections, sections + size * count, size):
            (kind,) = struct.unpack_from("<I", image, section + 4)
            if kind != dynsym:
                continue
            offset, length = struct.unpack_from("<QQ", image, section + 24)
            for info in range(offset + 4, offset + length, symbol):
                if image[info] >> 4 == unique:
                    image[info] = weak << 4 | image[info] & 15
        f.seek(0)
        f.write(image)


def carried_name(name: str, path: str) -> str:
    """Returns the name of the copy of library `name`, whose file is `path`."""
    with open(path, "rb") as f:
        digest = hashlib.sha256(f.read()).hexdigest()[:8]
    stem, _, rest = name.partition(".so")
    return f"{stem}-{digest}.so{rest}"


def carry(sources: dict[str, str], folder: str) -> dict[str, str]:
    """Copies `sources` (name to path) into `folder`. Returns their names there."""
    os.makedirs(folder, exist_ok=True)
    names = {}
    for name, path in sorted(sources.items()):
        names[name] = carried_name(name, path)
        copy = os.path.join(folder, names[name])
        shutil.copyfile(path, copy)
        os.chmod(copy, 0o755)
        part_from_other_copies(copy)
        run("patchelf", "--set-soname", names[name], copy)
    for name in names.values():
        point(os.path.join(folder, name), names, "$ORIGIN")
    return names


def point(file: str, names: dict[str, str], rpath: str) -> None:
    """Makes `file` need the copies by their new names (`names`) and find them through `rpath`."""
    # One kind of change per call: patchelf 0.14 corrupts the strings when given several.
    run("patchelf", "--set-rpath", rpath, file)
    change = [w for n in needed(file) if n in names for w in ("--replace-needed", n, names[n])]
    if change:
        run("patchelf", *change, file)
        if left := [n for n in needed(file) if n in names]:
            raise SystemExit(f"error: patchelf left {left} in {file}")


def main() -> None:
    if len(sys.argv) < 4:
        raise SystemExit("usage: libraries.py LIBRARY FOLDER STEM...")
    library, folder, stems = sys.argv[1], sys.argv[2], sys.argv[3:]
    every = libraries_of([library])
    sources = {n: p for n, p in every.items() if n.partition(".so")[0] in stems}
    if missing := set(stems) - {n.partition(".so")[0] for n in sources}:
        raise SystemExit(f"error: {library} no longer needs {', '.join(sorted(missing))} | fix: cmake/prepare_deb.cmake")
    names = carry(sources, folder)
    point(library, names, "$ORIGIN/" + os.path.relpath(folder, os.path.dirname(library)))
    for name in names.values():
        os.chmod(os.path.join(folder, name), 0o644)  # Debian's permissions for libraries
    for debian in sorted({package_of(p)[0] for p in sources.values()}):
        print(debian)


if __name__ == "__main__":
    main()
