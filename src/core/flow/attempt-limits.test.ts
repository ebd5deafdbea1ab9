import { join } from "node:path";
import { expect, test } from "vitest";
import { loadCatalog } from "../../catalog/catalog.ts";
import { attemptLimits } from "./attempt-limits.ts";

test("R-001-35: agents of the routed flow fail after 5 minutes of silence, the lead of a team after 15", () => {
  const resolved = loadCatalog({ shippedDir: join(import.meta.dirname, "../../..") }).resolve("routed");
  const stages = resolved.ok ? resolved.value.flow.stages : [];
  const dynamic = stages.find((stage) => stage.kind === "dynamic");
  const builder = dynamic?.kind === "dynamic" ? dynamic.templates["builder"] : undefined;
  if (builder === undefined) throw new Error("the flow has no builder");
  expect(attemptLimits(builder.limits, false).idleMs).toBe(5 * 60_000);
  expect(attemptLimits(builder.limits, true).idleMs).toBe(15 * 60_000);
  expect(attemptLimits({ totalMs: 1, outputBytes: 1, idleMs: 7 }, true).idleMs).toBe(7);
});
