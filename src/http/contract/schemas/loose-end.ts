// Loose ends, which wait for a person without a question of a stage: unmerged work, stopped runs, blocked tickets,
// broken files, files that wait for trust.

import { z } from "zod";
import { LOOSE_END_KINDS } from "../../../core/view/loose-end.ts";
import { TICKET_STATUSES } from "../../../core/ticket/status.ts";
import { time } from "./common.ts";

const actSchema = z
  .discriminatedUnion("do", [
    z.object({ do: z.enum(["retry", "retry-with", "skip"]), stage: z.string() }),
    z.object({ do: z.enum(["cancel", "merge", "propose", "discard", "confirm-merge"]) }),
    z.object({ do: z.literal("move"), to: z.enum(TICKET_STATUSES) }),
    z.object({ do: z.literal("open"), url: z.string() }),
    z.object({
      do: z.literal("show"),
      what: z.enum(["run", "changes", "ticket", "tickets", "flow", "trust"]),
      name: z.string(),
    }),
    z.object({ do: z.literal("type") }),
  ])
  .meta({ id: "LooseEndAct" });

export const verbsSchema = z
  .array(
    z.object({
      verb: z.string(),
      effect: z.string().meta({ description: "what it does" }),
      command: z.string().meta({ description: "what to type, or an address" }),
      act: actSchema.meta({ description: "the same as a call of this API, or as a page" }),
    }),
  )
  .meta({ description: "what settles it, the usual way first" });

export const looseEndSchema = z
  .object({
    id: z.string().meta({ description: "the same as long as the same thing waits" }),
    kind: z.enum(LOOSE_END_KINDS),
    title: z.string().meta({ description: "the title of the run or the ticket, or the file" }),
    text: z.string().meta({ description: "what happened" }),
    since: time.nullable(),
    run: z.object({ id: z.string(), number: z.int() }).nullable(),
    ticket: z.string().nullable(),
    verbs: verbsSchema,
  })
  .meta({ id: "LooseEnd" });
