#!/usr/bin/env python3
"""Reads Parquet from its specification (parquet-format, thrift's compact protocol): flat columns, GZIP, the plain,
RLE and dictionary encodings. Independent of the writer, and of every library.

usage: parquet_rows.py FILE ROWS      compares with rows of NDJSON, value by value
       parquet_rows.py FILE           prints table, rows, row groups
"""
import gzip
import json
import struct
import sys


class Thrift:
    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        value = shift = 0
        while True:
            b = self.byte()
            value |= (b & 0x7F) << shift
            shift += 7
            if b < 0x80:
                return value

    def zigzag(self):
        v = self.varint()
        return v >> 1 ^ -(v & 1)

    def value(self, kind):
        if kind in (1, 2):
            return kind == 1
        if kind == 3:
            return struct.unpack('b', bytes([self.byte()]))[0]
        if kind in (4, 5, 6):
            return self.zigzag()
        if kind == 8:
            n = self.varint()
            self.at += n
            return bytes(self.data[self.at - n:self.at])
        if kind == 9:
            head = self.byte()
            n = head >> 4
            n = self.varint() if n == 15 else n
            return [self.value(head & 15) for _ in range(n)]
        if kind == 12:
            return self.struct()
        raise ValueError(f'thrift type {kind}')

    def struct(self):
        fields, last = {}, 0
        while True:
            head = self.byte()
            if head == 0:
                return fields
            last = last + (head >> 4) if head >> 4 else self.zigzag()
            fields[last] = self.value(head & 15)


def hybrid(data, bits, n):
    """RLE / bit-packed hybrid: n values."""
    t, out = Thrift(data), []
    while len(out) < n:
        head = t.varint()
        if head & 1:
            size = (head >> 1) * bits
            packed = int.from_bytes(data[t.at:t.at + size], 'little')
            t.at += size
            out += [packed >> i * bits & (1 << bits) - 1 for i in range((head >> 1) * 8)]
        else:
            size = (bits + 7) // 8
            out += [int.from_bytes(data[t.at:t.at + size], 'little')] * (head >> 1)
            t.at += size
    return out[:n]


def plain(data, kind, signed, n):
    if kind == 2:
        return list(struct.unpack(f'<{n}{"q" if signed else "Q"}', data[:8 * n]))
    if kind == 5:
        return list(struct.unpack(f'<{n}d', data[:8 * n]))
    out, at = [], 0
    for _ in range(n):
        size = struct.unpack_from('<I', data, at)[0]
        out.append(data[at + 4:at + 4 + size].decode())
        at += 4 + size
    assert at == len(data), 'bytes are left in a page'
    return out


def page(data, at):
    t = Thrift(data, at)
    head = t.struct()
    assert t.at + head[3] <= len(data)
    body = gzip.decompress(data[t.at:t.at + head[3]])
    assert len(body) == head[2], 'size of a page'
    return head, body, t.at + head[3]


def chunk(data, meta, optional, signed, rows):
    kind, at = meta[1], meta.get(11, meta[9])
    begin, texts = at, None
    if 11 in meta:
        head, body, at = page(data, at)
        assert head[1] == 2 and head[7][2] == 0
        texts = plain(body, kind, signed, head[7][1])
    assert at == meta[9], 'place of the data page'
    head, body, at = page(data, at)
    assert head[1] == 0 and head[5][1] == rows == meta[5], 'number of values'
    assert at - begin == meta[7], 'size of a chunk'
    known = [1] * rows
    if optional:
        n = struct.unpack_from('<I', body)[0]
        known = hybrid(body[4:4 + n], 1, rows)
        body = body[4 + n:]
    n_known = sum(known)
    values = (plain(body, kind, signed, n_known) if texts is None
              else [texts[i] for i in hybrid(body[1:], body[0], n_known)])
    stat = meta[12]
    assert stat[3] == rows - n_known, 'null count'
    for field, bound in ((5, max), (6, min)):
        if field in stat:
            raw = stat[field]
            got = raw.decode() if kind == 6 else plain(raw, kind, signed, 1)[0]
            want = bound(values, key=str.encode) if kind == 6 else bound(values)
            assert got == want, f'bound {got!r}, not {want!r}'
        else:
            assert not values or kind == 6, 'bounds are missing'
    it = iter(values)
    return [next(it) if k else None for k in known]


def read(path):
    """(names, rows as lists, metadata, rows of each row group)"""
    with open(path, 'rb') as f:
        data = f.read()
    assert data[:4] == data[-4:] == b'PAR1', 'magic'
    n = struct.unpack('<I', data[-8:-4])[0]
    t = Thrift(data, len(data) - 8 - n)
    meta = t.struct()
    assert t.at == len(data) - 8, 'size of the footer'
    columns = meta[2][1:]
    assert meta[2][0][5] == len(columns) == len(meta[7])
    rows, groups = [], []
    for group in meta[4]:
        table = []
        for c, place in zip(columns, group[1]):
            assert place[3][3] == [c[4]], 'path of a column'
            table.append(chunk(data, place[3], c[3] == 1, c.get(6) != 14, group[3]))
        groups.append(group[3])
        rows += [list(r) for r in zip(*table)]
    assert len(rows) == meta[3], 'number of rows'
    return ([c[4].decode() for c in columns], rows,
            {m[1].decode(): m[2].decode() for m in meta[5]}, groups)


def compare(names, rows, json_path, ignore=('seconds',)):
    """Equal to the digit; an integer may stand for a double."""
    at = 0
    with open(json_path) as f:
        for at, line in enumerate(f, 1):
            want = json.loads(line)
            assert list(want) == names, f'row {at}: members {list(want)}'
            assert at <= len(rows), f'only {len(rows)} rows'
            for name, got in zip(names, rows[at - 1]):
                if name not in ignore and got != want[name]:
                    raise AssertionError(f'row {at}, {name}: {got!r}, not {want[name]!r}')
    assert at == len(rows), f'{len(rows)} rows, not {at}'


def main():
    names, rows, meta, groups = read(sys.argv[1])
    assert set(json.loads(meta['onnxcost.columns'])) == set(names)
    if len(sys.argv) > 2:
        compare(names, rows, sys.argv[2])
    else:
        print(f'{meta["onnxcost.table"]} {meta["onnxcost.table_version"]}: {len(rows)} rows in {len(groups)} row groups')


if __name__ == '__main__':
    try:
        main()
    except AssertionError as e:
        sys.exit(f'{sys.argv[1]}: {e}')
