// Flows that only tests need: a shipped flow file with some keys changed, with the shipped agents and prompts.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import type { ResolvedFlow } from "../../src/core/flow/agent.ts";
import { resolveFlow } from "../../src/core/flow/flow.ts";
import { type FlowFile, flowFileSchema } from "../../src/core/flow/flow-file.ts";
import { resolveShipped } from "./shipped-catalog.ts";

export function customFlow(base: string, change: (file: FlowFile) => unknown): ResolvedFlow {
  const text = readFileSync(join(import.meta.dirname, "../../flows", `${base}.yaml`), "utf8");
  const file = flowFileSchema.parse(change(flowFileSchema.parse(parse(text))));
  const { agents, prompts } = resolveShipped(base);
  const hash = createHash("sha256").update(JSON.stringify(file)).digest("hex");
  return { flow: resolveFlow(file), agents, prompts, hash };
}

/** The shipped flow with only these stages, in this order. */
export function onlyStages(base: string, ids: readonly string[]): ResolvedFlow {
  return customFlow(base, (file) => ({ ...file, stages: file.stages.filter(({ id }) => ids.includes(id)) }));
}
