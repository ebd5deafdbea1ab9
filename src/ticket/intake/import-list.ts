// Imports issues as new tickets: rows of a table or items of a JSON list, checked as a whole. Their text is data; their origin is kept, so
// that a second import makes no duplicates.

import { z } from "zod";
import { err, ok, type Problem, type Result } from "../../core/result.ts";
import { circleOf, type NewTicket, safeGroup } from "../../core/ticket/new-ticket.ts";
import { readCsv } from "./csv.ts";

/** One issue as given; `place` names it in messages: `row 3`, `item 2`. */
export type GivenIssue = { readonly place: string; readonly values: Readonly<Record<string, unknown>> };

export const MAX_IMPORTED = 500;

const texts = z.union([z.array(z.union([z.string(), z.object({ name: z.string() })])), z.string(), z.number()]);
const issueSchema = z.object({
  title: z.string().trim().min(1).max(200),
  body: z
    .string()
    .max(64 * 1024)
    .nullish(),
  description: z
    .string()
    .max(64 * 1024)
    .nullish(),
  labels: texts.nullish(),
  dependsOn: texts.nullish(),
  repo: z.string().trim().max(200).nullish(),
  group: z.string().trim().max(200).nullish(),
  priority: z.union([z.number(), z.string().trim()]).nullish(),
  /** Its id in the source; other items may depend on it by this. */
  id: z.union([z.string().trim().max(200), z.number()]).nullish(),
  number: z.union([z.number(), z.string().trim()]).nullish(),
  url: z.string().trim().max(500).nullish(),
  source: z.string().trim().max(300).nullish(),
});

/** A table's header row names the columns; case and spaces do not matter. */
export function issuesOfCsv(text: string): Result<readonly GivenIssue[]> {
  const rows = readCsv(text);
  if (!rows.ok) return rows;
  const [header, ...body] = rows.value;
  if (header === undefined) return err(bad("the file is empty"));
  const columns = header.fields.map(columnName);
  const unknown = columns.findIndex((name) => name === undefined);
  if (unknown !== -1)
    return err(
      bad(
        `row 1, column ${unknown + 1}: "${header.fields[unknown]?.slice(0, 60)}" is not a column; known: ${COLUMNS.join(", ")}`,
      ),
    );
  const doubled = columns.findIndex((name, at) => columns.indexOf(name) !== at);
  if (doubled !== -1) return err(bad(`row 1, column ${doubled + 1}: ${columns[doubled]} appears twice`));
  if (!columns.includes("title")) return err(bad("row 1: there is no column title"));
  const issues: GivenIssue[] = [];
  for (const { row, fields } of body) {
    if (fields.length > columns.length)
      return err(bad(`row ${row}, column ${columns.length + 1}: there are more fields than the header has columns`));
    const pairs = columns.flatMap((name, at): [string, string][] => {
      const value = fields[at] ?? "";
      return name === undefined || value === "" ? [] : [[name, value]];
    });
    issues.push({ place: `row ${row}`, values: Object.fromEntries(pairs) });
  }
  return ok(issues);
}

/** A list, or an object with the list under `issues` or `items`. */
export function issuesOfJson(text: string): Result<readonly GivenIssue[]> {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/u, ""));
  } catch (error) {
    return err(bad(`it is not JSON: ${(error as Error).message}`));
  }
  const inner = value !== null && typeof value === "object" && !Array.isArray(value) ? Object.values(value) : [];
  const list = Array.isArray(value) ? value : inner.length === 1 ? inner[0] : undefined;
  if (!Array.isArray(list)) return err(bad("it holds no list of issues"));
  const wrong = list.findIndex((item) => item === null || typeof item !== "object" || Array.isArray(item));
  if (wrong !== -1) return err(bad(`item ${wrong + 1} is not an object`));
  return ok(list.map((values: Readonly<Record<string, unknown>>, at) => ({ place: `item ${at + 1}`, values })));
}

/** `origin` is a file's name, or `github:owner/repo`. All of them or none. */
export function ticketsOf(
  issues: readonly GivenIssue[],
  { origin, repo }: { readonly origin: string; readonly repo: string },
): Result<readonly (NewTicket & { readonly source: string })[]> {
  if (issues.length > MAX_IMPORTED)
    return err(bad(`there are ${issues.length} issues; at most ${MAX_IMPORTED} at once`));
  const read: z.infer<typeof issueSchema>[] = [];
  const places = new Map<string, number>();
  for (const [at, { place, values }] of issues.entries()) {
    const issue = issueSchema.safeParse(values);
    if (!issue.success) {
      const [first] = issue.error.issues;
      return err(bad(`${place}, ${String(first?.path[0] ?? "value")}: ${first?.message ?? "is not valid"}`));
    }
    const id = idOf(issue.data);
    if (id !== undefined && places.has(id)) return err(bad(`${place}: the id ${id} appears twice`));
    if (id !== undefined) places.set(id, at);
    read.push(issue.data);
  }
  const tickets: (NewTicket & { readonly source: string })[] = [];
  for (const [at, issue] of read.entries()) {
    const place = issues[at]?.place ?? "";
    const dependsOn: number[] = [];
    for (const reference of listOf(issue.dependsOn)) {
      const position = positionOf(reference, places, read.length);
      if (position === undefined || position === at)
        return err(bad(`${place}, dependsOn: "${reference.slice(0, 60)}" is not another issue of this list`));
      dependsOn.push(position);
    }
    const priority = priorityOf(issue.priority);
    if (priority === undefined)
      return err(bad(`${place}, priority: "${String(issue.priority)}" is not a whole number`));
    const id = idOf(issue) ?? String(at + 1);
    const labels = listOf(issue.labels);
    tickets.push({
      title: issue.title.replaceAll(/[\p{Cc}\s]+/gu, " "),
      description: describe(issue.body ?? issue.description ?? "", labels),
      repo: issue.repo == null || issue.repo === "" ? repo : issue.repo,
      group: safeGroup(issue.group ?? ""),
      variantHint: "",
      dependsOn: [...new Set(dependsOn)],
      priority,
      source: issue.source == null || issue.source === "" ? `${origin}#${id}` : issue.source,
    });
  }
  const circle = circleOf(tickets).map((at) => issues[at]?.place ?? "");
  return circle.length === 0 ? ok(tickets) : err(bad(`${circle.join(", ")} wait for each other in a circle`));
}

const COLUMNS = [
  "title",
  "body",
  "description",
  "labels",
  "dependsOn",
  "repo",
  "group",
  "priority",
  "id",
  "number",
  "url",
  "source",
] as const;

function columnName(text: string): string | undefined {
  const plain = text.toLowerCase().replaceAll(/[\s_-]+/gu, "");
  return COLUMNS.find((name) => name.toLowerCase() === plain);
}

function idOf({ id, number }: Pick<z.infer<typeof issueSchema>, "id" | "number">): string | undefined {
  const given = id ?? number;
  return given == null || given === "" ? undefined : String(given);
}

/** By the other's id, else by `#n` as its position in the list. */
function positionOf(reference: string, places: ReadonlyMap<string, number>, total: number): number | undefined {
  const known = places.get(reference) ?? places.get(reference.replace(/^#/u, ""));
  if (known !== undefined || places.size > 0) return known;
  const position = /^#?[1-9][0-9]{0,3}$/u.test(reference) ? Number(reference.replace("#", "")) - 1 : total;
  return position < total ? position : undefined;
}

function listOf(value: z.infer<typeof texts> | null | undefined): readonly string[] {
  if (value == null) return [];
  const parts = Array.isArray(value)
    ? value.map((each) => (typeof each === "string" ? each : each.name))
    : String(value).split(/[,;\n]/u);
  return parts.map((part) => part.trim()).filter((part) => part !== "");
}

function priorityOf(value: number | string | null | undefined): number | null | undefined {
  if (value == null || value === "") return null;
  const number = Number(value);
  return Number.isInteger(number) && Math.abs(number) <= 1_000_000 ? number : undefined;
}

function describe(body: string, labels: readonly string[]): string {
  const clean = body.replaceAll("\r\n", "\n").replaceAll("\0", "").trim();
  return labels.length === 0 ? clean : `${clean}${clean === "" ? "" : "\n\n"}Labels: ${labels.join(", ")}`;
}

function bad(message: string): Problem {
  return { code: "import_invalid", message, hint: "Nothing was written. docs/intake.md lists the columns." };
}
