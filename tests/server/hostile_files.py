"""Files that are made to hurt whoever reads them."""

import struct

import pyarrow as pa
import pyarrow.parquet as pq

ZEROS = 600_000_000  # bytes of a bomb once it is inflated


def varint(value: int, width: int = 0) -> bytes:
    """A number as Thrift writes it; padded to a width, which means the same."""
    out = bytearray()
    while value > 0x7F or len(out) + 1 < width:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def zigzag(value: int, width: int = 0) -> bytes:
    """A signed number that is not negative, as Thrift writes it."""
    return varint(2 * value, width)


def footed(footer: bytes, body: bytes = b"") -> bytes:
    """A Parquet file with this footer."""
    return b"PAR1" + body + footer + struct.pack("<I", len(footer)) + b"PAR1"


def wide_parquet(columns: int) -> bytes:
    """A Parquet file that is nothing but a footer with many columns."""
    leaf = b"\x15\x00\x25\x02\x18\x01c\x00"
    root = b"\x48\x01r\x15" + zigzag(columns) + b"\x00"
    listed = b"\x19\xfc" + varint(columns + 1) + root + leaf * columns
    return footed(b"\x15\x02" + listed + b"\x16\x00\x19\x0c\x00")


def written(table: pa.Table, **options: object) -> bytes:
    """A table as the content of a Parquet file."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, store_schema=False, **options)
    return bytes(sink.getvalue().to_pybytes())


def page_bomb() -> bytes:
    """A few bytes that inflate to very many, and whose footer says so."""
    size = 1000
    text = pa.array(["\0" * size]).take(pa.array([0] * (ZEROS // size)))
    table = pa.table({"a": text})
    return written(table, compression="zstd", use_dictionary=False, write_statistics=False)


def lying(content: bytes) -> bytes:
    """The same file, with a footer that says that everything is small."""
    about = pq.read_metadata(pa.BufferReader(content))
    length = struct.unpack("<I", content[-8:-4])[0]
    footer = content[-8 - length : -8]
    for group in range(about.num_row_groups):
        row_group = about.row_group(group)
        sizes = {row_group.total_byte_size}
        sizes |= {
            row_group.column(place).total_uncompressed_size
            for place in range(row_group.num_columns)
        }
        for size in sizes:
            told = zigzag(size)
            assert told in footer
            footer = footer.replace(told, zigzag(1000, len(told)))
    return content[: -8 - length] + footer + content[-8:]
