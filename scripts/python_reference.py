#!/usr/bin/env python3
"""Writes the HTML reference of the Python package's public modules with pdoc. scripts/api_reference.sh runs it.

usage: PYTHONPATH=python python_reference.py FOLDER

A module is public if no part of its path begins with an underscore and it defines `__all__`. Fails if a link leads to no page, class or function, or if a
public class or function of these modules has no docstring.
"""
import html.parser
import importlib
import inspect
import pathlib
import pkgutil
import sys

import pdoc

import sindri


def public_modules():
    found = ["sindri"]
    for info in pkgutil.walk_packages(sindri.__path__, "sindri."):
        if any(part.startswith("_") for part in info.name.split(".")):
            continue
        if getattr(importlib.import_module(info.name), "__all__", None):
            found.append(info.name)
    return sorted(found)


def without_docstring(modules):
    """Returns the public classes and functions without a docstring, each under the first module that names it."""
    missing, seen = [], set()
    for name in modules:
        module = importlib.import_module(name)
        for key in getattr(module, "__all__", None) or [k for k in vars(module) if not k.startswith("_")]:
            value = getattr(module, key, None)
            if not (inspect.isclass(value) or inspect.isroutine(value)) or id(value) in seen:
                continue
            seen.add(id(value))
            if not (inspect.getdoc(value) or "").strip():
                missing.append(f"{name}.{key}")
    return missing


class Links(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.targets, self.places = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        for key, value in attrs:
            if key == "id":
                self.places.add(value)
            elif key == "href" and tag == "a":
                self.targets.append(value)


def broken_links(folder):
    """Returns the links to missing pages, classes or functions. Private names have no page, but lists of inherited members name them all the same."""
    pages = {path.resolve(): Links(path.read_text()) for path in folder.rglob("*.html")}
    for path, page in pages.items():
        for target in page.targets:
            if not target or target.startswith(("http:", "https:", "mailto:")):
                continue
            file, _, place = target.partition("#")
            if any(part.startswith("_") for part in [*pathlib.PurePosixPath(file).parts, *place.split(".")]):
                continue
            to = (path.parent / file).resolve() if file else path
            if to not in pages or (place and place.split(".")[0] not in pages[to].places):
                yield f"{path.relative_to(folder.resolve())}: {target}"


def main():
    folder = pathlib.Path(sys.argv[1])
    modules = public_modules()
    sindri.__all__ += [name for name, value in vars(sindri).items() if inspect.isclass(value) and issubclass(value, Exception)]  # not imported by *
    missing = without_docstring(modules)
    if missing:
        sys.exit(f"error: {len(missing)} public names without a docstring: {', '.join(missing[:40])} | give each a line that says what it does")
    pdoc.render.configure(show_source=False, docformat="google", footer_text="Sindri", search=True)
    pdoc.pdoc(*modules, output_directory=folder)
    broken = sorted(set(broken_links(folder)))
    if broken:
        sys.exit(f"error: {len(broken)} broken links in the Python reference: {'; '.join(broken[:20])}")


if __name__ == "__main__":
    main()
