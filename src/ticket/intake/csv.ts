// CSV after RFC 4180: fields in quotes may hold commas, line ends and doubled quotes. Parsed in one pass; an error names its row.

import { err, ok, type Problem, type Result } from "../../core/result.ts";

export type CsvRow = {
  /** Counted from 1, the header. */
  readonly row: number;
  readonly fields: readonly string[];
};

const MAX_ROWS = 2001;
const MAX_FIELDS = 100;

export function readCsv(text: string): Result<readonly CsvRow[]> {
  const rows: CsvRow[] = [];
  let fields: string[] = [];
  let row = 1;
  let at = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  while (at < text.length) {
    const field = text[at] === '"' ? quoted(text, at) : bare(text, at);
    if (field === undefined) return err(bad(row, fields.length + 1, "a quote is not closed"));
    const { value, end } = field;
    if (text[at] !== '"' && value.includes('"'))
      return err(bad(row, fields.length + 1, "a quote is inside a field that does not begin with one"));
    const sign = text[end];
    if (sign !== undefined && sign !== "," && sign !== "\n" && sign !== "\r")
      return err(bad(row, fields.length + 1, "text follows the closing quote"));
    fields.push(value);
    if (fields.length > MAX_FIELDS) return err(bad(row, fields.length, `there are more than ${MAX_FIELDS} columns`));
    at = end + 1;
    if (sign === "," && at < text.length) continue;
    // A comma at the end begins a last, empty field.
    if (sign === ",") fields.push("");
    if (sign === "\r" && text[at] === "\n") at += 1;
    // An empty line is no row.
    if (fields.length > 1 || fields[0] !== "") rows.push({ row, fields });
    if (rows.length > MAX_ROWS) return err(bad(row, 1, `there are more than ${MAX_ROWS - 1} rows`));
    fields = [];
    row += 1;
  }
  return ok(rows);
}

type Field = { readonly value: string; readonly end: number };

function bare(text: string, from: number): Field {
  let end = from;
  while (end < text.length && text[end] !== "," && text[end] !== "\n" && text[end] !== "\r") end += 1;
  return { value: text.slice(from, end), end };
}

function quoted(text: string, from: number): Field | undefined {
  const parts: string[] = [];
  for (let start = from + 1; ; ) {
    const quote = text.indexOf('"', start);
    if (quote === -1) return undefined;
    parts.push(text.slice(start, quote));
    if (text[quote + 1] !== '"') return { value: parts.join(""), end: quote + 1 };
    parts.push('"');
    start = quote + 2;
  }
}

function bad(row: number, column: number, why: string): Problem {
  return { code: "csv_invalid", message: `row ${row}, column ${column}: ${why}` };
}
