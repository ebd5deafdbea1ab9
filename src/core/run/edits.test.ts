import { expect, test } from "vitest";
import { shippedFlow } from "../../../test/harness/shipped.ts";
import type { Run } from "./run.ts";
import type { Signal, SignalBody } from "./signal.ts";
import { transition } from "./transition.ts";

const flow = shippedFlow("ticket");
const at = "2026-01-01T00:00:00.000Z";
const step = (run: Run | undefined, body: SignalBody, actor: Signal["actor"] = "human:file") =>
  transition(flow, run, { ...body, id: "s", at, actor });
const requested: SignalBody = {
  type: "run.requested",
  runId: "r1",
  flowHash: "h",
  subject: { id: "AGI-7", title: "Old", body: "old" },
  facts: { ticket: { status: "Needs Plan" } },
};
const planning = () => step(undefined, requested).run;
const edit = (title: string, body: string): SignalBody => ({ type: "ticket.edited", title, body });

test("an edited ticket changes what the run is about and nothing else", () => {
  const before = planning();
  const { run, events, commands } = step(before, edit("New", "new"));
  expect(events).toEqual([{ type: "ticket.edited", title: "New", body: "new", at, actor: "human:file" }]);
  expect(commands).toEqual([]);
  expect(run).toEqual({ ...before, subject: { id: "AGI-7", title: "New", body: "new" } });
});

test.each<[string, SignalBody, Signal["actor"]]>([
  ["from an agent", edit("New", "new"), "agent:worker"],
  ["that changes nothing", edit("Old", "old"), "human:file"],
  ["without a title", edit("  ", "new"), "human:file"],
  ["with a title beyond its limit", edit("x".repeat(201), "new"), "human:file"],
  ["with a body beyond its limit", edit("New", "x".repeat(256 * 1024 + 1)), "human:file"],
])("R-X-03: an edit %s is ignored", (_, body, actor) => {
  const before = planning();
  const { run, ignored } = step(before, body, actor);
  expect(ignored).toBeDefined();
  expect(run).toBe(before);
});

test("a warning from beside the run is recorded with its stage and moves nothing", () => {
  const before = planning();
  const { run, events } = step(before, { type: "warning.noticed", code: "ticket_file_missing", message: "gone" });
  expect(run).toBe(before);
  expect(events).toMatchObject([
    { type: "warning.raised", stage: "plan", code: "ticket_file_missing", message: "gone" },
  ]);
  expect(step(before, { type: "warning.noticed", code: "Not A Code", message: "" }).ignored).toContain("code");
});
