"""Parameter names in PyTorch and in MindSpore, and the conversion between them.

A name is `<path of the layer>.<leaf>`. Rules apply in this order: the user's map, the rules of a known network (torchvision's ResNets), the
generic rules for leaves. The other leaves of the same layer and the shape select the generic rule, because PyTorch uses `weight` for the scale of a
batch norm, the scale of a layer norm, a matrix and an embedding table alike.
"""
import re
from dataclasses import dataclass
from typing import Dict, Iterable, List, Optional, Sequence, Set, Tuple

from sindri.tools._errors import file_error, unusable, usage

__all__ = ["Row", "NameMap", "dialect", "to_mindspore", "to_torch", "path_to_mindspore"]

Shape = Tuple[int, ...]
Shapes = Dict[str, Shape]

_MINDSPORE_LEAVES = {"gamma", "beta", "moving_mean", "moving_variance", "embedding_table"}
_TORCH_LEAVES = {"running_mean", "running_var", "num_batches_tracked"}
_STATE_NAMES = {"learning_rate", "momentum", "global_step", "beta1_power", "beta2_power", "scale_sense", "loss_scale", "current_iterator_step",
                "last_overflow_iterator_step", "epoch_num", "step_num", "random_op", "accumulation_step", "sens"}
_EMBEDDING = re.compile(r"emb|^wte$|^wpe$")
_NORM = re.compile(r"norm|^ln\d*(_\w+)?$|^bn\d*$")


@dataclass
class Row:
    """The conversion of one name."""

    old: str
    new: Optional[str]  # None: dropped
    rule: str  # "" if the name is unchanged
    shape: Optional[Shape] = None  # the new shape of the same elements, if it changes

    @property
    def what(self) -> str:
        return "dropped" if self.new is None else "renamed" if self.new != self.old or self.shape is not None else "kept"


class NameMap:
    """A file of `OLD NEW` lines. `*` matches any text, which is copied in order; NEW `-` drops the name; a third word `expand=AXIS` or `squeeze=AXIS`
    adds or removes a dimension of size 1; `#` starts a comment. The first matching line applies. With reverse, OLD and NEW are swapped.

    Args:
        lines (Iterable[str]): The lines.
        where (str): The file's name for error messages. Default: "map".
        reverse (bool): Whether to swap OLD and NEW. Default: False.

    Raises:
        InvalidValueError: If a line is invalid.

    Examples:
        >>> from sindri.tools.convert import NameMap
        >>> NameMap(["shortcut.* down_sample_layer.*"]).apply("shortcut.0.weight", (4, 4)).new
        'down_sample_layer.0.weight'
    """

    def __init__(self, lines: Iterable[str], where: str = "map", reverse: bool = False) -> None:
        self.rules: List[Tuple["re.Pattern[str]", Optional[str], Optional[Tuple[str, int]]]] = []
        for number, line in enumerate(lines, 1):
            words = line.split("#", 1)[0].split()
            if words:
                self._add(words, f"{where}:{number}", reverse)

    @classmethod
    def from_file(cls, path: str, reverse: bool = False) -> "NameMap":
        """Reads a map.

        Args:
            path (str): The file.
            reverse (bool): Whether to swap OLD and NEW. Default: False.

        Returns:
            NameMap.

        Raises:
            IoError: If the file cannot be read.
            InvalidValueError: If a line is invalid, with file and line.
        """
        try:
            with open(path, encoding="utf-8-sig") as f:
                return cls(f, path, reverse)
        except OSError as e:
            raise file_error(e, path, "read") from None
        except UnicodeDecodeError as e:
            raise usage(f"the map {path} is not UTF-8: {e.reason}", f"{path}, byte {e.start}") from None

    def _add(self, words: List[str], where: str, reverse: bool) -> None:
        axis = None
        if len(words) == 3:
            m = re.fullmatch(r"(expand|squeeze)=(\d+)", words[2])
            if not m:
                raise usage(f"expected expand=AXIS or squeeze=AXIS, got '{words[2]}'", where)
            axis = (m[1], int(m[2]))
        elif len(words) != 2:
            raise usage(f"expected OLD NEW, got {len(words)} words", where, "write one rule per line: OLD NEW [expand=AXIS|squeeze=AXIS]")
        old, new = words[0], words[1]
        if new != "-" and old.count("*") != new.count("*"):
            raise usage(f"'{old}' has {old.count('*')} stars, '{new}' has {new.count('*')}", where, "use the same number on both sides")
        if reverse:
            if new == "-":
                return  # a dropped entry cannot be restored
            old, new = new, old
            axis = None if axis is None else ("squeeze" if axis[0] == "expand" else "expand", axis[1])
        pattern = re.compile("(.*)".join(re.escape(part) for part in old.split("*")))
        self.rules.append((pattern, None if new == "-" else new, axis))

    def apply(self, name: str, shape: Shape) -> Optional[Row]:
        """Returns the row of the first matching rule, or None.

        Args:
            name (str): The name.
            shape (tuple[int]): The tensor's shape.

        Returns:
            Row or None.
        """
        for pattern, new, axis in self.rules:
            m = pattern.fullmatch(name)
            if not m:
                continue
            if new is None:
                return Row(name, None, "the map drops it")
            parts = new.split("*")
            text = parts[0] + "".join(group + part for group, part in zip(m.groups(), parts[1:]))
            return Row(name, text, "map", _reshaped(name, shape, axis))
        return None


def _reshaped(name: str, shape: Shape, axis: Optional[Tuple[str, int]]) -> Optional[Shape]:
    if axis is None:
        return None
    how, at = axis
    if how == "expand" and at <= len(shape):
        return shape[:at] + (1,) + shape[at:]
    if how == "squeeze" and at < len(shape) and shape[at] == 1:
        return shape[:at] + shape[at + 1:]
    raise usage(f"the map sets {how}={at} for '{name}' of shape {list(shape)}", "map",
                "squeeze a dimension of size 1, or expand at an axis up to the number of dimensions")


def _split(name: str) -> Tuple[str, str]:
    path, _, leaf = name.rpartition(".")
    return path, leaf


def dialect(names: Iterable[str]) -> str:
    """Returns 'mindspore', 'torch', or 'neutral' if the names would be the same in both (only `weight` and `bias`)."""
    leaves = {_split(n)[1] for n in names}
    if leaves & _MINDSPORE_LEAVES:
        return "mindspore"
    return "torch" if leaves & _TORCH_LEAVES else "neutral"


def is_resnet(names: Set[str]) -> bool:
    """Whether these are the names of a ResNet in torchvision's or MindSpore's form."""
    return "conv1.weight" in names and "layer1.0.conv1.weight" in names and bool({"fc.weight", "end_point.weight"} & names)


_BLOCK = re.compile(r"(layer\d+\.\d+)\.(.*)")


def path_to_mindspore(path: str, names: Set[str]) -> str:
    """Returns MindSpore's path of a layer of torchvision's ResNet; `names` are the network's names, which identify its blocks."""
    if path == "fc" or path.startswith("fc."):
        return "end_point" + path[2:]
    m = _BLOCK.fullmatch(path)
    if not m:
        return path
    block, inner = m[1], m[2]
    inner = re.sub(r"^downsample(?=\.|$)", "down_sample_layer", inner)
    if f"{block}.conv3.weight" not in names:  # a basic block, whose two norms have different names
        inner = re.sub(r"^bn([12])(?=\.|$)", r"bn\1d", inner)
    return f"{block}.{inner}"


def _path_to_torch(path: str) -> str:
    if path == "end_point" or path.startswith("end_point."):
        return "fc" + path[len("end_point"):]
    m = _BLOCK.fullmatch(path)
    if not m:
        return path
    inner = re.sub(r"^down_sample_layer(?=\.|$)", "downsample", m[2])
    return f"{m[1]}." + re.sub(r"^bn([12])d(?=\.|$)", r"bn\1", inner)


def _torch_leaf(path: str, leaf: str, shape: Shape, shapes: Shapes) -> Tuple[Optional[str], str, Optional[Shape]]:
    """Returns (MindSpore's leaf or None, rule, new shape) for a PyTorch parameter."""
    def beside(name: str) -> Optional[Shape]:
        return shapes.get(f"{path}.{name}" if path else name)

    last = path.rpartition(".")[2].lower()
    if leaf == "num_batches_tracked":
        return None, "num_batches_tracked: MindSpore's batch norm counts no batches", None
    if leaf in ("running_mean", "running_var"):
        return {"running_mean": "moving_mean", "running_var": "moving_variance"}[leaf], f"batch norm: {leaf}", None
    if leaf not in ("weight", "bias"):
        return leaf, "", None
    new = {"weight": "gamma", "bias": "beta"}[leaf]
    if beside("running_mean") is not None:
        return new, f"batch norm: {leaf}", None
    weight = beside("weight")
    if weight is not None and len(weight) == 1 and (beside("bias") == weight or _NORM.search(last)):
        return new, f"norm: {leaf}", None
    if leaf == "bias":
        return leaf, "", None
    if len(shape) == 1 and "prelu" in last:
        return "w", "PReLU: weight", None
    if len(shape) == 2 and beside("bias") is None and _EMBEDDING.search(last):
        return "embedding_table", "embedding: weight", None
    if len(shape) == 3:
        return leaf, "1-D convolution: [out, in, k] becomes [out, in, 1, k]", shape[:2] + (1,) + shape[2:]
    return leaf, "", None


def to_mindspore(shapes: Shapes, net: str = "auto", mapping: Optional[NameMap] = None) -> List[Row]:
    """Converts PyTorch's names to MindSpore's. net: 'auto', 'resnet' or 'none'."""
    names = set(shapes)
    resnet = net == "resnet" or net == "auto" and is_resnet(names)
    rows = []
    for name, shape in shapes.items():
        row = mapping.apply(name, shape) if mapping else None
        if row is None:
            path, leaf = _split(name)
            new_leaf, rule, new_shape = _torch_leaf(path, leaf, shape, shapes)
            new_path = path_to_mindspore(path, names) if resnet else path
            rules = [r for r in ("ResNet: path" if new_path != path else "", rule) if r]
            row = Row(name, None if new_leaf is None else f"{new_path}.{new_leaf}" if new_path else new_leaf,
                      rule if new_leaf is None else ", ".join(rules), new_shape)
        rows.append(row)
    return rows


def is_training_state(name: str, shape: Shape, names: Set[str]) -> bool:
    """Whether an entry is training state instead of a network parameter: an optimizer's slot (`moments.<parameter>`), a counter, or Sindri's state."""
    head, _, rest = name.partition(".")
    return name in _STATE_NAMES or head == "sindri" or rest in names and "." in name


_TO_TORCH = {"gamma": ("weight", "norm: gamma"), "beta": ("bias", "norm: beta"), "moving_mean": ("running_mean", "batch norm: moving_mean"),
             "moving_variance": ("running_var", "batch norm: moving_variance"), "embedding_table": ("weight", "embedding: embedding_table")}


def to_torch(shapes: Shapes, net: str = "auto", mapping: Optional[NameMap] = None) -> List[Row]:
    """Converts MindSpore's names to PyTorch's; training state is dropped. net: 'auto', 'resnet' or 'none'."""
    names = set(shapes)
    resnet = net == "resnet" or net == "auto" and is_resnet(names)
    rows = []
    for name, shape in shapes.items():
        row = mapping.apply(name, shape) if mapping else None
        if row is None and is_training_state(name, shape, names):
            row = Row(name, None, "training state: a PyTorch state dict of a model holds none")
        if row is None:
            path, leaf = _split(name)
            new_leaf, rule = _TO_TORCH.get(leaf, (leaf, ""))
            if leaf == "w" and len(shape) == 1:
                new_leaf, rule = "weight", "PReLU: w"
            new_path = _path_to_torch(path) if resnet else path
            rules = [r for r in ("ResNet: path" if new_path != path else "", rule) if r]
            row = Row(name, f"{new_path}.{new_leaf}" if new_path else new_leaf, ", ".join(rules))
        rows.append(row)
    return rows


def check_unique(rows: Sequence[Row]) -> None:
    """Raises CheckpointError if two names become the same."""
    seen: Dict[str, str] = {}
    for row in rows:
        if row.new is None:
            continue
        if row.new in seen:
            raise unusable(f"'{seen[row.new]}' and '{row.old}' would both be named '{row.new}'", "", "rename or drop one with --map")
        seen[row.new] = row.old
