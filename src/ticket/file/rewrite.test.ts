import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { splitFrontMatter } from "../../file/front-matter.ts";
import { readYaml } from "../../file/yaml.ts";
import { type KeyChanges, rewriteFrontMatter } from "./rewrite.ts";

function rewrite(text: string, changes: KeyChanges): string {
  const done = rewriteFrontMatter(text, changes);
  if (!done.ok) throw new Error(`${done.error.code}: ${done.error.message}`);
  return done.value;
}

describe("only the named keys change", () => {
  const TICKET = `---
# who asked: Ada
id: AGI-7   # never changes
title: 'It''s "due"'
status: "Backlog" # moves
dependsOn:
  # the schema first
  - AGI-1 # tables
  - AGI-2
x-mine: {a: 1,   b: [ 2 ]}
notes: |
  status: Done
  ---ish

group: login
---
# Body

status: Done
---
last line without newline`;

  test("a status, with its quotes and the comment beside it", () => {
    expect(rewrite(TICKET, { status: "Plan In Progress" })).toBe(
      TICKET.replace('status: "Backlog" #', 'status: "Plan In Progress" #'),
    );
  });

  test("a new key goes to the end of the front matter", () => {
    expect(rewrite(TICKET, { run: 12 })).toBe(TICKET.replace("group: login\n", "group: login\nrun: 12\n"));
  });

  test("several at once", () => {
    expect(rewrite(TICKET, { status: "Blocked", last_error: "no\n: such file", group: null, branch: "feat/x" })).toBe(
      TICKET.replace('"Backlog"', '"Blocked"').replace(
        "group: login\n",
        'last_error: "no\\n: such file"\nbranch: feat/x\n',
      ),
    );
  });

  test("a list with a line per item keeps the lines that stay", () => {
    expect(rewrite(TICKET, { dependsOn: ["AGI-1", "AGI-9"] })).toBe(TICKET.replace("  - AGI-2\n", "  - AGI-9\n"));
    expect(rewrite(TICKET, { dependsOn: ["AGI-2"] })).toBe(TICKET.replace("  - AGI-1 # tables\n", ""));
    expect(rewrite(TICKET, { dependsOn: ["AGI-1", "AGI-2", "AGI-3"] })).toBe(
      TICKET.replace("  - AGI-2\n", "  - AGI-2\n  - AGI-3\n"),
    );
    expect(rewrite(TICKET, { dependsOn: [] })).toBe(
      TICKET.replace("dependsOn:", "dependsOn: []").replace("  - AGI-1 # tables\n  - AGI-2\n", ""),
    );
  });

  test("a block of text is replaced as a whole, or removed", () => {
    const block = "notes: |\n  status: Done\n  ---ish\n";
    expect(rewrite(TICKET, { notes: "x" })).toBe(TICKET.replace(block, "notes: x\n"));
    expect(rewrite(TICKET, { notes: null })).toBe(TICKET.replace(block, ""));
  });

  test("what is so already changes nothing", () => {
    expect(rewrite(TICKET, { status: "Backlog", dependsOn: ["AGI-1", "AGI-2"], conflict: null })).toBe(TICKET);
  });

  test("CRLF and a byte order mark stay", () => {
    const windows = `\uFEFF${TICKET.replaceAll("\n", "\r\n")}`;
    const after = rewrite(windows, { status: "Done", run: 1, group: null, dependsOn: ["AGI-2", "AGI-3"] });
    expect(after.startsWith("\uFEFF---\r\n")).toBe(true);
    expect(after.replaceAll("\r\n", "")).not.toMatch(/[\r\n]/u);
    expect(after.slice(1).replaceAll("\r\n", "\n")).toBe(
      rewrite(TICKET, { status: "Done", run: 1, group: null, dependsOn: ["AGI-2", "AGI-3"] }),
    );
  });
});

test.each<[string, string, KeyChanges, string]>([
  ["no value", "status:\n", { status: "Done" }, "status: Done\n"],
  ["no value but a comment", "status: # why\n", { status: "Done" }, "status: Done # why\n"],
  [
    "all in braces",
    "{id: AGI-1, status: Backlog}\n",
    { status: "Done", run: 2 },
    "{id: AGI-1, status: Done, run: 2}\n",
  ],
  ["removed in braces", "{id: AGI-1, group: x}\n", { group: null }, "{id: AGI-1, group: null}\n"],
  ["indented", "  id: AGI-1\n  status: Done\n", { run: 1 }, "  id: AGI-1\n  status: Done\n  run: 1\n"],
  ["over two lines", "title: a\n  b\nid: x\n", { title: "c" }, "title: c\nid: x\n"],
  ["an id comes first", "title: a\n", { id: "AGI-1" }, "id: AGI-1\ntitle: a\n"],
  ["a list at the margin", "dependsOn:\n- AGI-1\nid: x\n", { dependsOn: [] }, "dependsOn: []\nid: x\n"],
  [
    "a new key and a new item of the last list",
    "id: x\ndependsOn:\n- AGI-1\n",
    { title: "t", dependsOn: ["AGI-1", "AGI-3"] },
    "id: x\ndependsOn:\n- AGI-1\n- AGI-3\ntitle: t\n",
  ],
  ["a word that is no text", "title: a\n", { title: "yes" }, 'title: "yes"\n'],
  ["an explicit key", "? status\n: Backlog\n", { status: "Done" }, "? status\n: Done\n"],
])("%s", (_, before, changes, after) => {
  expect(rewrite(`---\n${before}---\nbody`, changes)).toBe(`---\n${after}---\nbody`);
});

test("R-004-41: a text that would say more than it should is refused and not written", () => {
  expect(rewriteFrontMatter("---\n{id: AGI-1,}\n---\n", { run: 1 })).toMatchObject({
    ok: false,
    error: { code: "ticket_not_rewritable" },
  });
  expect(rewriteFrontMatter("---\nid: a: b\n---\n", { run: 1 })).toMatchObject({ error: { code: "yaml_syntax" } });
  expect(rewriteFrontMatter("no front matter", { run: 1 })).toMatchObject({ ok: false });
});

// Files as people write them: keys in any order and style, comments, blank lines, either line end, any body.
const text = fc.string({ unit: "grapheme", maxLength: 30 });
const line = text.map((each) => each.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\ufeff]/gu, ""));
const comment = line.map((each) => `# ${each}`);
const scalar = fc.oneof(
  fc.constantFrom("plain", "two words", "3", "true", "~", "2026-01-01", "a/b.c", "[x, y]", "{k: v}", "[]", ""),
  line.map((each) => JSON.stringify(each).replaceAll(/[\u007f-\u009f]/gu, "")),
  line.map((each) => `'${each.replaceAll("'", "''")}'`),
);
const style = fc.oneof(
  fc.tuple(scalar, fc.option(comment)).map(([value, beside]) => [beside === null ? value : `${value} ${beside}`]),
  fc
    .array(fc.constantFrom("AGI-1", "AGI-2 # why", "x y"), { minLength: 1, maxLength: 3 })
    .chain((items) => fc.constantFrom("", "  ").map((indent) => ["", ...items.map((each) => `${indent}- ${each}`)])),
  fc.array(line, { minLength: 1, maxLength: 3 }).map((lines) => ["|", ...lines.map((each) => `  x${each}`)]),
  fc.array(line, { minLength: 1, maxLength: 3 }).map((lines) => [">-", ...lines.map((each) => `    x${each}`), ""]),
);
const NAMES = ["id", "title", "status", "dependsOn", "group", "repo", "last_error", "x-mine", "zwei", "Ünï"];
const entry = (name: string) =>
  fc
    .tuple(fc.option(fc.oneof(comment, fc.constant(""))), style)
    .map(([above, [first = "", ...rest]]) => [
      ...(above === null ? [] : [above]),
      `${name}: ${first}`.trimEnd(),
      ...rest,
    ]);
const file = fc
  .tuple(
    fc.uniqueArray(fc.constantFrom(...NAMES), { minLength: 1 }).chain((names) => fc.tuple(...names.map(entry))),
    fc.option(comment),
    fc.array(line, { maxLength: 4 }),
    fc.constantFrom("\n", "\r\n"),
    fc.constantFrom("", "\uFEFF"),
  )
  .map(([keys, last, body, lineEnd, mark]) => {
    const head = [...keys.flat(), ...(last === null ? [] : [last])].join(lineEnd);
    return { text: `${mark}---${lineEnd}${head}${lineEnd}---${lineEnd}${body.join(lineEnd)}`, keys, lineEnd };
  });
const changesOf = fc.record(
  {
    status: fc.constantFrom("Done", "Needs Plan"),
    title: text,
    dependsOn: fc.uniqueArray(fc.constantFrom("AGI-1", "AGI-2", "AGI-3")),
    group: fc.option(fc.constantFrom("a", "b/c")),
    run: fc.option(fc.nat()),
    last_error: fc.option(text),
  },
  { requiredKeys: [] },
);

const keysOf = (of: string): Record<string, unknown> => {
  const split = splitFrontMatter(of);
  const read = split.ok ? readYaml(split.value.yaml, { file: "", subject: "ticket" }) : undefined;
  if (read?.ok !== true) throw new Error("not readable");
  return { ...read.value.value };
};
/** Lines that no change may touch: all except those of the changed keys. */
const comments = (of: string) => of.split(/\r?\n/u).filter((each) => each.startsWith("# "));

test("R-004-41: over files of every style, the changed keys say the new values and all else is as before", () => {
  let rewritten = 0;
  fc.assert(
    fc.property(file, changesOf, ({ text: before, keys, lineEnd }, changes) => {
      const isReadable = readable(before);
      const done = rewriteFrontMatter(before, changes);
      if (!isReadable) {
        expect(done.ok).toBe(false);
        return;
      }
      if (!done.ok) throw new Error(`${done.error.code}: ${done.error.message}`);
      rewritten++;
      const after = done.value;
      const expected = keysOf(before);
      for (const [key, value] of Object.entries(changes))
        if (value === null) delete expected[key];
        else if (value !== undefined) expected[key] = value;
      const found = keysOf(after);
      for (const key of Object.keys(changes)) if (found[key] === null) delete found[key];
      for (const key of Object.keys(changes)) if (expected[key] === null) delete expected[key];
      expect(found).toEqual(expected);
      expect(bodyOf(after)).toBe(bodyOf(before));
      expect(comments(after)).toEqual(comments(before));
      const untouched = keys.filter(
        (lines) => !lines.some((each) => Object.hasOwn(changes, each.split(":", 1)[0] ?? "")),
      );
      const linesAfter = after.split(lineEnd);
      let at = 0;
      for (const each of untouched.flat()) {
        expect(linesAfter.slice(at)).toContain(each);
        at = linesAfter.indexOf(each, at) + 1;
      }
      expect(after.split(/\r?\n/u)).toHaveLength(linesAfter.length);
      const order = Object.keys(keysOf(before)).filter((key) => key in found);
      expect(Object.keys(found).filter((key) => order.includes(key))).toEqual(order);
    }),
    { numRuns: 600 },
  );
  expect(rewritten).toBeGreaterThan(200);
});

function readable(of: string): boolean {
  try {
    keysOf(of);
    return true;
  } catch {
    return false;
  }
}

function bodyOf(of: string): string {
  const start = of.indexOf("\n") + 1;
  return of.slice(of.search(/\n---\r?\n/u) === -1 ? start : of.search(/\n---\r?\n/u));
}
