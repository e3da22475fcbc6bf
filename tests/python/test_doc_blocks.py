"""Tests that every command and code block of README.md, docs and the other pages of the tree does what the page says.

The fenced blocks of a page run in order, in one folder that looks like the root of the sources. A `text` block after a block is its expected output. In it, `…`
matches anything (alone on a line: any lines), and numbers may differ by 5 %, because kernels differ between processors in the last bits. A first line
`# NAME.yaml` (`# NAME.py`, `// NAME.cc`) names the file in which a block is kept for later blocks. Comments before a block, invisible to readers:

    <!-- given: CODE -->         what a reader has already: runs first, in the block's language (before YAML and console: in the shell)
    <!-- not run: REASON -->     the block is only for reading
"""
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow  # omitted by scripts/test.sh --quick and --fast

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "release"
FOLDERS = sorted(p for p in ROOT.iterdir() if p.is_dir() and p.name not in ("build", "runs") and not p.name.startswith("."))
PAGES = [ROOT / "README.md", *(page for folder in FOLDERS for page in sorted(folder.rglob("*.md")) if "```" in page.read_text(encoding="utf-8"))]
TIMEOUT = 120  # seconds per block
# The number of blocks on a page that are not run; a new one needs a reason and a higher number here.
MOST_NOT_RUN = {
    "README.md": 3, "docs/benchmarks.md": 5, "docs/contributing.md": 1, "docs/design/cuda.md": 2, "docs/design/python.md": 1, "docs/design/runtime.md": 2, "docs/errors.md": 1,
    "docs/guide/cpp.md": 1, "docs/guide/distributed.md": 6, "docs/guide/fine_tuning.md": 4, "docs/guide/gpu.md": 9, "docs/guide/measuring.md": 2, "docs/guide/migration.md": 6,
    "docs/guide/mixed_precision.md": 2, "docs/guide/python.md": 3, "docs/guide/watching.md": 2, "docs/thor.md": 2, "python/README.md": 1,
    "python/examples/dimension_reduce/README.md": 1, "python/examples/adasum/README.md": 2, "python/examples/resnet/README.md": 3, "python/examples/resnet_thor/README.md": 1, "docs/boost/adasum.md": 2, "docs/boost/dim_reduce.md": 1,
}


@dataclasses.dataclass
class Block:
    """A fenced block. where: page:line; shown: the output that the page shows after it, if any."""
    where: str
    language: str
    code: str
    given: str = ""
    not_run: str = None
    shown: str = None


def blocks_of(page, text):
    """Returns the blocks of a page's text in order; each output is attached to its block."""
    found, comments, lines, i = [], {}, text.splitlines(), 0
    follows = False  # only empty lines since the last block
    in_list = False
    while i < len(lines):
        line, start = lines[i], i
        if mark := re.match(r"\s*<!-- (given|not run):\s?(.*)", line):
            body = mark[2]
            while "-->" not in lines[i]:
                i += 1
                body += "\n" + lines[i]
            comments[mark[1]] = body.split("-->")[0].strip()
        elif fence := re.match(r"( *)```+ *([\w+-]*)", line):
            indent, language, body = len(fence[1]), fence[2], []
            i += 1
            while i < len(lines) and not re.match(r" *```+ *$", lines[i]):
                body.append(lines[i][min(indent, len(lines[i]) - len(lines[i].lstrip())):])
                i += 1
            assert i < len(lines), f"{page}:{start + 1}: this block is not closed"
            code = "\n".join(body) + "\n"
            if language == "text" and follows and not comments and found[-1].shown is None and found[-1].language != "text":
                found[-1].shown = code
            else:
                found.append(Block(f"{page}:{start + 1}", language, code, comments.get("given", ""), comments.get("not run")))
            follows, comments = True, {}
        elif re.match(r" {4}\S", line) and (i == 0 or not lines[i - 1].strip()) and not in_list:
            raise AssertionError(f"{page}:{start + 1}: an indented block, which is not run: use ``` with its language")
        elif line.strip():
            in_list = bool(re.match(r"\s*([*+-]|\d+\.) ", line)) or (in_list and line.startswith(" "))
            assert not comments, f"{page}:{start + 1}: {comments} is not directly before a block"
            follows = False
        i += 1
    return found


NUMBER = re.compile(r"\d+(?:\.\d+)?")


def same_line(shown, line):
    """Returns whether the line matches: … stands for any text, numbers within 5 %."""
    pattern, wanted, end = "", [], 0
    for part in re.finditer(rf"…|{NUMBER.pattern}", shown):
        pattern += re.escape(shown[end:part.start()])
        pattern += ".*?" if part[0] == "…" else rf"({NUMBER.pattern})"
        wanted += [] if part[0] == "…" else [float(part[0])]
        end = part.end()
    found = re.fullmatch(pattern + re.escape(shown[end:]), line)
    return bool(found) and all(abs(float(f) - w) <= 0.05 * abs(w) for f, w in zip(found.groups(), wanted))


def same_output(shown, output):
    """Returns whether the output matches, line by line; … alone on a line matches any lines, also none."""
    if not shown:
        return not output
    if shown[0].strip() == "…":
        return any(same_output(shown[1:], output[i:]) for i in range(len(output) + 1))
    return bool(output) and same_line(shown[0].rstrip(), output[0].rstrip()) and same_output(shown[1:], output[1:])


class Page:
    """A folder like the root of the sources, in which blocks run."""

    def __init__(self, folder):
        self.folder = folder
        for entry in ROOT.iterdir():
            if entry.name not in (".git", "runs"):
                (folder / entry.name).symlink_to(entry)
        self.environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "PATH": f"{pathlib.Path(sys.executable).parent}:{BUILD}:{os.environ['PATH']}",
                            "NO_COLOR": "1", "SINDRI_CACHE_DIR": str(folder / ".sindri-cache")}  # a reader's first commands find no cache

    def call(self, arguments, where):
        """Runs a command and returns its standard output."""
        done = subprocess.run(arguments, cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT)
        assert done.returncode == 0, f"{where}: exit code {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        return done.stdout

    def shell(self, code, where):
        return self.call(["bash", "-euo", "pipefail", "-c", code], where)

    def keep(self, block, comment, ending):
        """Writes the block to the file that its first line names, else to a new file."""
        named = re.match(rf"{comment} ([\w-]+\.{ending})\n", block.code)
        path = self.folder / (named[1] if named else f"block.{ending}")
        path.write_text(block.code)
        return path

    def run(self, block):
        """Runs a block according to its language and returns its output."""
        run = {"bash": self.run_bash, "console": self.run_console, "python": self.run_python, "cpp": self.run_cpp, "yaml": self.run_yaml}.get(block.language)
        assert run, (f"{block.where}: a block of '{block.language}' cannot be run: use bash, console, python, cpp or yaml, "
                     "or put 'text' after the block that prints it, or give a reason")
        return run(block)

    def run_bash(self, block):
        if block.given:
            self.shell(block.given, f"{block.where} (given)")
        return self.shell(block.code, block.where)

    def run_console(self, block):
        """Lines that begin with `$ ` are commands, the lines after them their output."""
        if block.given:
            self.shell(block.given, f"{block.where} (given)")
        for part in re.split(r"^\$ ", block.code, flags=re.M)[1:]:
            command, shown = part.split("\n", 1)
            check(shown, self.shell(command, block.where), f"{block.where}: $ {command}")
        return ""

    def run_python(self, block):
        path = self.keep(block, "#", "py")
        if block.given:
            path.write_text(f"{block.given}\n{block.code}")
        return self.call([sys.executable, str(path)], block.where)

    def run_cpp(self, block):
        path = self.keep(block, "//", "cc")
        if "int main(" not in block.code:
            lines = block.code.splitlines()
            includes = ["#include <sindri/sindri.h>", "#include <cstdio>", *(line for line in lines if line.startswith("#include"))]
            body = [block.given, *(line for line in lines if not line.startswith("#include"))]
            path.write_text("\n".join([*includes, "using namespace sindri;", "int main() {", *body, "}", ""]))
        program = path.with_suffix("")
        self.call([os.environ.get("CXX", "c++"), "-std=c++20", "-Wall", "-Wextra", "-Werror", str(path), f"-I{ROOT / 'include'}", f"-L{BUILD}", "-lsindri",
                   f"-Wl,-rpath,{BUILD}", "-o", str(program)], block.where)
        return self.call([str(program)], block.where)

    def run_yaml(self, block):
        if block.given:
            self.shell(block.given, f"{block.where} (given)")
        return self.call(["sindri", "train", "--config", str(self.keep(block, "#", "yaml")), "--print-config"], block.where) and ""


def check(shown, output, where):
    assert same_output(shown.splitlines(), output.splitlines()), f"{where}: the page shows\n{shown}\nbut it printed\n{output[-4000:]}"


def name_of(page):
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_blocks_run_as_shown(page, tmp_path, missing):
    blocks = blocks_of(name_of(page), page.read_text(encoding="utf-8"))
    place = Page(tmp_path)
    if shutil.which("sindri", path=place.environment["PATH"]) is None:
        missing("the program sindri is not built: scripts/build.sh release sindri_program")
    compiles = any(block.language == "cpp" or re.search(r"\b(c\+\+|cmake|build/release)\b", block.code) for block in blocks if block.not_run is None)
    if compiles and not (BUILD / "sindri").exists():
        missing("this page compiles C++ with the build tree: scripts/build.sh release sindri_program")
    if compiles and shutil.which(os.environ.get("CXX", "c++")) is None:
        missing("no C++ compiler was found")
    for block in blocks:
        if block.not_run is None:
            output = place.run(block)
            if block.shown is not None:
                check(block.shown, output, block.where)


def test_nothing_is_indented():
    """Rejects indented blocks, which have no fence, on every page."""
    for folder in FOLDERS:
        for page in sorted(folder.rglob("*.md")):
            blocks_of(name_of(page), page.read_text(encoding="utf-8"))


def test_what_is_not_run_says_why():
    left_out = {}
    for page in PAGES:
        for block in blocks_of(name_of(page), page.read_text(encoding="utf-8")):
            if block.not_run is not None:
                assert len(block.not_run.split()) >= 2, f"{block.where}: give the reason why this block is not run"
                left_out.setdefault(name_of(page), []).append(f"{block.where}: {block.not_run}")
    for found in left_out.values():
        print(*found, sep="\n")
    assert {page: len(found) for page, found in left_out.items()} == MOST_NOT_RUN


def test_a_wrong_page_is_noticed(tmp_path):
    """Tests this test: exit codes, outputs, unknown languages and stray markers."""
    text = "```bash\necho 1.00 a\n```\n\n```text\n1.04 …\n```\n<!-- not run: two hosts -->\n```bash\nexit 1\n```\n```bash\nexit 3\n```\n"
    good, left, bad = blocks_of("p.md", text)
    place = Page(tmp_path)
    check(good.shown, place.run(good), good.where)
    for wrong in ("1.06 a", "1.00 b", "1.00 a\nmore", "…\n1.00 b", ""):
        with pytest.raises(AssertionError, match="the page shows"):
            check(wrong, place.run(good), good.where)
    check("…\n1 …\n…", place.run(good), good.where)
    assert left.not_run == "two hosts"
    with pytest.raises(AssertionError, match="p.md:12: exit code 3"):
        place.run(bad)
    with pytest.raises(AssertionError, match="cannot be run"):
        place.run(blocks_of("p.md", "```\nx\n```\n")[0])
    with pytest.raises(AssertionError, match="is not directly before a block"):
        blocks_of("p.md", "<!-- not run: a b -->\nprose\n")
    with pytest.raises(AssertionError, match="is not closed"):
        blocks_of("p.md", "```bash\n")
    with pytest.raises(AssertionError, match="p.md:3: an indented block"):
        blocks_of("p.md", "prose\n\n    sindri train\n")
    assert blocks_of("p.md", "* item\n\n    more of it\n\n1. one\n\n    more\n") == []
