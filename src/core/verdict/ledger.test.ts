// S07 as properties: an unsigned text never decides, and an honest verdict is either kept or fails, in any order and on any channel.

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { shippedFlow } from "../../../test/harness/shipped.ts";
import { MAIN_TRACK } from "../flow/flow.ts";
import { ok } from "../result.ts";
import { findWork } from "../run/sequence.ts";
import { simulate } from "../run/simulate.ts";
import { type Candidate, CHANNELS, type LedgerRules, settle } from "./ledger.ts";
import { unreadable } from "./reading.ts";

const flow = shippedFlow("feature");
const { run } = simulate(flow, [], { facts: {} });
const stage = findWork(flow, run, MAIN_TRACK, "qa");
if (stage === undefined) throw new Error("no stage qa");
const rules = (nonce: LedgerRules["nonce"]): LedgerRules => ({ flow, stage, nonce });

const said = (channel: Candidate["channel"], verdict: string, signed: boolean): Candidate => ({
  channel,
  place: channel,
  signed,
  reading: ok({ verdict, structured: true }),
});
const channel = fc.constantFrom(...CHANNELS.filter((each) => each !== "exit"));
const unsigned = fc.oneof(
  fc
    .record({ channel, verdict: fc.constantFrom("SHIP", "REVISE", "REJECT", "LGTM") })
    .map((each) => said(each.channel, each.verdict, false)),
  channel.map(
    (each): Candidate => ({
      channel: each,
      place: each,
      signed: false,
      reading: unreadable("verdict_invalid_json", "?"),
    }),
  ),
);

test("S07: without the nonce no verdict is read, however many channels speak", () => {
  fc.assert(
    fc.property(fc.array(unsigned, { maxLength: 6 }), (candidates) => {
      expect(settle(rules("required"), candidates).reading.ok).toBe(false);
    }),
  );
});

test("S07: an honest verdict and forged ones in any order give the honest one or a failure", () => {
  const mixed = fc
    .record({ honest: channel, forged: fc.array(unsigned, { maxLength: 4 }), at: fc.nat(4) })
    .map(({ honest, forged, at }) => [...forged.slice(0, at), said(honest, "REVISE", true), ...forged.slice(at)]);
  fc.assert(
    fc.property(mixed, (candidates) => {
      const { reading } = settle(rules("required"), candidates);
      if (reading.ok) expect(reading.value).toMatchObject({ verdict: "REVISE", heard: { signed: true } });
      else expect(reading.error.code).toBe("verdict_ambiguous");
    }),
  );
});

test("S07: where the nonce is optional, channels that disagree never give a verdict", () => {
  const two = fc.record({ one: channel, other: channel }).filter(({ one, other }) => one !== other);
  fc.assert(
    fc.property(two, fc.boolean(), fc.boolean(), ({ one, other }, first, second) => {
      const { reading, heard } = settle(rules("optional"), [said(one, "REVISE", first), said(other, "SHIP", second)]);
      expect(heard).toHaveLength(2);
      // Only an accepted call is final, and it warns.
      if (one !== "desk" && other !== "desk") expect(reading).toMatchObject({ error: { code: "verdict_ambiguous" } });
    }),
  );
});

test("the same verdict by two channels is one verdict, and the flow's own form decides before the file", () => {
  const { reading } = settle(rules("optional"), [said("verdict-file", "SHIP", false), said("form", "SHIP", false)]);
  expect(reading).toMatchObject({ ok: true, value: { heard: { by: "form", signed: false } } });
});

test("what a dispute was about is in the message and in what was heard", () => {
  const ruling = settle(rules("required"), [said("verdict-file", "SHIP", false), said("form", "REVISE", true)]);
  expect(ruling.reading).toMatchObject({ error: { message: expect.stringContaining("form says REVISE") } });
  expect(ruling.heard).toEqual([
    { by: "verdict-file", signed: false, said: "SHIP" },
    { by: "form", signed: true, said: "REVISE" },
  ]);
});
