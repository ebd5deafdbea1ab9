import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { flowSchema } from "../src/core/check/schema-at.ts";
import { flowReference, REFERENCE_PATH } from "./flow-reference.ts";

test("docs/flow-reference.md is what the schema gives; node scripts/flow-reference.ts writes it", () => {
  expect(readFileSync(REFERENCE_PATH, "utf8")).toBe(flowReference());
});

test("the reference names every key of the schema, and the schema describes it", () => {
  const reference = flowReference();
  const keys = new Set<string>();
  const visit = (node: unknown): void => {
    if (node === null || typeof node !== "object") return;
    if ("properties" in node && typeof node.properties === "object")
      for (const key of Object.keys(node.properties ?? {})) keys.add(key);
    for (const inner of Object.values(node)) visit(inner);
  };
  visit(flowSchema());
  expect(keys.size).toBeGreaterThan(80);
  expect([...keys].filter((key) => !reference.includes(`\`${key}\``))).toEqual([]);
});
