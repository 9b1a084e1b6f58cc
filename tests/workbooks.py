"""Workbooks for tests: the smallest XLSX and ODS files that hold these cells. Numbers, days and texts stay what they are."""

import io
import zipfile
from collections.abc import Sequence
from datetime import date
from xml.sax.saxutils import escape

type Cell = str | float | date | None
_EPOCH = date(1899, 12, 30)  # of the serial numbers of days in spreadsheets
_SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OASIS = "urn:oasis:names:tc:opendocument:xmlns"


def pack(files: dict[str, str]) -> bytes:
    """Return a ZIP file with these files."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return made.getvalue()


def make_xlsx(rows: Sequence[Sequence[Cell]], sheet_data: str | None = None) -> bytes:
    """Return an XLSX file. sheet_data: instead of the rows, as XML."""
    data = sheet_data or "".join(
        f'<row r="{number}">{"".join(_make_xlsx_cell(cell, number, at) for at, cell in enumerate(row))}</row>'
        for number, row in enumerate(rows, start=1)
    )
    content = f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="xml" ContentType="application/xml"/></Types>'
    sheets = '<sheets><sheet name="People" sheetId="1" r:id="r1"/></sheets>'
    formats = '<cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>'
    return pack(
        {
            "[Content_Types].xml": content,
            "_rels/.rels": _make_links({"officeDocument": "xl/workbook.xml"}),
            "xl/workbook.xml": f'<workbook xmlns="{_SHEET}" xmlns:r="{_OFFICE}">{sheets}</workbook>',
            "xl/_rels/workbook.xml.rels": _make_links({"worksheet": "worksheets/sheet1.xml", "styles": "styles.xml"}),
            "xl/styles.xml": f'<styleSheet xmlns="{_SHEET}">{formats}</styleSheet>',
            "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{_SHEET}"><sheetData>{data}</sheetData></worksheet>',
        }
    )


def _make_links(targets: dict[str, str]) -> str:
    links = "".join(
        f'<Relationship Id="r{number}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(targets.items(), start=1)
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{links}</Relationships>'


def _make_xlsx_cell(cell: Cell, row: int, column: int) -> str:
    where = f'r="{chr(65 + column)}{row}"'
    if cell is None:
        return ""
    if isinstance(cell, date):
        return f'<c {where} s="1"><v>{(cell - _EPOCH).days}</v></c>'
    if isinstance(cell, str):
        return f'<c {where} t="inlineStr"><is><t>{escape(cell)}</t></is></c>'
    return f"<c {where}><v>{cell}</v></c>"


def make_ods(rows: Sequence[Sequence[Cell]]) -> bytes:
    """Return an ODS file."""
    spaces = " ".join(f'xmlns:{name}="{_OASIS}:{name}:1.0"' for name in ("office", "table", "text"))
    table = "".join(f"<table:table-row>{''.join(map(_make_ods_cell, row))}</table:table-row>" for row in rows)
    body = f'<office:body><office:spreadsheet><table:table table:name="People">{table}</table:table></office:spreadsheet></office:body>'
    return pack(
        {
            "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
            "META-INF/manifest.xml": f'<manifest:manifest xmlns:manifest="{_OASIS}:manifest:1.0"/>',
            "content.xml": f"<office:document-content {spaces}>{body}</office:document-content>",
        }
    )


def _make_ods_cell(cell: Cell) -> str:
    if cell is None:
        return "<table:table-cell/>"
    if isinstance(cell, date):
        return f'<table:table-cell office:value-type="date" office:date-value="{cell.isoformat()}"/>'
    if isinstance(cell, str):
        return f'<table:table-cell office:value-type="string"><text:p>{escape(cell)}</text:p></table:table-cell>'
    return f'<table:table-cell office:value-type="float" office:value="{cell}"/>'
