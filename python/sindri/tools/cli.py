"""Command lines of the tools: `sindri convert`, `sindri compare` and `sindri map`, also available as `python -m sindri …`."""
import argparse
import json
import os
import sys
from typing import Any, Dict, List, NoReturn, Optional, Sequence, Tuple

from sindri import _core
from sindri.tools import _safetensors, compare, convert, counterparts
from sindri.tools._errors import usage

__all__ = ["main"]

_CONVERT = """examples:
  python -m sindri convert resnet18.pth resnet18.ckpt
  python -m sindri convert model-90_625.ckpt model.safetensors --drop-state

Converts weights between MindSpore checkpoints (.ckpt), safetensors and PyTorch
state dicts (.pth, .pt: needs torch in this Python). Values are bitwise
identical. Names become those of the target: batch norm's gamma and weight,
moving_mean and running_mean, embedding tables, and the paths of torchvision's
ResNets (downsample and down_sample_layer, fc and end_point). Entries that the
target cannot hold are dropped, and the report lists them with the reason.
"""
_MAP = """a map file has one rule per line, and the first matching rule applies; `*` matches any text:
  shortcut.*        down_sample_layer.*
  *.step_counter    -                      # dropped
  conv1d.weight     conv1d.weight          squeeze=2

exit codes: 0 success, 2 usage, 4 a file's contents, 5 a file cannot be used
"""
_COMPARE = """examples:
  python -m sindri compare diff ours.npz theirs.npz
  python -m sindri compare record step.py:make ours.npz

Compares one training step of two networks value by value: inputs, weights,
layer outputs, the loss, gradients and updated weights. Create records with
sindri.tools.compare.record and record_torch, or with `record` here.
"""


_COUNTERPARTS = """examples:
  python -m sindri map torch.nn.Conv2d torch.cat
  python -m sindri map train.py

Prints Sindri's counterpart of each PyTorch or MindSpore name, and the
differences (docs/guide/migration.md). A script is read, not run; its names
without a counterpart come first.
"""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise usage(message, self.prog, f"{self.prog} --help shows examples")


def _parser() -> _Parser:
    top = _Parser(prog="python -m sindri", description="Tools around training.")
    verbs = top.add_subparsers(dest="verb", metavar="VERB", required=True, parser_class=_Parser)
    form = argparse.RawDescriptionHelpFormatter

    c = verbs.add_parser("convert", help="convert weights between .ckpt, safetensors and PyTorch files", description=_CONVERT, epilog=_MAP, formatter_class=form)
    c.add_argument("source", metavar="IN", help="file to read: .ckpt, .safetensors, .pth, .pt")
    c.add_argument("target", metavar="OUT", help="file to write; its extension determines the format")
    g = c.add_argument_group("names")
    g.add_argument(
        "--names", choices=("mindspore", "torch", "keep"), help="names in OUT; default: mindspore for .ckpt, torch for .pth, keep for .safetensors"
    )
    g.add_argument("--from-names", choices=("auto", "mindspore", "torch"), default="auto", help="names in IN (default: recognised)")
    g.add_argument("--net", choices=("auto", "resnet", "none"), default="auto", help="rules of a known network (default: recognised)")
    g.add_argument("--map", metavar="FILE", help="your own rules, applied before the others")
    g.add_argument("--reverse-map", action="store_true", help="read the map from right to left, for the reverse conversion")
    g = c.add_argument_group("contents")
    g.add_argument("--drop-state", action="store_true", help="omit optimizer state, counters and text entries")
    g.add_argument("--compat", choices=("mindspore1",), help="a .ckpt without checksums, for MindSpore up to 2.0")
    g = c.add_argument_group("output")
    g.add_argument("--force", action="store_true", help="replace OUT if it exists")
    g.add_argument("--verbose", action="store_true", help="show every name")
    g.add_argument("--report", metavar="FILE", help="write the mapping of every name as JSON")

    p = verbs.add_parser("compare", help="compare one training step of two networks", description=_COMPARE, formatter_class=form,
                         epilog="exit codes: 0 equal, 1 the records differ, 2 usage, 4 a file's contents, 5 a file cannot be used")
    sub = p.add_subparsers(dest="action", metavar="ACTION", required=True, parser_class=_Parser)
    d = sub.add_parser(
        "diff",
        help="print where two records first differ",
        formatter_class=form,
        description=(
            "examples:\n"
            "  python -m sindri compare diff ours.npz theirs.npz\n"
            "  python -m sindri compare diff ours.npz theirs.npz --rtol 1e-5 --rtol gradient=0.05\n\n"
            "A tensor differs if its largest difference exceeds atol + rtol x its largest\n"
            "magnitude in B. The first difference in the order of execution is shown first."
        ),
    )
    d.add_argument("a", metavar="A", help="record to compare (.npz with its .json, or .safetensors)")
    d.add_argument("b", metavar="B", help="record to compare it with")
    d.add_argument(
        "--rtol",
        action="append",
        metavar="[KIND=]X",
        default=[],
        help=f"relative tolerance, for all or one of {', '.join(compare.KINDS)} (default 1e-4)",
    )
    d.add_argument("--atol", type=float, default=1e-8, metavar="X", help="absolute tolerance (default 1e-8)")
    d.add_argument("--kinds", metavar="K,…", default=",".join(compare.KINDS), help="compare only these kinds")
    d.add_argument("--all", action="store_true", help="show every difference and every name that only one record has")
    d.add_argument("--json", metavar="FILE", help="write every comparison as JSON")
    s = sub.add_parser("show", help="print the contents of a record")
    s.add_argument("record", metavar="RECORD")
    r = sub.add_parser(
        "record",
        help="run one step and record it",
        formatter_class=form,
        description=(
            "examples:\n"
            "  python -m sindri compare record step.py:make ours.npz\n"
            "  python -m sindri compare record torch_step.py:make theirs.npz\n\n"
            "FUNCTION of SCRIPT takes no arguments and returns (net, loss_fn, optimizer, batch),\n"
            "a Sindri Cell or a PyTorch module with matching arguments."
        ),
    )
    r.add_argument("function", metavar="SCRIPT:FUNCTION", help="a Python file and a function in it")
    r.add_argument("target", metavar="OUT", help="record to write (.npz or .safetensors)")
    r.add_argument("--sample", type=int, metavar="N", help="keep at most N evenly spaced elements of each tensor")

    m = verbs.add_parser("map", help="print Sindri's counterparts of PyTorch's and MindSpore's names", description=_COUNTERPARTS, formatter_class=form,
                         epilog="exit codes: 0 every name has a counterpart, 1 some have none, 2 usage")
    m.add_argument("names", nargs="*", metavar="NAME|SCRIPT", help="torch.nn.Conv2d, nn.Conv2d, F.relu, mindspore.ops.concat, or a Python file")
    m.add_argument("--all", action="store_true", help="list every entry of the table")
    m.add_argument("--json", metavar="FILE", help="write the answers as JSON; -: to standard output instead of the text")
    return top


def _run_convert(a: argparse.Namespace) -> int:
    report = convert.convert(a.source, a.target, names=a.names, source_names=a.from_names, net=a.net, mapping=a.map, reverse_map=a.reverse_map,
                             drop_state=a.drop_state, overwrite=a.force, compat_mindspore1=a.compat == "mindspore1")
    print(report.table(a.verbose))
    if a.report:
        rows = [{"old": r.old, "new": r.new, "what": r.what, "rule": r.rule, "shape": r.shape} for r in report.rows]
        _write_json(a.report, {"source": report.source, "target": report.target, "rows": rows, "notes": report.notes})
    return 0


def _run_map(a: argparse.Namespace) -> int:
    wanted = counterparts.names() if a.all else a.names
    if not wanted:
        raise usage("no name given", "map", "name one: sindri map torch.nn.Conv2d; --all lists every entry")
    texts: List[str] = []
    found: List[Dict[str, Any]] = []
    lacking = False
    for name in wanted:
        if name.endswith(".py") or os.path.isfile(name):
            uses = counterparts.scan(name)
            texts.append(counterparts.scan_text(name, uses))
            found.append({"script": name, "names": [{**u.answer.record(), "lines": u.lines, "method": u.method} for u in uses]})
            lacking = lacking or any(not u.answer.sindri for u in uses)
        else:
            answer = counterparts.find(name)
            texts.append(answer.text())
            found.append(answer.record())
            lacking = lacking or not answer.sindri
    if a.json != "-":
        print("\n".join(texts))
    if a.json == "-":
        print(json.dumps(found, indent=1, ensure_ascii=False))
    elif a.json:
        _write_json(a.json, found)
    return 1 if lacking and not a.all else 0


def _write_json(path: str, value: Any) -> None:
    _safetensors.write_whole(path, [json.dumps(value, indent=1).encode()])


def _tolerances(texts: List[str]) -> Dict[str, float]:
    out: Dict[str, float] = {}
    for text in texts:
        kind, _, number = text.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            raise usage(f"expected a number, got '{number}'", f"--rtol {text}") from None
        out.update({kind: value} if kind else dict.fromkeys(compare.KINDS, value))
    return out


def _run_diff(a: argparse.Namespace) -> int:
    result = compare.diff(a.a, a.b, _tolerances(a.rtol), a.atol, tuple(k for k in a.kinds.split(",") if k))
    print(result.table(a.all))
    if a.json:
        rows = [{"kind": d.kind, "name": d.name, "what": d.what, "max_abs": d.max_abs, "relative": d.relative, "at": list(d.at), "a": d.a, "b": d.b}
                for d in result.values]
        _write_json(a.json, {"equal": result.equal, "values": rows, "only_a": result.only[0], "only_b": result.only[1]})
    return 0 if result.equal else 1


def _call(text: str) -> Tuple[Any, ...]:
    """Returns the result of FUNCTION of SCRIPT."""
    script, colon, name = text.rpartition(":")
    if not colon or not script.endswith(".py") or not name:
        raise usage(f"expected SCRIPT.py:FUNCTION, got '{text}'", "compare record")
    if not os.path.isfile(script):
        raise usage(f"there is no script '{script}'", script, "check the path")
    import runpy
    sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
    functions = runpy.run_path(script)
    if not callable(functions.get(name)):
        raise usage(f"'{script}' defines no function '{name}'", script)
    step = functions[name]()
    if not isinstance(step, tuple) or len(step) != 4:
        raise usage(f"{name} must return (net, loss_fn, optimizer, batch), got {type(step).__name__}", script)
    return step


def _run_record(a: argparse.Namespace) -> int:
    if not a.target.endswith((".npz", ".safetensors")):
        raise usage(f"a record's file must end in .npz or .safetensors, got '{a.target}'", a.target)
    if a.sample is not None and a.sample < 1:
        raise usage(f"--sample must be at least 1, got {a.sample}")
    net, loss_fn, optimizer, batch = _call(a.function)
    is_torch = type(net).__module__.startswith("torch") or any(c.__module__.startswith("torch.nn") for c in type(net).__mro__)
    run = compare.record_torch if is_torch else compare.record
    print(f"{a.target} ({run(net, loss_fn, optimizer, batch, a.target, sample=a.sample).summary()})")
    return 0


def _run_show(a: argparse.Namespace) -> int:
    rec = compare.load(a.record)
    print(f"{a.record} ({rec.summary()})")
    for i in rec.items:
        values = i.array.astype("float64").reshape(-1)
        stats = f"  mean {values.mean():.6g}, from {values.min():.6g} to {values.max():.6g}" if values.size else ""
        print(f"  {i.kind:10} {i.name} {list(i.shape)}{stats}")
    return 0


def _show(e: Exception) -> int:
    """Prints an error to stderr and returns the exit code: the thousands of the error's number."""
    code = int(getattr(e, "code", 1001))
    message, where, fix = (str(getattr(e, part, "")) for part in ("message", "where", "fix"))
    print(f"error[E{code}] {message or e}", file=sys.stderr)
    for title, text in (("where", where), ("fix", fix)):
        if text:
            print(f"  {title}: {text}", file=sys.stderr)
    return code // 1000


def main(argv: Optional[Sequence[str]] = None) -> int:
    """Runs a command line and returns its exit code.

    Args:
        argv (Sequence[str], optional): The arguments without the program's name. Default: None, those of the process.

    Returns:
        int.

    Examples:
        >>> from sindri.tools import cli
        >>> code = cli.main(["map", "mindspore.ops.concat"])
        mindspore.ops.concat -> sindri.ops.concat
        >>> code
        0
    """
    try:
        a = _parser().parse_args(argv)
        run = {"convert": _run_convert, "map": _run_map, "diff": _run_diff, "show": _run_show, "record": _run_record}
        return run[a.action if a.verb == "compare" else a.verb](a)
    except _core.Error as e:
        return _show(e)
    except MemoryError:
        print("error[E5002] out of memory\n  fix: close other programs", file=sys.stderr)
        return 5
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 0
