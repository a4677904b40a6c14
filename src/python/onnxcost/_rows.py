"""Rows of a report: dictionaries whose members are attributes too, in lists with columns."""
from __future__ import annotations

import html
from typing import Any, Dict, Iterator, List, Sequence


class Row(dict):
    """An object of a JSON document: row["macs"] or row.macs. Unknown figures are None, never 0."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"no member {name!r}; members: {', '.join(map(str, self))}") from None

    def __dir__(self) -> List[str]:
        return sorted(set(super().__dir__()) | {str(k) for k in self})


def wrap(value: Any) -> Any:
    """Objects of json.loads: lists of objects as Rows."""
    if isinstance(value, list) and value and all(isinstance(v, dict) for v in value):
        return Rows(value)
    return value


class Rows(Sequence):
    """A list of rows, which also has columns: rows["macs"]."""

    def __init__(self, rows: Sequence[Dict[str, Any]]):
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._rows)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return self.column(key)
        return Rows(self._rows[key]) if isinstance(key, slice) else self._rows[key]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (Rows, list)) and list(self) == list(other)

    def __repr__(self) -> str:
        return f"<{len(self)} rows: {', '.join(self.columns)}>"

    @property
    def columns(self) -> List[str]:
        """Names of all members, in their order."""
        return list(dict.fromkeys(str(k) for row in self._rows for k in row))

    def column(self, name: str) -> List[Any]:
        if self._rows and not any(name in row for row in self._rows):
            raise KeyError(name)
        return [row.get(name) for row in self._rows]

    def largest(self, name: str, n: int = 10) -> "Rows":
        """The n rows with the largest values of a column, without rows where it is unknown."""
        known = [row for row in self._rows if row.get(name) is not None]
        return Rows(sorted(known, key=lambda row: row[name], reverse=True)[:n])

    def to_numpy(self, name: str) -> Any:
        """A column as an array: float64 with NaN where a number is unknown, int64 and uint64 where all are known."""
        import numpy

        values = self.column(name)
        numbers = [v for v in values if v is not None]
        if len(numbers) < len(values) and all(isinstance(v, (int, float)) for v in numbers):
            return numpy.array([float("nan") if v is None else v for v in values], dtype=numpy.float64)
        if numbers and all(isinstance(v, (int, float, str)) for v in numbers) and len(numbers) == len(values):
            return numpy.array(values)
        out = numpy.empty(len(values), dtype=object)
        out[:] = values
        return out

    def to_pandas(self) -> Any:
        """A pandas.DataFrame. Whole numbers stay whole where one is unknown (Int64)."""
        import pandas

        frame = pandas.DataFrame({name: pandas.Series(self.column(name), dtype=object) for name in self.columns})
        return frame.convert_dtypes()

    def _repr_html_(self) -> str:
        names = [n for n in self.columns if not any(isinstance(row.get(n), (dict, list)) for row in self._rows[:20])]
        return table(names, [[row.get(n) for n in names] for row in self._rows[:20]]) + (
            f"<div>{len(self)} rows, the first 20</div>" if len(self) > 20 else "")


def text(value: Any) -> str:
    """A cell: numbers with separators, nothing where a figure is unknown."""
    if value is None:
        return ""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if 1e6 <= abs(value) < 1e15 else f"{value:.6g}"
    return str(value)


def table(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """An HTML table; everything is escaped."""
    def cell(value: Any) -> str:
        right = ' style="text-align:right"' if isinstance(value, (int, float)) else ' style="text-align:left"'
        return f"<td{right}>{html.escape(text(value))}</td>"

    head = "".join(f"<th>{html.escape(n)}</th>" for n in names)
    body = "".join("<tr>" + "".join(map(cell, row)) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
