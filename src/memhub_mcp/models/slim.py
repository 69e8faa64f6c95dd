"""MiniLM's graph with its word table left as int8: the rows a text needs are scaled, not all 30,522 of them.

As shipped the graph scales the whole table to float32 and then picks rows, which the engine does once, at load, and
keeps: 35 MB and .1 s of a processor for the same numbers. An ONNX file is a protobuf message; the few fields that
matter here are read and written by hand, so that the `onnx` package is not needed at run time.
"""

from collections.abc import Iterator

_GRAPH = 7  # ModelProto.graph
_NODE = 1  # GraphProto.node
_INPUT, _OUTPUT, _OPERATOR, _ATTRIBUTE = 1, 2, 4, 5  # NodeProto
_CAST_TO_FLOAT = b"\x0a\x02to\x18\x01\xa0\x01\x02"  # AttributeProto: name "to", i FLOAT, type INT


def pick_before_scaling(model: bytes, table: str) -> bytes:
    """`model` with Gather(Mul(Cast(table_q), table_scale), ids) turned into Mul(Cast(Gather(table_q, ids)), …).

    A model without that pattern comes back as it is.
    """
    parts: list[bytes | memoryview] = []
    for number, whole, value in _fields(memoryview(model)):
        if number == _GRAPH:
            graph = list(_rearranged(value, table))
            parts += [_head(_GRAPH, sum(map(len, graph))), *graph]
        else:
            parts.append(whole)
    return b"".join(parts)


def _rearranged(graph: memoryview, table: str) -> Iterator[bytes | memoryview]:
    for number, whole, value in _fields(graph):
        inputs, outputs = _names(value) if number == _NODE else ([], [])
        if outputs in ([table], [f"{table}_f"]):
            continue
        if inputs[:1] != [table]:
            yield whole
            continue
        ids, picked = inputs[1], outputs[0]
        yield _node("Gather", [f"{table}_q", ids], f"{picked}_q")
        yield _node("Cast", [f"{picked}_q"], f"{picked}_f", _CAST_TO_FLOAT)
        yield _node("Gather", [f"{table}_scale", ids], f"{picked}_scale")
        yield _node("Mul", [f"{picked}_f", f"{picked}_scale"], picked)


def _names(node: memoryview) -> tuple[list[str], list[str]]:
    found: dict[int, list[str]] = {_INPUT: [], _OUTPUT: []}
    for number, _, value in _fields(node):
        if number in found:
            found[number].append(bytes(value).decode())
    return found[_INPUT], found[_OUTPUT]


def _node(operator: str, inputs: list[str], output: str, attribute: bytes = b"") -> bytes:
    fields = [_field(_INPUT, name.encode()) for name in inputs]
    fields += [_field(_OUTPUT, output.encode()), _field(_OPERATOR, operator.encode())]
    if attribute:
        fields.append(_field(_ATTRIBUTE, attribute))
    return _field(_NODE, b"".join(fields))


def _field(number: int, value: bytes) -> bytes:
    return _head(number, len(value)) + value


def _head(number: int, length: int) -> bytes:
    return _varint(number << 3 | 2) + _varint(length)


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


def _fields(message: memoryview) -> Iterator[tuple[int, memoryview, memoryview]]:
    """Number, whole field and value of each field of a message; the value of a number is empty."""
    at = 0
    while at < len(message):
        start = at
        key, at = _read_varint(message, at)
        value = at
        kind = key & 7
        if kind == 2:
            length, value = _read_varint(message, at)
            at = value + length
        elif kind == 0:
            _, value = _read_varint(message, at)
            at = value
        else:
            value = at = at + (8 if kind == 1 else 4)
        yield key >> 3, message[start:at], message[value:at]


def _read_varint(message: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
