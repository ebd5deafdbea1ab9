// Findings over a whole run: ids, states, and the fold of the events. The property tests play generated reviews against the real transition.

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { resolveFlow } from "../flow/flow.ts";
import { flowFileSchema } from "../flow/flow-file.ts";
import type { FindingNote, Report } from "../flow/outcome.ts";
import { itemFindings } from "../view/findings.ts";
import type { RunEvent } from "./event.ts";
import { evolve } from "./evolve.ts";
import { openItems, type Run } from "./run.ts";
import { transition } from "./transition.ts";

const flowOf = (counter: object, findings?: string, more: object = {}) =>
  resolveFlow(
    flowFileSchema.parse({
      flow: "small",
      version: 1,
      subject: "thing",
      allow_ungated: true,
      counters: { c: counter },
      stages: [
        { id: "work", agent: "a" },
        { id: "judge", agent: "b", findings, route: { revise: { goto: "work", counter: "c" } }, ...more },
      ],
    }),
  );

type Play = { run: Run; readonly events: RunEvent[] };
const AT = "2026-01-01T00:00:00.000Z";

function begin(flow: ReturnType<typeof flowOf>): Play {
  const subject = { id: "s", title: "t", body: "" };
  const body = { type: "run.requested", runId: "r", flowHash: "", subject, facts: {} } as const;
  const { run, events } = transition(flow, undefined, { ...body, id: "0", at: AT, actor: "human:t" });
  return { run, events: [...events] };
}

function send(flow: ReturnType<typeof flowOf>, play: Play, body: object, actor = "engine"): string | undefined {
  const step = transition(flow, play.run, { ...body, id: `${play.events.length}`, at: AT, actor } as never);
  play.run = step.run;
  play.events.push(...step.events);
  return step.ignored;
}

/** The stage that is ready works and reports. */
function report(flow: ReturnType<typeof flowOf>, play: Play, said: Report): void {
  const track = play.run.tracks["main"];
  if (track?.at !== "ready") throw new Error(`nothing is ready: ${track?.at}`);
  const at = { stage: track.stage, attempt: track.attempt };
  send(flow, play, { type: "attempt.started", ...at });
  send(flow, play, { type: "attempt.finished", ...at, report: { structured: true, ...said } });
}

const note = (id: string, state: FindingNote["state"], said = "because"): FindingNote => ({
  id,
  said,
  ...(state === undefined ? {} : { state }),
});
const revise = (issues: Report["issues"], ...findings: FindingNote[]): Report => ({
  verdict: "revise",
  ...(issues === undefined ? {} : { issues }),
  ...(findings.length === 0 ? {} : { findings }),
});

function played(flow: ReturnType<typeof flowOf>, ...reviews: readonly Report[]): Play {
  const play = begin(flow);
  for (const review of reviews) {
    report(flow, play, { summary: "built" });
    report(flow, play, review);
  }
  return play;
}

const last = ({ run }: Play) => run.stages["judge"]?.last;

describe("a review is held to the open findings", () => {
  const flow = flowOf({ max_loops: 10 }, "ids", { route: { revise: { goto: "work", counter: "c" }, failed: "stop" } });

  test("new findings get ids that no later one gets again", () => {
    const play = played(
      flow,
      revise(["one", { severity: "Critical", description: "two", file: "a.ts", line: 3 }]),
      revise(["three"], note("F1", "fixed"), note("F2", "withdrawn")),
    );
    expect(play.run.findings?.list.map(({ id, state, severity, text }) => [id, state, severity, text])).toEqual([
      ["F1", "fixed", undefined, "one"],
      ["F2", "withdrawn", "critical", "two"],
      ["F3", "open", undefined, "three"],
    ]);
  });

  test.each([
    ["leaves one out", revise(["new"], note("F1", "fixed")), "findings_left_out", /nothing about F2/u],
    [
      "names an unknown id",
      revise([], note("F1", "fixed"), note("F2", "fixed"), note("F9", "fixed")),
      "findings_contradicted",
      /F9 is not a finding/u,
    ],
    [
      "names one twice",
      revise([], note("F1", "fixed"), note("F2", "fixed"), note("F2", "not_fixed")),
      "findings_contradicted",
      /F2 is named twice/u,
    ],
    [
      "gives no state",
      revise([], note("F1", "fixed"), note("F2", undefined)),
      "findings_contradicted",
      /F2 has no state/u,
    ],
    [
      "gives no reason",
      revise([], note("F1", "fixed"), note("F2", "not_fixed", " ")),
      "findings_contradicted",
      /say why/u,
    ],
    [
      "passes what is not fixed",
      { verdict: "pass", findings: [note("F1", "fixed"), note("F2", "not_fixed")] },
      "findings_contradicted",
      /F2 is not fixed/u,
    ],
    [
      "passes a new critical finding",
      { verdict: "pass", issues: ["[critical] x"], findings: [note("F1", "fixed"), note("F2", "fixed")] },
      "verdict_contradicted",
      /critical/u,
    ],
  ] satisfies readonly (readonly [string, Report, string, RegExp])[])(
    "one that %s has failed, with the reason",
    (_name, second, cause, reason) => {
      const play = played(flow, revise(["one", "two"]), second);
      expect(last(play)).toMatchObject({ health: "failed" });
      const ended = play.events.findLast((event) => event.type === "stage.finished");
      expect(ended).toMatchObject({ outcome: { cause, reason: expect.stringMatching(reason) } });
      expect(play.run).toMatchObject({ status: "stopped", reason: expect.stringMatching(reason) });
      expect(play.run.findings?.list.every(({ state }) => state === "open")).toBe(true);
    },
  );

  test("a review that gives up on the work need not go through the list", () => {
    const play = played(flow, revise(["one"]), { verdict: "reject", reason: "hopeless" });
    expect(last(play)).toMatchObject({ verdict: "reject" });
  });

  test("without named issues the reason is the finding, and what nobody said is none", () => {
    expect(played(flow, { verdict: "revise", reason: "all of it" }).run.findings?.list).toMatchObject([
      { text: "all of it" },
    ]);
    expect(played(flow, { verdict: "pass" }).run.findings).toBeUndefined();
  });

  test("a flow without the key goes on as before, whatever its reviews say", () => {
    const old = flowOf({ max_loops: 10 });
    const play = played(old, revise(["one"]), revise(["two"]), { verdict: "pass" });
    expect(play.run).toMatchObject({ status: "completed" });
    expect(play.run.findings).toBeUndefined();
    expect(play.events.some(({ type }) => type.startsWith("findings."))).toBe(false);
  });
});

describe("findings that do not converge", () => {
  const flow = flowOf({ max_loops: 10 }, "ids");

  test("not fixed twice goes to a person before the counter is spent", () => {
    const play = played(
      flow,
      revise(["one"]),
      revise([], note("F1", "not_fixed", "still there")),
      revise([], note("F1", "not_fixed", "and again")),
    );
    const [item] = openItems(play.run);
    expect(item).toMatchObject({ kind: "escalation", reason: "F1 was not fixed 2 times" });
    expect(play.run.counters["c"]?.loops).toBe(2);
    const [row] = item === undefined ? [] : itemFindings(play.run, item);
    expect(row).toMatchObject({ id: "F1", text: "one", stage: "judge", iteration: 1, state: "open" });
    expect(row?.history.map(({ by, iteration, said, text }) => [by, iteration, said, text])).toEqual([
      ["work", 2, "note", "(about the whole work) built"],
      ["judge", 2, "not fixed", "still there"],
      ["work", 3, "note", "(about the whole work) built"],
      ["judge", 3, "not fixed", "and again"],
    ]);
  });

  test("closed and named again goes to a person at once (A-B-A)", () => {
    const play = played(
      flow,
      revise(["one"]),
      revise(["two"], note("F1", "fixed")),
      revise([], note("F2", "fixed"), note("F1", "not_fixed")),
    );
    expect(openItems(play.run)).toMatchObject([{ kind: "escalation", reason: "F1 came back after it was closed" }]);
  });

  test("the limit of the counter stays the ceiling, with its own way", () => {
    const stopping = flowOf({ max_loops: 1, on_exhausted: "stop" }, "ids");
    const play = played(stopping, revise(["one"]), revise(["two"], note("F1", "fixed")));
    expect(play.run).toMatchObject({ status: "stopped", reason: "the limit of 1 c loop is reached" });
  });

  test("accepted by a person it stays open, and later reviews need not name it", () => {
    const play = played(
      flow,
      revise(["one"]),
      revise([], note("F1", "not_fixed")),
      revise([], note("F1", "not_fixed")),
    );
    const [item] = openItems(play.run);
    send(
      flow,
      play,
      { type: "item.answered", number: item?.number, kind: "escalation", answer: "accept", text: "" },
      "human:ada",
    );
    expect(play.run.findings?.list).toMatchObject([{ id: "F1", state: "open", acceptedBy: "human:ada" }]);
    expect(play.run.status).toBe("completed");
  });

  test("after a person's answer the count begins anew", () => {
    const play = played(
      flow,
      revise(["one"]),
      revise([], note("F1", "not_fixed")),
      revise([], note("F1", "not_fixed")),
    );
    const [item] = openItems(play.run);
    send(
      flow,
      play,
      { type: "item.answered", number: item?.number, kind: "escalation", answer: "again", text: "" },
      "human:ada",
    );
    report(flow, play, { findings: [note("F1", undefined, "moved the check")] });
    report(flow, play, revise([], note("F1", "not_fixed")));
    expect(openItems(play.run)).toEqual([]);
    expect(play.run.findings?.list[0]?.said.map(({ text }) => text)).toContain("moved the check");
  });
});

describe("findings by row", () => {
  const flow = flowOf({ max_loops: 5 }, "rows");

  test("the same row in other words is the same finding; one that is gone is fixed", () => {
    const play = played(
      flow,
      revise(["The route exists — no file", "Row B"]),
      revise(["the route  exists. — still nothing"]),
    );
    expect(play.run.findings?.list.map(({ id, state, notFixed }) => [id, state, notFixed])).toEqual([
      ["F1", "open", 1],
      ["F2", "fixed", 0],
    ]);
  });

  test("a pass with gaps is contradicted", () => {
    expect(last(played(flow, { verdict: "pass", issues: ["Row A"] }))).toMatchObject({ health: "failed" });
  });
});

describe("generated reviews", () => {
  const state = fc.constantFrom("fixed", "not_fixed", "withdrawn") as fc.Arbitrary<NonNullable<FindingNote["state"]>>;
  const review = fc.record({
    pass: fc.boolean(),
    issues: fc.array(fc.string({ maxLength: 5000 }), { maxLength: 30 }),
    states: fc.array(state, { maxLength: 60 }),
    extra: fc.option(fc.constantFrom("F1", "F2", "F99", "F0", "__proto__"), { nil: undefined }),
    note: fc.string({ maxLength: 600 }),
  });

  test.each(["ids", "rows"])(
    "%s: every finding has one state and its own id, the state is bounded, and replay equals live",
    (mode) => {
      const flow = flowOf({ max_attempts: "none" }, mode);
      fc.assert(
        fc.property(fc.array(review, { maxLength: 12 }), (reviews) => {
          const play = begin(flow);
          for (const { pass, issues, states, extra, note: said } of reviews) {
            if (play.run.tracks["main"]?.at !== "ready") break;
            report(flow, play, { summary: said });
            const open = (play.run.findings?.list ?? []).filter((each) => each.state === "open");
            const notes = open.map(({ id }, at) => note(id, states[at] ?? "fixed"));
            if (extra !== undefined) notes.push(note(extra, "not_fixed"));
            report(flow, play, {
              verdict: pass ? "pass" : "revise",
              issues,
              ...(notes.length === 0 ? {} : { findings: notes }),
            });
          }
          const { list, last: newest } = play.run.findings ?? { list: [], last: 0 };
          expect(new Set(list.map(({ id }) => id)).size).toBe(list.length);
          const raised = play.events.flatMap((event) =>
            event.type === "findings.reviewed" ? event.raised.map(({ id }) => id) : [],
          );
          expect(raised).toEqual(raised.map((_, at) => `F${at + 1}`));
          expect(newest).toBe(raised.length);
          expect(list.every((each) => ["open", "fixed", "withdrawn"].includes(each.state))).toBe(true);
          expect(list.filter((each) => each.state === "open").length).toBeLessThanOrEqual(50);
          expect(list.length).toBeLessThanOrEqual(100);
          expect(JSON.stringify(list).length).toBeLessThan(700_000);
          const folded = play.events.reduce<Run | undefined>((run, event) => evolve(run, event), undefined);
          expect(JSON.stringify(folded)).toBe(JSON.stringify(play.run));
        }),
        { numRuns: 60 },
      );
    },
  );
});

test("what exceeds the limit of open findings is said", () => {
  const flow = flowOf({ max_loops: 5 }, "ids");
  const play = played(flow, revise(Array.from({ length: 60 }, (_, at) => `finding ${at}`)));
  expect(play.run.findings?.list).toHaveLength(50);
  expect(play.events).toContainEqual(
    expect.objectContaining({
      type: "warning.raised",
      code: "findings_over_limit",
      message: expect.stringMatching(/^10 findings/u),
    }),
  );
});
