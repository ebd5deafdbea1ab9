// A key of a flow file has a reader that acts on it, or the schema refuses it: a key that does nothing misleads the author of a flow.

import { expect, test } from "vitest";
import { z } from "zod";
import { flowFileSchema } from "../src/core/flow/flow-file.ts";
import { type Planted, reportKeys } from "./declared-keys.ts";

/** Keys that lift a check of the flow and have no other effect. */
const FOR_THE_CHECK = ["flowFileSchema.allow_ungated"];

/** One key that is stored as written, and one that the resolver takes over. Nothing acts on either. */
const PLANTED: readonly Planted[] = [
  {
    file: "src/core/flow/flow-file.ts",
    before: '  memory: z.string().describe("a folder of shared files',
    text: "  planted_raw: z.string().optional(),\n",
  },
  {
    file: "src/core/flow/flow-file.ts",
    before: '  verdicts: z.array(word).min(1).describe("the verdict words',
    text: "  planted_stage: z.string().optional(),\n",
  },
  {
    file: "src/core/flow/flow.ts",
    before: "  readonly carryOnRetry: readonly string[];",
    text: "  readonly plantedStage?: string;\n",
  },
  {
    file: "src/core/flow/flow.ts",
    before: "    carryOnRetry: stage.carry_on_retry ?? [],",
    text: "    ...optional({ plantedStage: stage.planted_stage }),\n",
  },
];

test("every key of a flow file is read by code that acts on it, and planted keys without a reader are found", {
  timeout: 300_000,
}, () => {
  const { declared, unread } = reportKeys(PLANTED);
  const names = new Set(declared.map((key) => key.slice(key.lastIndexOf(".") + 1)));
  expect([...keysOf(z.toJSONSchema(flowFileSchema, { io: "input" }))].filter((key) => !names.has(key))).toEqual([]);
  expect(unread.toSorted()).toEqual([...FOR_THE_CHECK, "workspace.planted_raw", "stageKeys.planted_stage"].toSorted());
});

/** Every key of the schema, at any depth. */
function keysOf(schema: unknown, found = new Set<string>()): ReadonlySet<string> {
  if (schema === null || typeof schema !== "object") return found;
  for (const [name, value] of Object.entries(schema)) {
    if (name === "properties") for (const key of Object.keys(value as object)) found.add(key);
    keysOf(value, found);
  }
  return found;
}
