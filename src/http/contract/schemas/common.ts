// Schemas that several requests and answers share: ids, times, paging, free text.

import { z } from "zod";
import { NAME_PATTERN } from "../../../core/flow/name.ts";
import { ENCLOSURES } from "../../../core/flow/enclosure.ts";
import { WORKSPACE_MODES } from "../../../core/flow/workspace-mode.ts";

export const time = z.string().meta({ description: "ISO 8601, UTC", examples: ["2026-01-31T12:00:00.000Z"] });

/** A run by its id or by its number. */
export const runReference = z
  .string()
  .regex(/^(r[0-9a-f]{10}|[1-9][0-9]{0,8})$/, "expected a run's id (r and ten hex digits) or its number")
  .meta({ examples: ["r0a1b2c3d4e"] });

/** An inbox item: run, dot, number within the run. */
export const itemReference = z
  .string()
  .regex(/^(r[0-9a-f]{10}|[1-9][0-9]{0,8})\.[1-9][0-9]{0,5}$/, "expected RUN.NUMBER, such as r0a1b2c3d4e.1")
  .meta({ examples: ["r0a1b2c3d4e.1"] });

export const stageName = z.string().regex(NAME_PATTERN, "expected a stage's name");
export const flowName = z.string().regex(/^[a-z][a-z0-9-]{0,47}$/, "expected a flow's name");

/** A ticket by its id, in any form that its source uses. */
export const ticketReference = z
  .string()
  .min(1)
  .max(200)
  .refine((id) => !/[\s\p{C}]/u.test(id), "expected a ticket's id without spaces and control characters")
  .meta({ examples: ["AGI-7"] });

/** A whole number as text in a URL. */
export const numberText = (least: number, most: number, what: string) =>
  z
    .string()
    .regex(/^(0|[1-9][0-9]{0,15})$/, what)
    .transform(Number)
    .refine((value) => value >= least && value <= most, what)
    .meta({ type: "integer", minimum: least, maximum: most });

export const limit = numberText(1, 200, "expected a whole number from 1 to 200").default(50);
/** Keyset paging: entries before this one. */
export const before = numberText(1, Number.MAX_SAFE_INTEGER, "expected the `next` of an earlier page");
/** Keyset paging forwards: entries after this one. */
export const after = numberText(0, Number.MAX_SAFE_INTEGER, "expected the `next` of an earlier page");

/** One line that people read. */
export const line = (most: number, what: string) =>
  z
    .string()
    .max(most, what)
    .refine((text) => text.trim() !== "" && !/\p{Cc}/u.test(text), what);

export const REASON_CHARS = 10_000;
export const TEXT_CHARS = 256 * 1024;

export const subject = z.object({ id: z.string(), title: z.string() });
/** Input was parsed as JSON before this schema; output is serialised as JSON after it. */
export const json = z.unknown().meta({ description: "any JSON" });

/** A way out of a stage, as people read a flow. */
export const way = z
  .object({
    on: z.string().meta({ description: "a verdict, a health, or an answer of a person" }),
    to: z.array(z.string()).meta({ description: "stages; or one of end, stop, escalate, cancel" }),
    counter: z.string().nullable(),
  })
  .meta({ id: "Way" });

export const containment = z
  .object({
    mode: z.enum(WORKSPACE_MODES),
    isConfined: z.boolean().meta({ description: "true for a sandbox" }),
    enclosure: z
      .enum(ENCLOSURES)
      .nullable()
      .meta({ description: "what held the processes of a program without a sandbox together; null if not recorded" }),
    label: z.string().meta({ examples: ["no sandbox: worktree, processes held by a cgroup"] }),
  })
  .nullable()
  .meta({ description: "what contained the program that worked; null if none did, or if it is not recorded" });
