import { describe, expect, test } from "vitest";
import { shippedFlow } from "../../../test/harness/shipped.ts";
import type { WorkStage } from "../flow/flow.ts";
import type { JsonObject } from "../json.ts";
import { gateTrust, type TrustAttempt, trust, trustText } from "./trust.ts";

const standard = shippedFlow("build-plan-standard");
const complex = shippedFlow("build-plan-complex");
const CLEAN = [{ name: "Lint", line: "Lint: 0 errors", clean: true }];
const DIRTY = [...CLEAN, { name: "Types", line: "Types: 2 errors", clean: false }];

function done(stage: string, attempt: number, outcome: TrustAttempt["outcome"]): TrustAttempt {
  return { stage, attempt, status: "done", outcome: { health: "complete", verdict: "pass", ...outcome } };
}
const dev = (attempt: number, gates: typeof CLEAN | null = CLEAN, stage = "dev") =>
  done(stage, attempt, { payload: gates === null ? {} : { gates } });

test.each([
  [true, true, false, true],
  [true, true, true, false],
  [true, false, false, false],
  [true, false, true, false],
  [false, true, false, false],
  [false, true, true, false],
  [false, false, false, false],
  [false, false, true, false],
])("R-002-53: latest %s, clean %s, asked later %s → trusted %s", (isLatest, isClean, askedLater, trusted) => {
  const found = trust({ isLatest, isClean, askedLater });
  expect(found.trusted).toBe(trusted);
  expect(found.reasons).toHaveLength([!isLatest, !isClean, askedLater].filter(Boolean).length);
});

test("R-002-56: trust is read from the attempts, and every failing condition is named", () => {
  const pass = done("review", 1, {});
  const asked = done("review", 1, { verdict: "revise" });
  const of = (...attempts: TrustAttempt[]) => gateTrust(standard, attempts)[0];
  expect(of(dev(1), done("dod", 1, {}), pass)).toMatchObject({ trusted: true, stage: "dev", iteration: 1 });
  expect(of(dev(1), asked, dev(2), done("review", 2, {}))).toMatchObject({ trusted: true, iteration: 2 });
  expect(of(dev(1), asked)).toMatchObject({ trusted: false, reasons: [expect.stringContaining("asked for after it")] });
  expect(of(dev(1), done("dod", 1, { verdict: "revise" }), pass)?.trusted).toBe(false);
  expect(of(dev(1), done("test", 1, { verdict: "revise" }))?.trusted).toBe(false);
  expect(of(dev(1, DIRTY), pass)).toMatchObject({ trusted: false, reasons: [expect.stringContaining("clean")] });
});

test("an iteration after the handoff that did not complete takes the trust away", () => {
  for (const status of ["interrupted", "canceled", "running"] as const) {
    const later: TrustAttempt = { stage: "dev", attempt: 2, status, outcome: null };
    expect(gateTrust(standard, [dev(1), later])[0]).toMatchObject({ trusted: false, iteration: 1 });
  }
  const failed = done("dev", 2, { health: "incomplete", payload: { gates: CLEAN } });
  expect(gateTrust(standard, [dev(1), failed])[0]?.reasons).toEqual([expect.stringContaining("latest iteration")]);
});

test("R-002-54: no section, an empty one or no handoff at all is not trusted", () => {
  expect(gateTrust(standard, [dev(1, null)])[0]?.trusted).toBe(false);
  expect(gateTrust(standard, [dev(1, [])])[0]?.trusted).toBe(false);
  expect(gateTrust(standard, [done("dev", 1, { payload: { gates: "all clean" } })])[0]?.trusted).toBe(false);
  expect(gateTrust(standard, [done("dev", 1, { payload: { gates: [true] } })])[0]?.trusted).toBe(false);
  expect(gateTrust(standard, [])[0]).toMatchObject({ trusted: false, iteration: 0 });
});

test("each track is trusted by itself", () => {
  const attempts = [dev(1, CLEAN, "be-dev"), dev(1, CLEAN, "fe-dev"), done("fe-review", 1, { verdict: "revise" })];
  expect(gateTrust(complex, attempts)).toMatchObject([
    { stage: "be-dev", trusted: true },
    { stage: "fe-dev", trusted: false },
  ]);
  const bounced = [
    dev(1, CLEAN, "be-dev"),
    dev(1, CLEAN, "fe-dev"),
    done("test", 1, { verdict: "revise" }),
    dev(2, CLEAN, "be-dev"),
  ];
  expect(gateTrust(complex, bounced).map(({ trusted }) => trusted)).toEqual([true, false]);
});

test("R-002-55: the text says what to run, and why not less", () => {
  const gates: NonNullable<WorkStage["gates"]> = {
    trust: "developer-latest-clean",
    when_trusted: ["own-tests", "one-full-suite"],
    otherwise: ["all-gates", "audit"],
  };
  expect(trustText(gates, gateTrust(standard, [dev(1)]))).toBe(
    "Quality gates of dev, iteration 1: trusted. Run your own new tests, the full suite once at the end. Basis: its report alone: Passrail ran no check on these files.",
  );
  expect(trustText(gates, gateTrust(standard, [dev(2, DIRTY)]))).toBe(
    "Quality gates of dev, iteration 2: not trusted, because not every line of its Quality-Gate Results is clean. Run every quality gate from scratch, audit.",
  );
  expect(trustText({ trust: "developer-latest-clean" }, gateTrust(standard, []))).toContain(
    "Quality gates of dev: not trusted, because",
  );
});

test("a stage that trusts nobody runs every gate, however clean the developer's are", () => {
  const found = gateTrust(standard, [dev(1)], "never");
  expect(found[0]).toMatchObject({ trusted: false, iteration: 1 });
  expect(trustText({ trust: "never", otherwise: ["all-gates"] }, found)).toBe(
    "Quality gates of dev, iteration 1: not trusted, because this flow never relies on the gates of others. Run every quality gate from scratch.",
  );
});

describe("R-002-53: Passrail's own results come first", () => {
  const NOW = { commit: "c1", tree: "t1" };
  const ran = (state: string, at = NOW) => ({ name: "test", state, ...at });
  const devWith = (checks: readonly object[], more: JsonObject = {}, gates: typeof CLEAN | null = CLEAN) =>
    done("dev", 1, { payload: gates === null ? more : { gates, ...more }, checks: checks as JsonObject[] });
  const of = (attempt: TrustAttempt) => gateTrust(standard, [attempt], "developer-latest-clean", NOW)[0];

  test("green checks of exactly these files are trusted, also without a word in the handoff", () => {
    expect(of(devWith([ran("passed")], {}, null))).toMatchObject({
      trusted: true,
      basis: "Passrail ran test on exactly these files",
    });
    expect(of(devWith([ran("passed", { commit: "c0", tree: "t1" })], {}, null))?.trusted).toBe(true);
  });

  test("checks of other files say nothing: the report decides, and it is named as the basis", () => {
    const elsewhere = ran("passed", { commit: "c0", tree: "t0" });
    expect(of(devWith([elsewhere]))).toMatchObject({
      trusted: true,
      basis: expect.stringContaining("its report alone"),
    });
    expect(of(devWith([elsewhere], {}, null))?.trusted).toBe(false);
    expect(of(devWith([]))?.basis).toContain("its report alone");
  });

  test("a mismatch between the two is never trusted, in either direction", () => {
    const lied = of(devWith([ran("failed")]));
    expect(lied).toMatchObject({ trusted: false });
    expect(lied?.reasons).toEqual(["Passrail's own test did not pass, although the report is clean"]);
    expect(of(devWith([ran("timed_out")]))?.trusted).toBe(false);
    const other = of(devWith([ran("passed")], {}, DIRTY));
    expect(other?.reasons).toEqual([
      expect.stringContaining("its report of Types is not clean, although Passrail ran test"),
    ]);
  });

  test("another iteration's number is not trusted, whoever ran what", () => {
    expect(of(devWith([ran("passed")], { iteration: 1 }))?.trusted).toBe(true);
    const other = of(devWith([ran("passed")], { iteration: 7 }));
    expect(other).toMatchObject({ trusted: false });
    expect(other?.reasons.join()).toContain("it names iteration 7, and it is iteration 1");
  });

  test("an honest number counts attempts, completed iterations or loops of the judge", () => {
    const asked = done("review", 1, { verdict: "revise" });
    const cut: TrustAttempt = { stage: "dev", attempt: 2, status: "interrupted", outcome: null };
    const third = (iteration: number) => done("dev", 3, { payload: { gates: CLEAN, iteration } });
    for (const [number, trusted] of [
      [3, true],
      [2, true],
      [1, false],
      [4, false],
    ] as const)
      expect(gateTrust(standard, [dev(1), asked, cut, third(number)])[0]?.trusted).toBe(trusted);
  });
});
