// The report of a night.

import { z } from "zod";
import { time } from "./common.ts";

const row = {
  subject: z.string().nullable().meta({ description: "the ticket; null for a file that is none" }),
  title: z.string(),
  run: z.object({ id: z.string(), number: z.int() }).nullable(),
  text: z.string().meta({ description: "what happened, with its cause" }),
  commands: z.array(z.string()).meta({ description: "what to type, the usual way first" }),
};

const rows = z.array(z.object(row).meta({ id: "ReportRow" }));

const ended = z.array(
  z
    .object({
      ...row,
      at: time,
      state: z.enum(["landed", "proposed", "pushed", "kept", "gone", "in-place", "none", "imported", "canceled"]),
      commit: z.string().nullable(),
      target: z.string().nullable(),
      usd: z.number().nullable().meta({ description: "null: not reported, or not by all attempts" }),
      meteredAttempts: z.int(),
    })
    .meta({ id: "EndedRow" }),
);

export const nightReportSchema = z.object({
  since: time,
  until: time,
  landed: ended,
  ended,
  waiting: rows,
  failed: rows,
  cannotStart: rows,
  goingOn: rows,
  later: rows,
  cost: z.object({
    attempts: z.int(),
    usd: z.number().nullable(),
    unknownUsd: z.int(),
    usdPerLanded: z.number().nullable(),
    landedUnknown: z.int(),
  }),
  isCut: z.boolean(),
});
