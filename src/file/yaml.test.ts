import { describe, expect, test } from "vitest";
import { readYaml } from "./yaml.ts";

const read = (text: string, linesBefore = 0) => readYaml(text, { file: "flows/x.yaml", subject: "flow", linesBefore });
const firstProblem = (text: string) => {
  const result = read(text);
  return result.ok
    ? undefined
    : { code: result.error[0]?.code, line: result.error[0]?.line, column: result.error[0]?.column };
};

describe("what is refused", () => {
  test.each([
    ["an anchor (70)", "a: 1\nb: &x 2\n", "yaml_alias_not_allowed", 2, 4],
    ["an alias (70)", "a: *x\n", "yaml_alias_not_allowed", 1, 4],
    ["a tag (70)", "a: 1\nb: !!js/function 'x'\n", "yaml_tag_not_allowed", 2, 4],
    ["a local tag", "- !x a\n", "yaml_tag_not_allowed", 1, 3],
    ["a directive", "%YAML 1.1\n---\na: 1\n", "yaml_directive_not_allowed", 1, 1],
    ["a duplicate key", "a: 1\nb: 2\na: 3\n", "duplicate_key", 3, 1],
    ["a duplicate key in a flow mapping", "a: { b: 1, b: 2 }\n", "duplicate_key", 1, 12],
    ["__proto__", "a:\n  __proto__: { x: 1 }\n", "key_not_allowed", 2, 3],
    ["a merge key", "a:\n  <<: { x: 1 }\n", "key_not_allowed", 2, 3],
    ["an empty file (63)", "", "flow_must_be_mapping", 1, 1],
    ["only comments (63)", "# nothing\n", "flow_must_be_mapping", 1, 1],
    ["a list at the top (63)", "- a\n", "flow_must_be_mapping", 1, 1],
    ["two documents (63)", "a: 1\n---\nb: 2\n", "multiple_documents", 2, 1],
    ["a tab as indentation", "a:\n\tb: 1\n", "yaml_syntax", 2, 1],
    ["an unclosed bracket", "a: [1, 2\nb: c\n", "yaml_syntax", 2, 1],
    ["a key that is a list", "? [a, b]\n: c\n", "yaml_syntax", 1, 3],
    ["a control character", "a: \u0007\n", "control_character", 1, 4],
    ["a NUL", "a: x\0\n", "control_character", 1, 5],
  ])("%s", (_name, text, code, line, column) => {
    expect(firstProblem(text)).toEqual({ code, line, column });
  });
});

test("all faults of a text are told, with the line itself", () => {
  const result = read("a: 1\na: 2\nb: 1\nb: 2\n");
  expect(result).toMatchObject({
    ok: false,
    error: [
      { line: 2, text: "a: 2", file: "flows/x.yaml" },
      { line: 4, text: "b: 2" },
    ],
  });
});

describe("hostile texts are refused quickly (74)", () => {
  const laughs = ["a: &a [x, x, x]", "b: &b [*a, *a, *a]", "c: &c [*b, *b, *b]", "d: [*c, *c, *c]"].join("\n");
  test.each([
    ["100 KB of [", "[".repeat(100_000), "flow_too_deep"],
    ["brackets whose ends are in comments", "[ #]\n".repeat(40_000), "flow_too_deep"],
    ["brackets whose ends are in quotes", '["]",'.repeat(40_000), "flow_too_deep"],
    ["nested mappings", "{a: ".repeat(50_000), "flow_too_deep"],
    ["nested lists on one line", "- ".repeat(100_000), "flow_too_deep"],
    ["nested keys on one line", "? ".repeat(100_000), "flow_too_deep"],
    [
      "nesting 200 by indentation",
      Array.from({ length: 200 }, (_, i) => `${" ".repeat(i)}a:`).join("\n"),
      "flow_too_deep",
    ],
    ["257 KiB", `a: ${"x".repeat(257 * 1024)}`, "flow_too_large"],
    ["a very wide list", `a: [${"1,".repeat(120_000)}]`, "flow_too_large"],
    ["very many keys", Array.from({ length: 20_000 }, (_, i) => `k${i}: 1`).join("\n"), "flow_too_large"],
    ["only commas", `a: [${",".repeat(200_000)}`, "flow_too_large"],
    ["only closing brackets", `a: ${"}".repeat(200_000)}`, "flow_too_large"],
    ["only line ends", "\n".repeat(250_000), "flow_too_large"],
    ["billion laughs", laughs, "yaml_alias_not_allowed"],
    ["an unclosed quote", `a: "${"x\n".repeat(120_000)}`, "yaml_syntax"],
  ])("%s", (_name, text, code) => {
    const before = performance.now();
    const result = read(text);
    // Far above the real time (5 to 200 ms), far below the time to build such a document.
    expect(performance.now() - before).toBeLessThan(1500);
    expect(result).toMatchObject({ ok: false, error: [{ code }] });
  });
});

test("what only looks dangerous is text", () => {
  const text = "a: '&x'\nb: \"*x !y [[[\"\nc: |\n  [[[ &x *y !z {{{\n  %x\n  ---\nd: it's [fine\non: yes\n0: zero\n";
  expect(read(text)).toMatchObject({
    ok: true,
    value: {
      value: { a: "&x", b: "*x !y [[[", c: "[[[ &x *y !z {{{\n%x\n---\n", d: "it's [fine", on: "yes", "0": "zero" },
    },
  });
});

test("a byte order mark, CRLF and a leading --- are accepted", () => {
  expect(read("\uFEFF---\r\na: 1\r\nb:\r\n  - c\r\n")).toMatchObject({
    ok: true,
    value: { value: { a: 1, b: ["c"] } },
  });
});

test("every key and item knows its place; what is missing is at its parent", () => {
  const result = read("flow: x\nstages:\n  - id: a\n    route: { pass: next, revise: { goto: b } }\n  - { id: b }\n");
  if (!result.ok) throw new Error("expected a document");
  const { at, lineAt } = result.value;
  expect(at([])).toEqual({ line: 1, column: 1 });
  expect(at(["stages"])).toEqual({ line: 2, column: 1 });
  expect(at(["stages", 0])).toEqual({ line: 3, column: 5 });
  expect(at(["stages", 0, "route", "revise", "goto"])).toEqual({ line: 4, column: 36 });
  expect(at(["stages", 1, "agent"])).toEqual({ line: 5, column: 5 });
  expect(at(["stages", 7])).toEqual({ line: 2, column: 1 });
  expect(lineAt(5)).toBe("  - { id: b }");
});

test("lines count from the top of the file, also below front matter", () => {
  const result = read("a: 1\na: 2\n", 1);
  expect(result).toMatchObject({ ok: false, error: [{ line: 3, text: "a: 2" }] });
});

test("a text that was read before is nobody's own: data and positions belong to each reading", () => {
  const text = "list:\n  - one\n";
  const [first, second] = [read(text), read(text, 3)];
  if (!first.ok || !second.ok) throw new Error("it is well formed");
  (first.value.value["list"] as string[]).push("two");
  expect(second.value.value).toEqual({ list: ["one"] });
  expect([first, second].map(({ value }) => value.at(["list", 0]).line)).toEqual([2, 5]);
  expect([first.value.lineAt(2), second.value.lineAt(5)]).toEqual(["  - one", "  - one"]);
  expect(read(text).ok && read(text)).toMatchObject({ value: { value: { list: ["one"] } } });
});
