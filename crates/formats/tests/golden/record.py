#!/usr/bin/env python3
"""Records what ClickHouse (Python package chdb) writes and reads: run it here to renew the files.

writing_*.txt   sections `=== name`: structure, input (TSV), totals (TSV: one row of totals, two of
                extremes), then one per format with its output; binary formats as hexadecimal text.
reading.tsv     format, structure (empty: inferred), data, what DESCRIBE and SELECT give or the
                error's code; fields are escaped as in TSV.
"""
import os
import re
import tempfile

import chdb

TEXT = """TSV TSVWithNames TSVWithNamesAndTypes TSVRaw CSV CSVWithNames CSVWithNamesAndTypes JSON
JSONCompact JSONEachRow JSONCompactEachRow JSONCompactEachRowWithNamesAndTypes JSONStrings
JSONCompactStrings JSONStringsEachRow JSONCompactStringsEachRow JSONColumns JSONCompactColumns
JSONColumnsWithMetadata JSONObjectEachRow PrettyJSONEachRow JSONEachRowWithProgress Values Vertical
Pretty PrettyCompact PrettySpace Markdown XML TSKV SQLInsert LineAsString""".split()
BINARY = "Native RowBinary RowBinaryWithNamesAndTypes".split()

WRITING = {
    "types": """select 1 as a, 'x\\ty"z\\'' as b, [1,2] as c, (1,'q') as d, toNullable(5) as e,
        toDate('2020-01-01') as f, map('k',1.5) as g, true as h,
        cast((1,'x'),'Tuple(n UInt8, m String)') as i, toFixedString('a',2) j, inf k,
        cast('v','Enum8(\\'v\\' = 1)') l, '<a&b>' m""",
    "more": """select toDateTime64('2020-01-01 00:00:00.5',3,'Asia/Tokyo') a,
        toUUID('61f0c404-5cb3-11e7-907b-a6006ad3dba0') c, toIPv4('1.2.3.4') d, toIPv6('::1') e,
        toDecimal64(-1.50,4) f, toDecimal256('123456789012345678901234567890.5',3) g,
        toLowCardinality('q') h, toLowCardinality(toNullable('w')) i, toIntervalDay(3) k,
        toDate32('1900-01-02') l, toFloat32(0.1) m, toInt64(-5) n, 18446744073709551615 o,
        [toNullable(1),NULL] p""",
    "nested": """select [(1,'a'),(2,'b')] a, [[1],[2]] b, map('k',[1,2],'l',[3]) c,
        (1,(2,[3,4]),map(1,2)) d, cast((1,(2,'x')),'Tuple(n UInt8, m Tuple(k UInt8, l String))') i,
        [map('a',1)] e, cast([] as Array(Tuple(UInt8))) f, cast([(1,2)],'Array(Tuple(a UInt8,b UInt8))') k""",
    "rows": "select number a, toString(number) b, number * 1000000 / 4 c, toNullable(number) d from numbers(60)",
    "keys": "select number % 3 k, toLowCardinality(toString(number % 5)) l, toLowCardinality(if(number % 2 = 0, NULL, toString(number % 7))) m, [toLowCardinality(toString(number))] n from numbers(20)",
    "text": "select 'a\\xe2\\x82\\xac\\x01' as x, '\\xe2\\x80\\xa8/' y, 'tab\\there' z, ' ' as w, 'a\\nb' v, '日本' u",
    "wide": "select repeat('x',50) a, repeat('x',50) b, repeat('x',50) c, repeat('x',50) d, repeat('x',50) e from numbers(3)",
    "empty": "select 1 a, 'x' b where 0",
    "tips": "select arrayJoin([1e6+1,1e9,1e12,1e15,1e17,1e18,1e19,2e19,1e20,1e21,1e60,1e63,1e100,1e300,-5e7,999999999]) a",
}
TOTALS = "select number % 3 as k, count() as c from numbers(10) group by k with totals order by k settings extremes = 1"


def same_statistics(out):
    out = re.sub(rb'"elapsed": [0-9.e-]+,(\s*)"rows_read": \d+,(\s*)"bytes_read": \d+',
                 rb'"elapsed": 0.5,\1"rows_read": 1,\2"bytes_read": 1', out)
    out = re.sub(rb"<elapsed>.*?</elapsed>(\s*)<rows_read>\d+</rows_read>(\s*)<bytes_read>\d+</bytes_read>",
                 rb"<elapsed>0.5</elapsed>\1<rows_read>1</rows_read>\2<bytes_read>1</bytes_read>", out)
    return re.sub(rb'\{"progress".*?\}\}',
                  b'{"progress":{"read_rows":"1","read_bytes":"1","total_rows_to_read":"1","elapsed_ns":"500000000"}}', out)


def structure(query):
    rows = chdb.query(f"describe ({query}) settings print_pretty_type_names = 0", "TSVRaw").bytes().decode().rstrip("\n").split("\n")
    return ", ".join("`%s` %s" % tuple(row.split("\t")[:2]) for row in rows)


def record_writing():
    for name, query in list(WRITING.items()) + [("totals", TOTALS)]:
        sections = [("structure", structure(query.split(" settings")[0]).encode())]
        if name == "totals":
            sections += [("input", b"0\t4\n1\t3\n2\t3\n"), ("totals", b"0\t10\n0\t3\n2\t4\n")]
        else:
            sections.append(("input", chdb.query(query, "TSV").bytes()))
        for fmt in TEXT:
            out = same_statistics(chdb.query(query, fmt).bytes())
            if name == "empty" and fmt == "JSONEachRowWithProgress":
                continue
            sections.append((fmt, out))
        for fmt in BINARY:
            sections.append((fmt, chdb.query(query, fmt).bytes().hex().encode()))
        with open(f"writing_{name}.txt", "wb") as f:
            f.write(b"".join(b"=== %s\n%s\n" % (n.encode(), text) for n, text in sections))


READ = [line for line in open("reading_cases.txt").read().split("\n") if line and not line.startswith("#")]


def escape(text):
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


def record_reading():
    rows = []
    for line in READ:
        fmt, struct, data = line.split(" | ", 2)
        text = data.encode().decode("unicode_escape").encode("latin-1").decode()
        with tempfile.NamedTemporaryFile(delete=False) as f:
            f.write(text.encode())
        arguments = f"'{f.name}', '{fmt}'" + (", '%s'" % struct.replace("'", "\\'") if struct else "")
        tail = " settings schema_inference_use_cache_for_file = 0, print_pretty_type_names = 0"
        try:
            described = chdb.query(f"describe table file({arguments}){tail}", "TSVRaw").bytes().decode()
            described = ", ".join(" ".join(r.split("\t")[:2]) for r in described.rstrip("\n").split("\n"))
            described = re.sub(r"Nullable\((Tuple\(.*\))\)", r"\1", described)
        except Exception as e:
            described = "error " + re.search(r"Code: (\d+)", str(e)).group(1)
        try:
            out = chdb.query(f"select * from file({arguments}){tail}", "TSV").bytes().decode()
        except Exception as e:
            out = "error " + re.search(r"Code: (\d+)", str(e)).group(1)
        rows.append("\t".join(map(escape, [fmt, struct, text, described, out])))
        os.unlink(f.name)
    with open("reading.tsv", "w") as f:
        f.write("\n".join(rows) + "\n")


record_writing()
record_reading()
