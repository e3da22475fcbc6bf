"""Conversion of weights between MindSpore's .ckpt, safetensors and PyTorch's state dicts, and of their names.

    from sindri.tools import convert
    print(convert.convert("resnet18.pth", "resnet18.ckpt").table())

Values stay bitwise identical; names follow _names.py. Only entries that the target cannot hold are dropped, and the report lists them with the reason.
"""
import io
import os
import sys
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, Optional, Sequence, Set, Tuple, Union

import numpy as np

from sindri import _core
from sindri.tools import _names, _safetensors
from sindri.tools._errors import damaged, error, file_error, unusable, usage
from sindri.tools._names import NameMap, Row
from sindri.tools._safetensors import Weight

__all__ = ["convert", "from_torch", "rename", "read", "write", "File", "Report", "Weight", "NameMap"]

_FORMATS = {".ckpt": "ckpt", ".safetensors": "safetensors", ".pth": "torch", ".pt": "torch"}
_TITLE = {"ckpt": "MindSpore checkpoint", "safetensors": "safetensors", "torch": "PyTorch state dict"}
_ENGINE_TYPES = {
    "Bool": "BOOL",
    "UInt8": "U8",
    "Int32": "I32",
    "Int64": "I64",
    "Float16": "F16",
    "BFloat16": "BF16",
    "Float32": "F32",
    "Float64": "F64",
}
_NARROW_TYPES = {"Int8": "I8", "Int16": "I16", "UInt16": "U16", "UInt32": "U32", "UInt64": "U64"}  # in files; Tensors use wider types
_TEXT, _BYTES = "sindri.text.", "sindri.bytes."  # prefixes in a safetensors file's metadata for .ckpt entries other than tensors


@dataclass
class File:
    """The contents of a file.

    Args:
        format (str): 'ckpt', 'safetensors' or 'torch'.
        weights (list[Weight]): The tensors in order.
        texts (dict[str, str]): Texts of a .ckpt. Default: none.
        metadata (dict[str, str]): Metadata of a safetensors file. Default: none.
        opaque (set[str]): The tensors that hold bytes in their writer's private format. Default: none.
        notes (list[str]): Notes from reading the file. Default: none.

    Examples:
        >>> import numpy as np
        >>> from sindri.tools import convert
        >>> convert.File("safetensors", [convert.Weight("w", "F32", np.ones(3, np.float32))]).nbytes
        12
    """

    format: str
    weights: List[Weight]
    texts: Dict[str, str] = field(default_factory=dict)
    metadata: Dict[str, str] = field(default_factory=dict)
    opaque: Set[str] = field(default_factory=set)
    notes: List[str] = field(default_factory=list)

    @property
    def nbytes(self) -> int:
        """The size of all weights in bytes."""
        return sum(w.nbytes for w in self.weights)


@dataclass
class Report:
    """The conversion of every name, as text (`table()`) and as data (`rows`).

    Args:
        source (str): The file that was read.
        target (str): The file that was written.
        tensors (int): The number of tensors.
        nbytes (int): The size of all tensors in bytes.
        names (tuple[str, str]): The kinds of names in the source and in the target.
        rows (list[Row]): The conversion of each name.
        notes (list[str]): Notes.

    Examples:
        >>> import os, tempfile
        >>> import sindri as ms
        >>> from sindri.tools import convert
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     source, target = (os.path.join(folder, name) for name in ("net.ckpt", "net.safetensors"))
        ...     ms.save_checkpoint(ms.nn.Dense(3, 2), source)
        ...     report = convert.convert(source, target, names="torch")
        >>> report.tensors, report.nbytes
        (2, 32)
    """

    source: str
    target: str
    tensors: int
    nbytes: int
    names: Tuple[str, str]
    rows: List[Row]
    notes: List[str]

    def count(self, what: str) -> int:
        """Returns the number of tensors that were 'renamed', 'kept' or 'dropped'.

        Args:
            what (str): 'renamed', 'kept' or 'dropped'.

        Returns:
            int.
        """
        return sum(r.what == what for r in self.rows)

    def table(self, verbose: bool = False) -> str:
        """Returns counts by rule with one example each, or every name.

        Args:
            verbose (bool): Whether to list every name. Default: False.

        Returns:
            str.
        """
        lines = [f"{self.source} ({self.tensors} tensors, {_size(self.nbytes)}) -> {self.target} (names: {self.names[0]} -> {self.names[1]})"]
        width = max((len(r.rule) for r in self.rows), default=0)
        for what in ("renamed", "kept", "dropped"):
            rows = [r for r in self.rows if r.what == what]
            lines.append(f"{what:8}{len(rows):6}")
            if what == "kept" and not verbose:
                continue
            if verbose:
                lines += [f"  {_arrow(r)}" + (f"  ({r.rule})" if r.rule else "") for r in rows]
                continue
            by_rule: "OrderedDict[str, List[Row]]" = OrderedDict()
            for r in rows:
                by_rule.setdefault(r.rule, []).append(r)
            lines += [f"  {rule:{width}}{len(group):6}  {_arrow(group[0])}" for rule, group in by_rule.items()]
        return "\n".join(lines + [f"note: {n}" for n in self.notes])


def _arrow(r: Row) -> str:
    if r.what == "kept" or r.new is None:
        return r.old
    return f"{r.old} -> {r.new}" + (f" as {list(r.shape)}" if r.shape is not None else "")


def _size(n: int) -> str:
    return f"{n / 1e6:.1f} MB" if n >= 100_000 else f"{n} bytes"


# --- files ----------------------------------------------------------------------------------------------------------------------

def format_of(path: str) -> str:
    """Determines the format of a file by its extension.

    Args:
        path (str): The file.

    Returns:
        str, 'ckpt', 'safetensors' or 'torch'.

    Raises:
        InvalidValueError: If the extension is unknown.

    Examples:
        >>> from sindri.tools import convert
        >>> convert.format_of("resnet50.pth")
        'torch'
    """
    form = _FORMATS.get(os.path.splitext(path)[1].lower())
    if form is None:
        raise usage(f"the format of '{path}' is unknown", path, f"use one of {', '.join(_FORMATS)}")
    return form


def read(path: str) -> File:
    """Reads a file, whose extension determines the format.

    Args:
        path (str): The file.

    Returns:
        File.

    Raises:
        CheckpointError: If the file is damaged or contains something that cannot be converted.
        IoError: If the file cannot be read.
        InvalidValueError: If the extension is unknown.

    Examples:
        >>> import os, tempfile
        >>> import numpy as np
        >>> from sindri.tools import convert
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "net.safetensors")
        ...     convert.write(path, convert.File("safetensors", [convert.Weight("w", "F32", np.ones(3, np.float32))]))
        ...     content = convert.read(path)
        >>> [w.name for w in content.weights]
        ['w']
    """
    form = format_of(path)
    if not os.path.isfile(path):
        raise error(_core.IoError, 5001, f"there is no file '{path}'", path, "check the path")
    return {"ckpt": _read_ckpt, "safetensors": _read_safetensors, "torch": _read_torch}[form](path)


def write(path: str, content: File, compat_mindspore1: bool = False) -> None:
    """Writes a file, whose extension determines the format. It appears as a whole or not at all.

    Args:
        path (str): The file.
        content (File): The contents.
        compat_mindspore1 (bool): Whether a .ckpt omits checksums, for MindSpore up to 2.0. Default: False.

    Raises:
        CheckpointError: If the format does not support an element type.
        IoError: If the file cannot be written.
        InvalidValueError: If the extension is unknown.

    Examples:
        >>> import os, tempfile
        >>> import numpy as np
        >>> from sindri.tools import convert
        >>> content = convert.File("safetensors", [convert.Weight("w", "F32", np.ones(3, np.float32))])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     convert.write(os.path.join(folder, "net.safetensors"), content)
        ...     os.listdir(folder)
        ['net.safetensors']
    """
    form = format_of(path)
    if form == "ckpt":
        _write_ckpt(path, content, compat_mindspore1)
    elif form == "safetensors":
        metadata = {k: v for k, v in content.metadata.items() if not k.startswith((_TEXT, _BYTES))}
        metadata.update({_TEXT + k: v for k, v in content.texts.items()})
        metadata.update({_BYTES + k: "" for k in sorted(content.opaque)})
        _safetensors.write(path, content.weights, metadata)
    else:
        _write_torch(path, content)


def _read_safetensors(path: str) -> File:
    weights, metadata, verified = _safetensors.read(path)
    texts = {k[len(_TEXT):]: v for k, v in metadata.items() if k.startswith(_TEXT)}
    opaque = {k[len(_BYTES):] for k in metadata if k.startswith(_BYTES)}
    notes = [] if verified else [f"{path} has no integrity data"]
    return File("safetensors", weights, texts, metadata, opaque & {w.name for w in weights}, notes)


def _read_ckpt(path: str) -> File:
    return contents("ckpt", _core.load_checkpoint(path))


def contents(form: str, pairs: Sequence[Tuple[Any, ...]], metadata: Optional[Dict[str, str]] = None) -> File:
    """Builds the contents of a file.

    Args:
        form (str): The format, 'ckpt' or 'safetensors'.
        pairs (Sequence[tuple]): Tuples (name, Tensor, str or bytes), with an optional third element: a narrower integer type by its name in .ckpt.
        metadata (dict, optional): Metadata of the file. Default: None.

    Returns:
        File.

    Raises:
        CheckpointError: If a value does not fit the narrower type.
    """
    content = File(form, [], metadata=dict(metadata or {}))
    for name, value, *stored in pairs:
        if isinstance(value, str):
            content.texts[name] = value
        elif isinstance(value, bytes):
            content.weights.append(Weight(name, "U8", np.frombuffer(value, np.uint8)))
            content.opaque.add(name)
        elif stored:
            code = _NARROW_TYPES[stored[0]]
            wide, kind = value.asnumpy(), np.dtype(_safetensors.NUMPY[code])
            narrow = wide.astype(kind)
            if (narrow.astype(wide.dtype) != wide).any() or kind.kind == "u" and (wide < 0).any():
                raise unusable(f"entry '{name}' holds values that {stored[0]} cannot represent", name, "save it in a wider type")
            content.weights.append(Weight(name, code, narrow))
        else:
            content.weights.append(from_tensor(name, value))
    return content


def entries(content: File) -> List[Tuple[Any, ...]]:
    """Returns the entries of a file's contents, the inverse of `contents`.

    Args:
        content (File): The contents.

    Returns:
        list[tuple], the entries.

    Raises:
        CheckpointError: If Sindri does not support an element type.
    """
    out: List[Tuple[Any, ...]] = []
    names = {code: name for name, code in _NARROW_TYPES.items()}
    for w in content.weights:
        if w.name in content.opaque:
            out.append((w.name, w.array.tobytes()))
        elif w.dtype in names:
            if w.dtype == "U64" and (w.array > np.uint64(2 ** 63 - 1)).any():
                raise unusable(f"tensor '{w.name}' holds U64 values beyond Int64, which Sindri does not support", w.name, "cast it before saving")
            out.append((w.name, _core.Tensor(w.array.astype(np.int64 if w.dtype in ("U32", "U64") else np.int32).reshape(w.shape)), names[w.dtype]))
        else:
            out.append((w.name, to_tensor(w)))
    return out + list(content.texts.items())


def from_tensor(name: str, t: Any) -> Weight:
    """Converts a Tensor or Parameter to a Weight, bitwise identical.

    Args:
        name (str): The name.
        t (Tensor): The Tensor or Parameter.

    Returns:
        Weight.

    Examples:
        >>> import sindri as ms
        >>> from sindri.tools import convert
        >>> convert.from_tensor("w", ms.Tensor([1.0, 2.0])).dtype
        'F32'
    """
    dtype = _ENGINE_TYPES[str(t.dtype)]
    if dtype == "BF16":  # NumPy lacks the type: a bfloat16 is the upper half of a float32
        bits = t.astype("float32").asnumpy().view(np.uint32) if t.shape else np.array(t.astype("float32").asnumpy()).view(np.uint32)
        return Weight(name, dtype, (bits >> 16).astype("<u2"))
    return Weight(name, dtype, np.array(t.asnumpy(), copy=True))


def to_tensor(w: Weight) -> Any:
    """Converts a Weight to a Tensor.

    Args:
        w (Weight): The weight.

    Returns:
        Tensor.

    Raises:
        CheckpointError: If Sindri does not support the element type.

    Examples:
        >>> import numpy as np
        >>> from sindri.tools import convert
        >>> convert.to_tensor(convert.Weight("w", "F32", np.ones(3, np.float32))).shape
        (3,)
    """
    if w.dtype not in _ENGINE_TYPES.values():
        raise unusable(f"tensor '{w.name}' has the element type {w.dtype}, which Sindri and its .ckpt files do not support", w.name,
                       "drop it with a map (NAME -), or convert it in PyTorch first")
    if w.dtype == "BF16":
        return _core.Tensor((w.array.astype(np.uint32) << 16).view(np.float32)).astype("bfloat16")
    return _core.Tensor(np.ascontiguousarray(w.array).reshape(w.shape))


def _write_ckpt(path: str, content: File, compat_mindspore1: bool) -> None:
    _core.save_checkpoint(entries(content), os.path.abspath(path), compat_mindspore1)


# --- PyTorch --------------------------------------------------------------------------------------------------------------------

def _torch() -> Any:
    try:
        import torch  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        raise usage("PyTorch is not installed in this Python, and only it can read and write .pth and .pt files", sys.executable,
                    "pip install torch, or save with safetensors.torch.save_file(model.state_dict(), FILE) in a Python with PyTorch") from None
    return torch


def torch_weight(name: str, t: Any) -> Weight:
    """Converts a PyTorch tensor to a Weight, bitwise identical.

    Args:
        name (str): The name.
        t (torch.Tensor): The tensor.

    Returns:
        Weight.

    Raises:
        CheckpointError: If the tensor is quantized, sparse or of another special kind.
        InvalidValueError: If PyTorch is not installed.
    """
    torch = _torch()
    codes = {
        torch.bool: "BOOL",
        torch.uint8: "U8",
        torch.int8: "I8",
        torch.int16: "I16",
        torch.int32: "I32",
        torch.int64: "I64",
        torch.float16: "F16",
        torch.bfloat16: "BF16",
        torch.float32: "F32",
        torch.float64: "F64",
        torch.complex64: "C64",
    }
    codes.update({getattr(torch, k): v for k, v in (("uint16", "U16"), ("uint32", "U32"), ("uint64", "U64"), ("float8_e5m2", "F8_E5M2"),
                                                    ("float8_e4m3fn", "F8_E4M3")) if hasattr(torch, k)})
    if t.is_quantized or t.layout != torch.strided or t.dtype not in codes:
        raise unusable(
            f"tensor '{name}' is {t.layout} {t.dtype}, which cannot be stored as plain values", name,
            "drop it with a map (NAME -), or convert it in PyTorch first"
        )
    code = codes[t.dtype]
    t = t.detach().cpu().contiguous()
    if code == "BF16":
        return Weight(name, code, t.view(torch.int16).numpy().view("<u2").copy())
    if code.startswith("F8"):
        return Weight(name, code, t.view(torch.uint8).numpy().copy())
    return Weight(name, code, t.numpy().copy())


def _flatten(obj: Any, path: str) -> Tuple[Dict[str, Any], List[str]]:
    """Returns the state dict in the result of torch.load, and notes on skipped entries."""
    notes: List[str] = []
    while isinstance(obj, Mapping):
        inner = next((k for k in ("state_dict", "model_state_dict", "model") if isinstance(obj.get(k), Mapping)), None)
        if inner is None:
            break
        others = [k for k in obj if k != inner]
        notes.append(f"weights are read from '{inner}' of the file" + (f"; skipped: {', '.join(map(str, others))}" if others else ""))
        obj = obj[inner]
    torch = _torch()
    if not isinstance(obj, Mapping) or not any(isinstance(v, torch.Tensor) for v in obj.values()):
        raise unusable(f"{path} does not contain a state dict: got {type(obj).__name__}", path, "save model.state_dict() from your own Python")
    tensors = {str(k): v for k, v in obj.items() if isinstance(v, torch.Tensor)}
    left = [str(k) for k, v in obj.items() if not isinstance(v, torch.Tensor)]
    if left:
        notes.append(f"skipped, not tensors: {', '.join(left)}")
    for prefix in ("module.", "_orig_mod."):
        if all(k.startswith(prefix) for k in tensors):
            tensors = {k[len(prefix):]: v for k, v in tensors.items()}
            notes.append(f"removed the prefix '{prefix}' (a wrapper's) from all names")
    return tensors, notes


def _read_torch(path: str) -> File:
    torch = _torch()
    try:
        obj = torch.load(path, map_location="cpu", weights_only=True)
    except OSError as e:
        raise file_error(e, path, "read") from None
    except Exception as e:  # pickle and zip errors of several kinds
        text = str(e).split("\n")[0]
        if "weights_only" in str(e) or "Unsupported" in text:
            raise unusable(f"{path} contains other objects than tensors, and reading it would run code from it", path,
                           "if you trust it, load it in your own Python and save model.state_dict()") from None
        raise damaged(f"{path} cannot be read by PyTorch: {text}", path) from None
    tensors, notes = _flatten(obj, path)
    return File("torch", [torch_weight(k, v) for k, v in tensors.items()], notes=notes)


def _write_torch(path: str, content: File) -> None:
    torch = _torch()
    kinds = {"BF16": "bfloat16", "F8_E5M2": "float8_e5m2", "F8_E4M3": "float8_e4m3fn"}
    out = OrderedDict()
    for w in content.weights:
        array = np.array(w.array, copy=True)
        if w.dtype == "BF16":
            t = torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
        elif w.dtype in kinds:
            t = torch.from_numpy(array).view(getattr(torch, kinds[w.dtype]))
        else:
            t = torch.from_numpy(array)
        out[w.name] = t
    buffer = io.BytesIO()
    torch.save(out, buffer)
    _safetensors.write_whole(path, [buffer.getbuffer()])


def from_torch(state_dict: Any, net: str = "auto", mapping: Union[NameMap, Mapping[str, str], None] = None) -> Dict[str, Any]:
    """Converts a PyTorch state dict in memory to Parameters.

    Args:
        state_dict (dict, torch.nn.Module): The state dict or module.
        net (str): As of `convert`. Default: "auto".
        mapping (NameMap, dict, optional): As of `convert`. Default: None.

    Returns:
        dict[str, Parameter], by MindSpore name, for load_param_into_net.

    Raises:
        CheckpointError: If a tensor's type is not supported or two names become the same.

    Examples:
        >>> import sindri as ms
        >>> from sindri.tools import convert
        >>> import torch  # doctest: +SKIP
        >>> parameters = convert.from_torch(torch.nn.Linear(2, 1))  # doctest: +SKIP
        >>> sorted(parameters)  # doctest: +SKIP
        ['bias', 'weight']
    """
    if hasattr(state_dict, "state_dict"):
        state_dict = state_dict.state_dict()
    weights = [torch_weight(k, v) for k, v in state_dict.items()]
    renamed, _ = rename(weights, "mindspore", net, mapping)
    return {w.name: _core.Parameter(to_tensor(w), w.name) for w in renamed}


# --- names ----------------------------------------------------------------------------------------------------------------------

def _as_map(mapping: Union[NameMap, Mapping[str, str], None]) -> Optional[NameMap]:
    if mapping is None or isinstance(mapping, NameMap):
        return mapping
    return NameMap(f"{k} {v}" for k, v in mapping.items())


def rename(weights: Sequence[Weight], names: str, net: str = "auto", mapping: Union[NameMap, Mapping[str, str], None] = None,
           source_names: str = "auto") -> Tuple[List[Weight], List[Row]]:
    """Renames tensors.

    Args:
        weights (Sequence[Weight]): The tensors.
        names (str): The names to produce: 'mindspore', 'torch' or 'keep'.
        net (str): As of `convert`. Default: "auto".
        mapping (NameMap, dict, optional): As of `convert`. Default: None.
        source_names (str): The names of `weights`: 'auto', 'mindspore' or 'torch'. Default: "auto".

    Returns:
        tuple[list[Weight], list[Row]], the tensors and the conversion of each name.

    Raises:
        CheckpointError: If two names become the same.
        InvalidValueError: If an argument is unknown.

    Examples:
        >>> import numpy as np
        >>> from sindri.tools import convert
        >>> weights = [convert.Weight(f"bn.{name}", "F32", np.ones(2, np.float32)) for name in ("weight", "bias", "running_mean")]
        >>> [w.name for w in convert.rename(weights, "mindspore")[0]]
        ['bn.gamma', 'bn.beta', 'bn.moving_mean']
    """
    for value, known in ((names, ("mindspore", "torch", "keep")), (net, ("auto", "resnet", "none")), (source_names, ("auto", "mindspore", "torch"))):
        if value not in known:
            raise usage(f"expected one of {', '.join(known)}, got '{value}'")
    table = _as_map(mapping)
    shapes = {w.name: w.shape for w in weights}
    if len(shapes) != len(weights):
        raise unusable("two tensors have the same name", "", "give each tensor a unique name")
    source = _names.dialect(shapes) if source_names == "auto" else source_names
    if names == "mindspore" and source != "mindspore":
        rows = _names.to_mindspore(shapes, net, table)
    elif names == "torch" and source != "torch":
        rows = _names.to_torch(shapes, net, table)
    else:
        rows = [(table.apply(n, s) if table else None) or Row(n, n, "") for n, s in shapes.items()]
    _names.check_unique(rows)
    out = []
    for w, row in zip(weights, rows):
        if row.new is not None:
            out.append(Weight(row.new, w.dtype, w.array if row.shape is None else w.array.reshape(row.shape)))
    return out, rows


def _advice(names: Set[str], target: str) -> List[str]:
    """Returns notes on what else must match for these weights to give the same results."""
    if not _names.is_resnet(names):
        return []
    if target == "mindspore":
        return [
            "ResNet: torchvision's weights belong to its own form: explicit padding and batch norm eps 1e-5, not MindSpore's 'same' padding and 1e-4 "
            "(variant 'torchvision' of sindri.models.create and of python/examples/resnet)"
        ]
    return ["ResNet: weights trained with 'same' padding and batch norm eps 1e-4 (variant 'mindspore') give other results in torchvision's ResNet"]


def convert(
    source: str,
    target: str,
    names: Optional[str] = None,
    source_names: str = "auto",
    net: str = "auto",
    mapping: Union[NameMap, Mapping[str, str], str, None] = None,
    reverse_map: bool = False,
    drop_state: bool = False,
    overwrite: bool = False,
    compat_mindspore1: bool = False,
) -> Report:
    """Converts a file of weights. The extensions (.ckpt, .safetensors, .pth, .pt) determine both formats.

    Args:
        source (str): The file to read.
        target (str): The file to write.
        names (str, optional): The names to write: 'mindspore', 'torch' or 'keep'. Default: None, mindspore for .ckpt, torch for .pth and .pt, keep for
            .safetensors.
        source_names (str): The names in the source: 'auto', 'mindspore' or 'torch'. Default: "auto".
        net (str): Rules of a known network: 'auto' (recognised by its names), 'resnet' or 'none'. Default: "auto".
        mapping (NameMap, dict, str, optional): Your own rules, applied first, as a file name, NameMap or dict (`*` matches any text, '-' drops).
            Default: None.
        reverse_map (bool): Whether to read a map file from right to left. Default: False.
        drop_state (bool): Whether to omit training state: optimizer state, counters and texts. Default: False.
        overwrite (bool): Whether to replace an existing target. Default: False.
        compat_mindspore1 (bool): Whether a .ckpt omits checksums, for MindSpore up to 2.0. Default: False.

    Returns:
        Report.

    Raises:
        InvalidValueError: If an argument is invalid or the target exists.
        CheckpointError: If the contents of a file cannot be converted.
        IoError: If a file cannot be read or written.

    Examples:
        >>> import os, tempfile
        >>> import sindri as ms
        >>> from sindri.tools import convert
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     source, target = (os.path.join(folder, name) for name in ("net.ckpt", "net.safetensors"))
        ...     ms.save_checkpoint(ms.nn.Dense(3, 2), source)
        ...     print(convert.convert(source, target).count("kept"))
        2
    """
    form = format_of(target)
    if names is None:
        names = {"ckpt": "mindspore", "torch": "torch", "safetensors": "keep"}[form]
    if isinstance(mapping, str):
        mapping = NameMap.from_file(mapping, reverse_map)
    if os.path.abspath(source) == os.path.abspath(target):
        raise usage("source and target are the same file", target)
    if os.path.lexists(target) and not overwrite:
        raise usage(f"'{target}' exists", target, "choose another name, or overwrite it with --force")
    if form == "torch":
        _torch()  # fail before the work
    content = read(source)
    source_dialect = source_names
    if source_names == "auto":  # PyTorch's files may contain gamma and beta too: early BERTs do
        source_dialect = source_names = "torch" if content.format == "torch" else _names.dialect(w.name for w in content.weights)
    if source_names == "neutral":
        source_names = "auto"
    weights, rows = rename(content.weights, names, net, mapping, source_names)
    if drop_state:
        shapes = {w.name: w.shape for w in weights}
        state = {n for n, s in shapes.items() if _names.is_training_state(n, s, set(shapes)) or n in content.opaque}
        rows = [Row(r.old, None, "training state (--drop-state)") if r.new in state else r for r in rows]
        weights = [w for w in weights if w.name not in state]
    if not weights:
        raise unusable(f"nothing is left of {source}", source, "check --map and --drop-state")
    by_old = {r.old: r.new for r in rows}
    opaque = {new for new in (by_old[n] for n in content.opaque) if new is not None}
    texts = {} if drop_state or form == "torch" else content.texts
    if len(texts) != len(content.texts):
        rows = rows + [Row(n, None, "text entry of the training" + (" (--drop-state)" if drop_state else ": a PyTorch state dict holds tensors only"))
                       for n in content.texts]
    write(target, File(form, weights, texts, content.metadata, opaque, []), compat_mindspore1)
    advice = _advice({w.name for w in weights}, names) if names not in ("keep", source_dialect) else []
    return Report(f"{source}: {_TITLE[content.format]}", f"{target}: {_TITLE[form]}", len(content.weights), content.nbytes,
                  (source_dialect, names if names != "keep" else "unchanged"), rows, content.notes + advice)
