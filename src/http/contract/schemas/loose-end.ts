// What waits for a person although no stage asked: unmerged work, stopped runs, blocked tickets, broken files, files that wait for trust.

import { z } from "zod";
import { LOOSE_END_KINDS } from "../../../core/view/loose-end.ts";
import { time } from "./common.ts";

export const looseEndSchema = z
  .object({
    id: z.string().meta({ description: "the same as long as the same thing waits" }),
    kind: z.enum(LOOSE_END_KINDS),
    title: z.string().meta({ description: "the title of the run or the ticket, or the file" }),
    text: z.string().meta({ description: "what happened" }),
    since: time.nullable(),
    run: z.object({ id: z.string(), number: z.int() }).nullable(),
    ticket: z.string().nullable(),
    verbs: z
      .array(z.object({ verb: z.string(), command: z.string() }))
      .meta({ description: "what settles it; `command` is what to type, or an address" }),
  })
  .meta({ id: "LooseEnd" });
