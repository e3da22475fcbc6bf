#!/usr/bin/env python3
"""Checks the English of pages, comments, docstrings and messages against docs/design/glossary.md.

    check_prose.py [PATH ...]          reports phrases that readers of the field stumble over, with what to write instead
    check_prose.py --counts [PATH ...] counts them by folder
    check_prose.py --long [PATH ...]   lists sentences of more than 40 words in Markdown
    check_prose.py --wrap FILE ...     wraps the paragraphs of Markdown files at 120 columns
    check_prose.py --self-test         plants each phrase and expects a report

Without PATH all files that git tracks are read. It reports phrases of PHRASES, Markdown lines of more
than 120 columns (tables, code and links excepted) and subjects of the newest commits over 72 characters. Code, whether in fences,
in backticks or outside of comments and strings, is not prose and is not read. Exit code 1: something was found.
"""
import argparse
import io
import pathlib
import re
import subprocess
import sys
import textwrap
import tokenize
from collections import Counter

ROOT = pathlib.Path(__file__).resolve().parent.parent
COLUMNS, WORDS, SUBJECT = 120, 40, 72

# Name, regular expression over prose (case is ignored), what to write instead.
PHRASES = [
    ("behind", r"\bbehind\b", "after, following, in sequence"),
    ("go on", r"\b(goes|go|going|went|gone) on\b", "continue, resume"),
    ("whoever", r"\bwhoever\b", "you, a user who"),
    ("a training", r"\b(a|an|each|every|one|that|another|whole|first|second) training(?=[.,;:)]| (is|are|was|has|that|which|of|on|with|in|at|by|goes|ends|starts)\b)",
     "a training run, a run, a call of Model.train"),
    ("trainings", r"\btrainings\b", "training runs"),
    ("put together", r"\bput together\b", "reduced, gathered, combined, built"),
    ("leave out", r"\b(left|leaves?|leaving) ((it|them|this|that|these|those|one) )?out\b", "omit, skip"),
    ("of its own", r"\bof (its|their|his|our|your|one's) own\b", "separate, its, your own ..."),
    ("by itself", r"\bby (itself|themselves)\b", "alone, automatically, on its own terms"),
    ("anew", r"\banew\b", "again"),
    ("is no", r"(?<!there )\b(is|are|was|were) no (?!longer\b|more\b|less\b|fewer\b|greater\b|larger\b|smaller\b|different\b|matter\b|better\b|worse\b|faster\b|slower\b)\w+",
     "is not a, does not"),
    ("where it", r"(?<!place )(?<!places )(?<!position )(?<!point )\bwhere (it|they) (?!comes? from|lies?\b|stands?\b)\w+", "if it, when it"),
    ("what-clause", r"(?:^|(?<=[.;:!?] )|(?<=  )|(?<=\x01))What (?![^.?!]{0,160}\?)[^.?!;:]{3,90}? (is|are|has|have|was|were|does|gets?|stays?|needs?)\b", "name the thing as the subject"),
    ("is told", r"\b(is|are|was|were|be) told\b|\btells of\b|\btold of\b", "reports, warns, prints"),
    ("is said", r"\b(is|are|was|were) said\b", "says, reports, prints"),
    ("beside", r"\bbeside\b", "next to, compared with, besides"),
    ("as ever", r"\bas ever\b", "as before"),
    ("begin", r"\b(at|from|of|in) (the|its|their|every|each) begin\b|\bthe begin of\b|\bto begin with\b", "start, initial"),
    ("so many", r"\bso many (times|of)\b", "this factor, this number"),
    ("dear", r"\bdear(er|est)?\b", "expensive, costly"),
    ("judge", r"\bjudg(e|es|ed|ing)\b", "evaluate, check, decide"),
    ("without a word", r"\bwithout a word\b", "silently"),
    ("take back", r"\b(takes?|taken|took) back\b", "restore, undo"),
    ("bring", r"\bbrings?\b|\bbrought\b", "provide, include, cause"),
    ("bits", r"\b(same|CPU's|its|the|their) bits\b(?! (of|in|that) )", "bitwise identical"),
    ("picture", r"\bpictures?\b", "image (data) or plot (drawn result)"),
    ("want", r"\bwants\b|(?<!you )(?<!users )(?<!to )\bwant\b(?! to)", "needs, requires, expects"),
    ("look at", r"\b(is|are|was|were|be) looked at\b", "inspected, checked, read"),
    ("hand over", r"\b(hand|hands|handed) (over|on)\b", "pass"),
    ("come to", r"\bwhat [^.;:]{1,40} comes? to\b", "amounts to; name the thing"),
    ("stand for if", r"\bstands in\b|\bin whose place\b", "is written in, is stored in, replaces"),
    ("in turns", r"\bin turns\b", "alternately"),
    ("out of range", r"\bnumbers out of range\b", "values out of range"),
    ("a second", r"\b(cards|ranks|GPUs) a host\b|\b(images|samples|steps) a second\b", "per host, per second"),
    ("described GPU", r"\bdescribed (H\d+|GPUs?|devices?)\b", "a device description of"),
    ("data set", r"\bdata sets?\b", "dataset"),
    ("photograph", r"\bphotographs? of ordinary\b", "ordinary photographs"),
]

# (path prefix, phrase, text around it, reason): passages that keep their words.
EXCEPTIONS = [
    ("scripts/check_prose.py", None, "", "holds the list itself"),
    ("docs/design/glossary.md", None, "", "names the phrases it replaces"),
    ("tests/comm/identity_test.cc", "want", "what do ya want for nothing?", "a test vector of RFC 4231"),
    ("tests/python/test_launch_scripts.py", "data set", "", "a folder whose name needs quotes"),
    ("tests/python/", "picture", "picture ", "keys of recorded results"),
    ("tests/python/test_nn_amp.py", "want", "level, want", "names of parameters"),
]

SOURCES = {".cc": "c", ".h": "c", ".cu": "c", ".def": "c", ".py": "py", ".pyi": "py", ".md": "md", ".sh": "sh", ".cmake": "sh", ".yaml": "sh", ".txt": "sh"}

C_TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|R"(?P<d>[^(\s]{0,16})\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'""", re.S)


def blank(match):
    """Returns the match with a placeholder for every character except line ends, so that positions stay."""
    return re.sub(r"[^\n]", "\x00", match.group(0))


def md_prose(text):
    text = re.sub(r"^(```|~~~).*?^\1[^\n]*$", blank, text, flags=re.S | re.M)
    text = re.sub(r"<!--.*?-->", blank, text, flags=re.S)
    text = re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", blank, text, flags=re.S)
    text = re.sub(r"\]\([^)\s]*\)", blank, text)
    # Table cells, list items and headings end a sentence.
    yield 1, re.sub(r"^(\s*(?:[-*] |\d+\. |#+ |\|))", lambda m: re.sub(r"[^\n]", "\x01", m.group(0)), text.replace("|", "\x01"), flags=re.M)


def joined(pieces):
    """Yields neighbouring comment lines [(line, text)] as one passage (line, text with line ends)."""
    run, last = [], None
    for line, text in pieces:
        if last is not None and line != last + 1 and run:
            yield run[0][0], "\n".join(t for _, t in run)
            run = []
        run.append((line, text))
        last = line + text.count("\n")
    if run:
        yield run[0][0], "\n".join(t for _, t in run)


def c_prose(text):
    comments = []
    for m in C_TOKEN.finditer(text):
        t, line = m.group(0), text.count("\n", 0, m.start()) + 1
        if t.startswith("//"):
            comments.append((line, t.lstrip("/<! ")))
        elif t.startswith("/*"):
            yield line, t.strip("/* ")
        elif t.startswith(('"', "R")) and not text[text.rfind("\n", 0, m.start()) + 1:m.start()].lstrip().startswith("#include"):
            if " " in t:  # keys and names are not prose
                yield line, t.strip('R"')
    yield from joined(comments)


def py_prose(text):
    comments = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                comments.append((token.start[0], token.string.lstrip("#! ")))
            elif token.type == tokenize.STRING and " " in token.string:
                yield token.start[0], re.sub(r"^[ \t]*(>>>|\.\.\.).*$", blank, token.string.strip("rbfuRBFU").strip("\"'"), flags=re.M)
    except (tokenize.TokenError, IndentationError):
        pass
    yield from joined(comments)


def sh_prose(text):
    yield from joined([(text.count("\n", 0, m.start()) + 1, m.group(1)) for m in re.finditer(r"(?:^|(?<=\s))#+ ?([^\n!][^\n]*)", text)])


def prose(path, text):
    kind = SOURCES[path.suffix]
    passages = {"md": md_prose, "c": c_prose, "py": py_prose, "sh": sh_prose}[kind](text)
    for line, passage in passages:
        if kind != "md":  # `code`, flags and placeholders
            passage = re.sub(r"`[^`\n]+`|(?<!\w)--[\w-]+|\{[^{}\n]*\}", blank, passage)
        yield line, passage


def excepted(name, phrase, around):
    return any(name.startswith(prefix) and key in (None, phrase) and words in around for prefix, key, words, _ in EXCEPTIONS)


def phrases_in(name, path, text):
    for first, passage in prose(path, text):
        flat = passage.replace("\n", " ")
        for phrase, expression, instead in PHRASES:
            for m in re.finditer(expression, flat, re.I if phrase != "what-clause" else 0):
                if "\x00" in m.group(0) or "\x01" in m.group(0):
                    continue
                around = flat[max(0, m.start() - 40):m.end() + 40].replace("\x00", "`").replace("\x01", "|")
                if not excepted(name, phrase, around):
                    yield first + passage.count("\n", 0, m.start()), phrase, around.strip(), instead


def wide_lines(text):
    fence = False
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r"\s*(```|~~~)", line):
            fence = not fence
        if not fence and len(line) > COLUMNS and not line.lstrip().startswith("|") and not re.search(r"https?://\S{60}", line):
            yield number, line


def long_sentences(path, text):
    for first, passage in md_prose(text):
        for m in re.finditer(r"[^\x01]+?(?:[.!?](?=\s|$)|\n\s*\n|(?=\x01))", passage):
            if len(m.group(0).split()) > WORDS:
                yield first + passage.count("\n", 0, m.start()), " ".join(m.group(0).split())


def wrap(text):
    """Returns Markdown with paragraphs and list items wrapped at COLUMNS; tables, fences, headings, comments and HTML stay."""
    out, paragraph, fence = [], [], None

    def flush():
        if paragraph:
            marker = re.match(r"(\s*(?:[-*] |\d+\. |> )?)", paragraph[0]).group(1)
            words = " ".join(line.strip() if i else line[len(marker):] for i, line in enumerate(paragraph)).split()
            inside = marker if marker.strip() == ">" else " " * len(marker)
            # A wrapped line that begins like a list item or a heading would become one, so its marker is escaped.
            lines = textwrap.wrap(" ".join(words), COLUMNS, initial_indent=marker, subsequent_indent=inside, break_long_words=False, break_on_hyphens=False)
            out.extend(re.sub(r"^(\s*)(\d*)([-+*#.])(?= )", r"\1\2\\\3", line) if i else line for i, line in enumerate(lines))
            paragraph.clear()

    comment = False
    for line in text.splitlines():
        if comment or "<!--" in line:
            flush()
            comment = "-->" not in line[line.rfind("<!--"):] if "<!--" in line else "-->" not in line
            out.append(line)
        elif re.match(r"\s*(```|~~~)", line):
            if fence is None:
                flush()
            fence = None if fence else True
            out.append(line)
        elif fence or re.match(r"\s*(\||#|<|$)", line) or line.endswith("  "):
            flush()
            out.append(line)
        else:
            if re.match(r"\s*([-*] |\d+\. |> )", line):
                flush()
            paragraph.append(line)
    flush()
    return "\n".join(out) + "\n"


def tracked(paths):
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-co", "--exclude-standard", "--", *paths], capture_output=True, text=True, check=True).stdout.split("\n")
    for name in listed:
        path = ROOT / name
        if path.suffix in SOURCES and path.is_file():
            yield name, path


def self_test():
    samples = {
        "behind": "Two steps behind the first.", "go on": "The run goes on.", "whoever": "Whoever reads it.", "a training": "It ends a training.",
        "trainings": "Two trainings ran.", "put together": "They are put together.", "leave out": "Steps are left out.", "of its own": "A loop of its own.",
        "by itself": "It runs by itself.", "anew": "It starts anew.", "is no": "This is no tensor.", "where it": "Where it has a bias, it is added.",
        "what-clause": "What was trained is saved.", "is told": "The user is told.", "is said": "It is said once.", "beside": "It runs beside others.",
        "as ever": "It works as ever.", "begin": "At the begin of a run.", "so many": "They are so many times larger.", "dear": "The dearest op.",
        "judge": "It judges the net.", "without a word": "It stops without a word.", "take back": "It takes back a setting.", "bring": "It brings cuDNN.",
        "bits": "It gives the same bits.", "picture": "A picture of it.", "want": "The op wants a mask.", "look at": "It is looked at.",
        "hand over": "It is handed over.", "come to": "See what it comes to.", "stand for if": "It stands in the table.", "photograph": "Photographs of ordinary size.", "data set": "A data set of images.", "in turns": "They run in turns.",
        "out of range": "For numbers out of range.", "a second": "It trains 100 images a second.", "described GPU": "Plans for a described H100.",
    }
    forms = {"a.md": "# A\n\n{}\n", "a.cc": "int f();  // {}\n", "b.cc": 'const char* t = "{}";\n', "a.py": '"""{}"""\n', "b.py": "x = 1  # {}\n", "a.sh": "ls  # {}\n"}
    wrong = []
    for phrase, _, _ in PHRASES:
        for name, form in forms.items():
            found = [p for _, p, _, _ in phrases_in(name, pathlib.Path(name), form.format(samples[phrase]))]
            if phrase not in found:
                wrong.append(f"{phrase!r} in {name} was not found")
    clean = {"a.md": "Continue with `goes_on` and `left out`:\n\n```\nwhoever anew behind\n```\n", "a.cc": "int behind = anew;  // `whoever` is a name\n", "a.py": "behind = 'x'\n"}
    for name, text in clean.items():
        wrong += [f"code in {name} was read: {p}" for _, p, _, _ in phrases_in(name, pathlib.Path(name), text)]
    if [n for n, _ in wide_lines("a" * 121 + "\n| " + "b" * 130 + "\n```\n" + "c" * 130 + "\n```\n")] != [1]:
        wrong.append("columns are not counted")
    if not list(long_sentences(pathlib.Path("a.md"), "word " * 41 + ".\n")) or list(long_sentences(pathlib.Path("a.md"), "word " * 30 + ".\n")):
        wrong.append("long sentences are not found")
    if wrap("one two\nthree\n\n- " + "word " * 30 + "\n") != "one two three\n\n- " + ("word " * 23).strip() + "\n  " + ("word " * 7).strip() + "\n":
        wrong.append("paragraphs are not wrapped")
    if wrap("word " * 23 + "of 12. After\n").splitlines()[1] != "12\\. After":
        wrong.append("a number at the start of a line becomes a list")
    commented = "<!-- given: a\nb -->\none\ntwo\n"
    if wrap(commented) != "<!-- given: a\nb -->\none two\n":
        wrong.append("comments are wrapped")
    for line in wrong:
        print(f"check_prose: {line}")
    print(f"check_prose: self-test {'failed' if wrong else 'passed'}")
    return 1 if wrong else 0


def subjects():
    log = subprocess.run(["git", "-C", str(ROOT), "log", "--no-merges", "--format=%h %s", "-30"], capture_output=True, text=True)
    for line in log.stdout.splitlines():
        if len(line.split(" ", 1)[1]) > SUBJECT:
            yield line


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("paths", nargs="*")
    for flag, text in (("counts", "count phrases by folder"), ("long", "list long sentences"), ("wrap", "wrap Markdown files"), ("self-test", "test the check")):
        parser.add_argument("--" + flag, action="store_true", help=text)
    args = parser.parse_args()
    if args.self_test:
        return self_test()
    if args.wrap:
        for name in args.paths:
            path = pathlib.Path(name)
            path.write_text(wrap(path.read_text(encoding="utf-8")), encoding="utf-8")
        return 0
    counts, files = Counter(), 0
    for name, path in tracked([str(pathlib.Path(p).resolve().relative_to(ROOT)) for p in args.paths]):
        text = path.read_text(encoding="utf-8", errors="replace")
        files += 1
        if args.long:
            if path.suffix == ".md":
                for line, sentence in long_sentences(path, text):
                    counts[name] += 1
                    print(f"{name}:{line}: {len(sentence.split())} words: {sentence[:100]}...")
            continue
        for line, phrase, around, instead in phrases_in(name, path, text):
            counts["/".join(name.split("/")[:2])] += 1
            if not args.counts:
                print(f"{name}:{line}: {phrase}: \"{around}\" (write: {instead})")
        if path.suffix == ".md":
            for line, _ in wide_lines(text):
                counts["/".join(name.split("/")[:2])] += 1
                if not args.counts:
                    print(f"{name}:{line}: more than {COLUMNS} columns (check_prose.py --wrap {name})")
    if not args.paths and not args.long:
        for line in subjects():
            counts["commits"] += 1
            print(f"commit {line}: subject of more than {SUBJECT} characters")
    if args.counts:
        for folder, n in counts.most_common():
            print(f"{n:6} {folder}")
    print(f"check_prose: {files} files, {sum(counts.values())} {'sentences' if args.long else 'findings'}")
    return 1 if counts and not args.long else 0


if __name__ == "__main__":
    sys.exit(main())
