// The shipped flows as the core sees them, without the catalog: for tests of the pure parts.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { type Flow, resolveFlow } from "../../src/core/flow/flow.ts";
import { flowFileSchema } from "../../src/core/flow/flow-file.ts";

export const SHIPPED = [
  "feature",
  "routed",
  "build-plan-standard",
  "build-plan-complex",
  "build-plan-simple",
  "story",
  "intake",
  "land",
  "ticket",
] as const;

export function shippedFlow(name: (typeof SHIPPED)[number]): Flow {
  const text = readFileSync(join(import.meta.dirname, "../../flows", `${name}.yaml`), "utf8");
  return resolveFlow(flowFileSchema.parse(parse(text)));
}
