// The text about the merge for a person before they decide, for every way of landing.

import { expect, test } from "vitest";
import { shippedFlow } from "../../../test/harness/shipped.ts";
import type { ResolvedFlow } from "../flow/agent.ts";
import type { JsonObject } from "../json.ts";
import { openItems, type Run } from "../run/run.ts";
import type { SignalBody } from "../run/signal.ts";
import { transition } from "../run/transition.ts";
import { leadsOf } from "./consequences.ts";
import { landingOf, type LandingPlace } from "./landing.ts";

const flow = shippedFlow("feature");
const resolved = { flow, agents: {}, hash: "h" } as unknown as ResolvedFlow;
const ORIGIN: LandingPlace = { mode: "auto", remote: "origin", hasPullRequests: true, target: "main" };
let signals = 0;

function step(run: Run | undefined, body: SignalBody, actor: "human:t" | "engine" | "agent:x" = "human:t"): Run {
  return transition(flow, run, { ...body, id: `s${++signals}`, at: "2026-01-01T00:00:00.000Z", actor }).run;
}

function started(facts: JsonObject): Run {
  const subject = { id: "F-1", title: "t", body: "" };
  return step(undefined, { type: "run.requested", runId: "r1", flowHash: "h", subject, facts });
}

function atShip(facts: JsonObject): Run {
  let run = step(started(facts), { type: "item.answered", number: 1, kind: "gate", answer: "approve", text: "" });
  for (const [stage, verdict] of Object.entries({
    spec: "APPROVED",
    design: "APPROVED",
    build: "COMPLETE",
    qa: "SHIP",
  }))
    run = step(
      step(run, { type: "attempt.started", stage, attempt: 1 }, "engine"),
      { type: "attempt.finished", stage, attempt: 1, report: { verdict } },
      "agent:x",
    );
  return run;
}

function told(run: Run, place: LandingPlace): Readonly<Record<string, string | undefined>> {
  const [item] = openItems(run);
  if (item === undefined) throw new Error("nothing waits");
  const leads = leadsOf(flow, run, item);
  return Object.fromEntries(leads.map((lead) => [lead.answer, landingOf(resolved, run, 7, lead, place)?.text]));
}

const lands = (merge_mode: string, place: LandingPlace) => told(atShip({ config: { merge_mode } }), place)["approve"];

test("an approval says into which branch of which remote the work goes, who merges it, or that nobody does", () => {
  expect(lands("merge", ORIGIN)).toBe("Lands passrail/r1 on main of origin, through the merge queue.");
  expect(lands("pr", ORIGIN)).toBe("Opens a pull request of passrail/r1 into main of origin; it does not merge.");
  expect(lands("pr", { ...ORIGIN, hasPullRequests: false, target: null })).toBe(
    "Pushes passrail/r1 to origin and does not merge: it waits until a person merges it into the default branch.",
  );
  const own = { ...ORIGIN, remote: null, hasPullRequests: false };
  expect(lands("merge", own)).toBe("Lands passrail/r1 on main of the project's repository, through the merge queue.");
  expect(lands("pr", own)).toBe(
    "Does not merge: passrail/r1 waits until a person merges it into main of the project's repository.",
  );
  expect(lands("sideways", own)).toBe('Lands nothing: the flow has no way to land in the mode "sideways".');
});

test("a flow that ends at its last gate says that it does not merge, and what lands the work later", () => {
  const run = atShip({});
  expect(told(run, ORIGIN)["approve"]).toBe(
    "Does not merge: the work stays on passrail/r1. To land it later: passrail merge 7",
  );
  // More work follows, so nothing is settled; before the first stage there is no work that could stay.
  expect(told(run, ORIGIN)["revise"]).toBeUndefined();
  expect(told(started({}), ORIGIN)).toEqual({ approve: undefined, decline: undefined });
  const inPlace = atShip({ config: { workspace: "in-place" } });
  expect(told(inPlace, ORIGIN)["approve"]).toBe("Merges nothing: the work is in the project's own folder.");
});

test("a run over several repositories says where each part goes, and that pull requests are no one decision", () => {
  const repositories = [
    { dir: ".", commit: "a", base: "main" },
    { dir: "backend", commit: "b", base: null },
  ];
  const several = (merge_mode: string) =>
    told(atShip({ config: { merge_mode, joint: "/joint/r1" }, repositories }), ORIGIN)["approve"];
  expect(several("merge")).toBe(
    "Lands passrail/r1 of each repository through its merge queue: the project on main, backend on its default branch.",
  );
  expect(several("pr")).toContain("Lands nothing");
});
