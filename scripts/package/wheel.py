#!/usr/bin/env python3
"""Packs the `python` component of a build as a wheel that carries its libraries; called by scripts/package.sh.

  wheel.py STAGED OUT    STAGED: what `cmake --install --component python` and the package's Python files gave, in sindri/

Every library that the package's own need is copied to sindri/lib (libraries.py), the compiler's runtimes libstdc++ and libgcc_s among them: one copy for the
module, the library and its plugins, so that exceptions pass between them. What stays the system's is glibc, and MPI, whose plugin is loaded when the backend
is asked for. The tag names the glibc of the build system. Two runs give the same bytes.
"""
import base64
import hashlib
import os
import platform
import re
import shutil
import sys
import tomllib
import zipfile

from libraries import carry, libraries_of, package_of, point, run

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
UNPACKED_MPI = "libsindri_mpi.so"  # needs the libmpi of the machine it runs on
FONTS = ("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf", "/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf")


def graft(package: str) -> dict[str, tuple[str, str]]:
    """Copies libraries into `package`/lib and points everything at them. Returns Debian's packages: name to version and a file of it."""
    lib = os.path.join(package, "lib")
    core = [os.path.join(package, f) for f in os.listdir(package) if f.startswith("_core.") and f.endswith(".so")]
    if len(core) != 1:
        raise SystemExit("error: the extension module was not built | fix: scripts/build.sh release --python sindri_core sindri_program")
    own = core + [os.path.join(lib, f) for f in sorted(os.listdir(lib))] + [os.path.join(package, "bin", "sindri")]
    for file in own:
        run("strip", "--strip-unneeded", file)
    sources = libraries_of([f for f in own if not f.endswith(UNPACKED_MPI)])
    origins = {}
    for name, path in sources.items():
        if name.startswith("libjbig."):
            sources[name] = os.path.join(os.path.dirname(package), "libjbig.so.0")
            run("gcc", "-shared", "-fPIC", "-Os", "-Wl,-soname,libjbig.so.0", "-Wl,-z,relro,-z,now", os.path.join(ROOT, "scripts", "package", "no_jbig.c"), "-o", sources[name])
        else:
            debian, version = package_of(path)
            origins[debian] = (version, path)
    names = carry(sources, lib)
    for file in own:
        point(file, names, "$ORIGIN/lib" if file in core else "$ORIGIN/../lib" if os.path.basename(file) == "sindri" else "$ORIGIN")
    return origins


def licences(package: str, origins: dict[str, tuple[str, str]]) -> None:
    """sindri/share/sindri/licences: each carried package's version and Debian's copyright file."""
    folder = os.path.join(package, "share", "sindri", "licences")
    os.makedirs(folder)
    with open(os.path.join(folder, "README"), "w", encoding="utf-8") as f:
        f.write("What this wheel carries, each from Debian's package of that name and version; its licence is in the file beside.\n"
                "libjbig stands for a library that is left out: pictures in that compression are not read.\n\n")
        for name, (version, _) in sorted(origins.items()):
            f.write(f"{name} {version}\n")
            shutil.copyfile(f"/usr/share/doc/{name}/copyright", os.path.join(folder, f"{name}.txt"))


def metadata(python: str) -> tuple[str, str, str]:
    """Version, METADATA and entry_points.txt of python/pyproject.toml."""
    with open(os.path.join(ROOT, "python", "pyproject.toml"), "rb") as f:
        project = tomllib.load(f)["project"]
    with open(os.path.join(ROOT, "include", "sindri", "version.h"), encoding="utf-8") as f:
        version = re.search(r'SINDRI_VERSION_STRING "([0-9.]+)"', f.read()).group(1)
    with open(os.path.join(ROOT, "python", project["readme"]), encoding="utf-8") as f:
        readme = f.read()
    # The extension module is of one version of Python.
    minor = int(python.removeprefix("cp3"))
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {version}", f"Summary: {project['description']}", f"License: {project['license']}",
             f"Requires-Python: >=3.{minor},<3.{minor + 1}"]
    lines += [f"Requires-Dist: {d}" for d in project["dependencies"]]
    for extra, wants in project["optional-dependencies"].items():
        lines += [f"Provides-Extra: {extra}"] + [f'Requires-Dist: {d}; extra == "{extra}"' for d in wants]
    text = "\n".join(lines + ["Description-Content-Type: text/markdown", "", readme])
    scripts = "[console_scripts]\n" + "".join(f"{k} = {v}\n" for k, v in project["scripts"].items())
    return version, text, scripts


def pack(staged: str, out: str, python: str) -> str:
    version, text, scripts = metadata(python)
    glibc = platform.libc_ver()[1].replace(".", "_")
    tag = f"{python}-{python}-manylinux_{glibc}_{platform.machine()}"
    info = os.path.join(staged, f"sindri-{version}.dist-info")
    os.makedirs(os.path.join(info, "licenses"))
    shutil.copyfile(os.path.join(ROOT, "LICENSE"), os.path.join(info, "licenses", "LICENSE"))
    for name, content in (("METADATA", text), ("entry_points.txt", scripts), ("WHEEL", f"Wheel-Version: 1.0\nGenerator: sindri\nRoot-Is-Purelib: false\nTag: {tag}\n")):
        with open(os.path.join(info, name), "w", encoding="utf-8") as f:
            f.write(content)
    os.makedirs(out, exist_ok=True)
    path = os.path.join(out, f"sindri-{version}-{tag}.whl")
    record = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        files = sorted(os.path.relpath(os.path.join(d, f), staged) for top in ("sindri", os.path.basename(info)) for d, _, fs in os.walk(os.path.join(staged, top)) for f in fs)
        for file in files:
            with open(os.path.join(staged, file), "rb") as f:
                content = f.read()
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record.append(f"{file},sha256={digest},{len(content)}\n")
            _write(z, file, content, os.access(os.path.join(staged, file), os.X_OK))
        name = os.path.relpath(os.path.join(info, "RECORD"), staged)
        _write(z, name, "".join(record + [f"{name},,\n"]).encode(), False)
    return path


def _write(z: zipfile.ZipFile, name: str, content: bytes, executable: bool) -> None:
    entry = zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0))  # the same whenever it is built
    entry.external_attr = (0o100755 if executable else 0o100644) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    z.writestr(entry, content, zipfile.ZIP_DEFLATED, 9)


def main() -> None:
    if len(sys.argv) != 3:
        raise SystemExit("usage: wheel.py STAGED OUT")
    staged, out = sys.argv[1:]
    package = os.path.join(staged, "sindri")
    module = next(f for f in os.listdir(package) if f.startswith("_core.cpython-"))
    python = "cp" + module.removeprefix("_core.cpython-").partition("-")[0]
    licences(package, graft(package))
    fonts = os.path.join(package, "share", "sindri", "fonts")
    os.makedirs(fonts)
    for font in (*FONTS, "/usr/share/doc/fonts-dejavu-core/copyright"):
        shutil.copy(font, fonts)
    print(pack(staged, out, python))


if __name__ == "__main__":
    main()
