#!/usr/bin/env python3
"""Packs the `python` component of a build as a wheel that includes its libraries, and the CUDA backend as a second wheel; called by scripts/package.sh.

  wheel.py STAGED OUT          STAGED: output of `cmake --install --component python` and the package's Python files, in sindri/
  wheel.py --cuda PLUGIN OUT   PLUGIN: libsindri_cuda.so of the same build; OUT contains the first wheel

All libraries that the package needs are copied to sindri/lib (libraries.py), including the compiler runtimes libstdc++ and libgcc_s. The module, the library
and its plugins share one copy, so exceptions can pass between them. Two libraries stay the system's: glibc, and MPI, whose plugin is loaded only when the
backend is requested. The wheel's tag names the build system's glibc. Two runs produce identical files.

The wheel sindri_cuda contains one file, site-packages/sindri_cuda/libsindri_cuda.so, where libsindri looks for it (src/core/plugin.cc). It uses the
libraries of the first wheel under their names there. It depends on NVIDIA's libraries, which it opens at run time.
"""
import base64
import glob
import hashlib
import os
import platform
import re
import shutil
import sys
import tempfile
import tomllib
import zipfile

from libraries import carried_name, carry, libraries_of, needed, package_of, point, run

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
UNPACKED_MPI = "libsindri_mpi.so"  # needs the libmpi of the machine it runs on
FONTS = ("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf", "/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf")
# NVIDIA's wheels of the libraries that src/device/cuda/libraries.cc opens, in the versions that it accepts.
CUDA_LIBRARIES = ("nvidia-cudnn-cu13>=9.12,<10", "nvidia-cublas>=13.0,<14", "nvidia-cusolver>=12.0,<13", "nvidia-cuda-nvrtc>=13.0,<14", "nvidia-nccl-cu13>=2.18,<3")
CUDA_README = """The CUDA backend of `sindri`, a deep-learning training framework: with it, `sindri` of the same version trains on NVIDIA GPUs
of compute capability 8.0 or later. The machine needs NVIDIA's driver 580 or later. `sindri doctor` lists the GPUs, and says what is missing.

`libsindri_cuda.so` holds NVIDIA's CUDA runtime (libcudart_static.a), which Attachment A of the
[CUDA Toolkit End User License Agreement](https://docs.nvidia.com/cuda/eula/) permits to distribute with applications, and templates of NVIDIA's CCCL under the
Apache License 2.0 with LLVM exceptions.
"""


def graft(package: str) -> dict[str, tuple[str, str]]:
    """Copies libraries into `package`/lib and makes all files load the copies. Returns the Debian packages: name -> (version, a file of the package)."""
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
    """Writes sindri/share/sindri/licences: the version and Debian copyright file of each copied package."""
    folder = os.path.join(package, "share", "sindri", "licences")
    os.makedirs(folder)
    with open(os.path.join(folder, "README"), "w", encoding="utf-8") as f:
        f.write("This wheel includes the following libraries, each from the Debian package of this name and version. Each licence is in the file NAME.txt.\n"
                "libjbig is a substitute for a library that is omitted: images with that compression cannot be read.\n\n")
        for name, (version, _) in sorted(origins.items()):
            f.write(f"{name} {version}\n")
            shutil.copyfile(f"/usr/share/doc/{name}/copyright", os.path.join(folder, f"{name}.txt"))


def project_of() -> dict:
    """Returns the [project] table of python/pyproject.toml, with the version."""
    with open(os.path.join(ROOT, "python", "pyproject.toml"), "rb") as f:
        project = tomllib.load(f)["project"]
    with open(os.path.join(ROOT, "include", "sindri", "version.h"), encoding="utf-8") as f:
        project["version"] = re.search(r'SINDRI_VERSION_STRING "([0-9.]+)"', f.read()).group(1)
    return project


def metadata(project: dict, name: str, summary: str, more: list[str], readme: str) -> str:
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {project['version']}", f"Summary: {summary}", f"License: {project['license']}", *more]
    return "\n".join(lines + ["Description-Content-Type: text/markdown", "", readme])


def package_metadata(project: dict, python: str) -> tuple[str, str]:
    """Returns METADATA and entry_points.txt of the Python package."""
    with open(os.path.join(ROOT, "python", project["readme"]), encoding="utf-8") as f:
        readme = f.read()
    # An extension module works with one version of Python only.
    minor = int(python.removeprefix("cp3"))
    lines = [f"Requires-Python: >=3.{minor},<3.{minor + 1}"] + [f"Requires-Dist: {d}" for d in project["dependencies"]]
    for extra, wants in project["optional-dependencies"].items():
        # The backend must come from the same build.
        wants = [f"{d}=={project['version']}" if d == "sindri-cuda" else d for d in wants]
        lines += [f"Provides-Extra: {extra}"] + [f'Requires-Dist: {d}; extra == "{extra}"' for d in wants]
    scripts = "[console_scripts]\n" + "".join(f"{k} = {v}\n" for k, v in project["scripts"].items())
    return metadata(project, project["name"], project["description"], lines, readme), scripts


def machine_tag() -> str:
    return f"manylinux_{platform.libc_ver()[1].replace('.', '_')}_{platform.machine()}"


def pack(staged: str, out: str, name: str, version: str, tag: str, texts: dict[str, str]) -> str:
    """Writes the wheel of staged/`name`. `texts` holds the files of its dist-info other than WHEEL and RECORD."""
    info = os.path.join(staged, f"{name}-{version}.dist-info")
    os.makedirs(os.path.join(info, "licenses"))
    shutil.copyfile(os.path.join(ROOT, "LICENSE"), os.path.join(info, "licenses", "LICENSE"))
    for file, content in (*texts.items(), ("WHEEL", f"Wheel-Version: 1.0\nGenerator: sindri\nRoot-Is-Purelib: false\nTag: {tag}\n")):
        with open(os.path.join(info, file), "w", encoding="utf-8") as f:
            f.write(content)
    os.makedirs(out, exist_ok=True)
    path = os.path.join(out, f"{name}-{version}-{tag}.whl")
    record = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        files = sorted(os.path.relpath(os.path.join(d, f), staged) for top in (name, os.path.basename(info)) for d, _, fs in os.walk(os.path.join(staged, top)) for f in fs)
        for file in files:
            with open(os.path.join(staged, file), "rb") as f:
                content = f.read()
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record.append(f"{file},sha256={digest},{len(content)}\n")
            _write(z, file, content, os.access(os.path.join(staged, file), os.X_OK))
        file = os.path.relpath(os.path.join(info, "RECORD"), staged)
        _write(z, file, "".join(record + [f"{file},,\n"]).encode(), False)
    return path


def _write(z: zipfile.ZipFile, name: str, content: bytes, executable: bool) -> None:
    entry = zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0))  # a fixed date, for reproducible builds
    entry.external_attr = (0o100755 if executable else 0o100644) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    z.writestr(entry, content, zipfile.ZIP_DEFLATED, 9)


def pack_package(staged: str, out: str) -> str:
    package = os.path.join(staged, "sindri")
    module = next(f for f in os.listdir(package) if f.startswith("_core.cpython-"))
    python = "cp" + module.removeprefix("_core.cpython-").partition("-")[0]
    licences(package, graft(package))
    fonts = os.path.join(package, "share", "sindri", "fonts")
    os.makedirs(fonts)
    for font in (*FONTS, "/usr/share/doc/fonts-dejavu-core/copyright"):
        shutil.copy(font, fonts)
    project = project_of()
    text, scripts = package_metadata(project, python)
    return pack(staged, out, "sindri", project["version"], f"{python}-{python}-{machine_tag()}", {"METADATA": text, "entry_points.txt": scripts})


def pack_cuda(plugin: str, out: str) -> str:
    project = project_of()
    version = project["version"]
    wheels = glob.glob(os.path.join(out, f"sindri-{version}-*.whl"))
    if len(wheels) != 1:
        raise SystemExit(f"error: {out} has {len(wheels)} wheels of sindri {version}, and one is needed | fix: scripts/package.sh wheel --cuda")
    with zipfile.ZipFile(wheels[0]) as z:
        carried = set(z.namelist())
    with tempfile.TemporaryDirectory() as staged:
        file = os.path.join(staged, "sindri_cuda", os.path.basename(plugin))
        os.makedirs(os.path.dirname(file))
        shutil.copy(plugin, file)
        run("strip", "--strip-unneeded", file)
        names = {name: carried_name(name, path) for name, path in libraries_of([plugin]).items()}
        if missing := [n for n in (names[n] for n in needed(file) if n in names) if f"sindri/lib/{n}" not in carried]:
            raise SystemExit(f"error: {wheels[0]} does not carry {', '.join(missing)}, which {plugin} needs | fix: build both on one machine")
        point(file, names, "$ORIGIN/../sindri/lib")
        text = metadata(project, "sindri-cuda", "CUDA backend of Sindri, for NVIDIA GPUs",
                        [f"Requires-Dist: {d}" for d in (f"sindri=={version}", *CUDA_LIBRARIES)], CUDA_README)
        return pack(staged, out, "sindri_cuda", version, f"py3-none-{machine_tag()}", {"METADATA": text})


def main() -> None:
    if len(sys.argv) == 4 and sys.argv[1] == "--cuda":
        print(pack_cuda(*sys.argv[2:]))
    elif len(sys.argv) == 3:
        print(pack_package(*sys.argv[1:]))
    else:
        raise SystemExit("usage: wheel.py STAGED OUT | wheel.py --cuda PLUGIN OUT")


if __name__ == "__main__":
    main()
