"""Names, types and shapes of columns, as declared by data files (MindSpore: mindspore.dataset.Schema)."""
from __future__ import annotations

import json
from typing import Any, List, Optional, Sequence

from sindri._check import check_int32, fail


class Schema:
    """Names, types and shapes of columns.

    Args:
        schema_file (str, optional): A JSON file with "columns", as used for TFRecord datasets. Default: None.

    Raises:
        OSError: If the file cannot be read.
        ValueError: If the file is not a schema.

    Examples:
        >>> import sindri.dataset as ds
        >>> schema = ds.Schema()
        >>> schema.add_column("label", "int32", [1])
        >>> schema.columns
        [{'name': 'label', 'type': 'int32', 'shape': [1], 'rank': 1}]
    """

    def __init__(self, schema_file: Optional[str] = None):
        self.schema_file = schema_file
        self.num_rows: Optional[int] = None
        self.columns: List[dict] = []
        if schema_file:
            with open(schema_file, encoding="utf-8") as stream:
                self.from_json(json.load(stream))

    def add_column(self, name: str, de_type: Any, shape: Optional[Sequence[int]] = None) -> None:
        """Adds a column.

        Args:
            name (str): The name, not used by another column.
            de_type (DType, str): A type of sindri.common.dtype or its name.
            shape (Sequence[int], optional): The shape; -1 for a dimension that varies. Default: None, unknown.

        Raises:
            TypeError: If the name is not a str or the type is unknown.
            ValueError: If the column exists already or the shape is invalid.

        Examples:
            >>> import sindri.dataset as ds
            >>> schema = ds.Schema()
            >>> schema.add_column("image", "uint8", [-1, -1, 3])
            >>> schema.columns
            [{'name': 'image', 'type': 'uint8', 'shape': [-1, -1, 3], 'rank': 3}]
        """
        if not isinstance(name, str) or not name:
            fail(TypeError, f"name must be a str that is not empty, got {name!r}", "Schema.add_column")
        if any(column["name"] == name for column in self.columns):
            fail(ValueError, f"there is a column '{name}' already", "Schema.add_column")
        text = de_type if isinstance(de_type, str) else str(de_type).lower()
        if text not in ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64", "string"):
            fail(TypeError, f"de_type {de_type!r} is not known", "Schema.add_column")
        column: dict = {"name": name, "type": text}
        if shape is not None:
            column["shape"] = [check_int32("Schema.add_column", "shape", dim, -1) for dim in shape]
            column["rank"] = len(column["shape"])
        self.columns.append(column)

    def from_json(self, json_obj: dict) -> None:
        """Replaces the columns by those of a JSON object.

        Args:
            json_obj (dict): An object with "columns" and optionally "numRows".

        Raises:
            TypeError: If the columns are neither a dict nor a list, or a column has an unknown type.
            ValueError: If the object has another form.

        Examples:
            >>> import sindri.dataset as ds
            >>> schema = ds.Schema()
            >>> schema.from_json({"columns": {"label": {"type": "int32", "shape": []}}})
            >>> schema.columns
            [{'name': 'label', 'type': 'int32', 'shape': [], 'rank': 0}]
        """
        if not isinstance(json_obj, dict) or "columns" not in json_obj:
            fail(ValueError, "a schema must be an object with 'columns'", "Schema.from_json")
        self.num_rows = json_obj.get("numRows")
        self.columns = []
        self.parse_columns(json_obj["columns"])

    def parse_columns(self, columns: Any) -> None:
        """Adds columns.

        Args:
            columns (dict, list): {name: {"type": ..., "shape": ...}}, or a list of objects with "name" and "type".

        Raises:
            TypeError: If the argument is neither a dict nor a list, or a column has an unknown type.
            ValueError: If a column has no name or type, or exists already.

        Examples:
            >>> import sindri.dataset as ds
            >>> schema = ds.Schema()
            >>> schema.parse_columns([{"name": "label", "type": "int32"}])
            >>> schema.columns
            [{'name': 'label', 'type': 'int32'}]
        """
        if isinstance(columns, dict):
            columns = [{"name": name, **entry} for name, entry in columns.items()]
        if not isinstance(columns, list):
            fail(TypeError, f"columns must be a dict or a list, got {columns!r}", "Schema.parse_columns")
        for entry in columns:
            if "name" not in entry or "type" not in entry:
                fail(ValueError, f"a column needs a name and a type, got {entry!r}", "Schema.parse_columns")
            self.add_column(entry["name"], entry["type"], entry.get("shape"))

    def to_json(self) -> str:
        """Returns the schema as JSON text."""
        out: dict = {"columns": {c["name"]: {k: v for k, v in c.items() if k != "name"} for c in self.columns}}
        if self.num_rows:
            out["numRows"] = self.num_rows
        return json.dumps(out, indent=2)

    def __str__(self) -> str:
        return self.to_json()
