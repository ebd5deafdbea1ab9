// The rows of evidence of a run, the same at a gate and at the run itself.

import { z } from "zod";

const line = z
  .object({
    stage: z.string(),
    attempt: z.int(),
    what: z.string().meta({ description: "a check, a criterion, or a quality gate" }),
    state: z.enum(["run", "reported", "missing"]).meta({
      description:
        "run: by Passrail itself; reported: the agent's word; missing: no evidence, or evidence that does not hold",
    }),
    isGood: z.boolean().nullable().meta({ description: "whether it passed or is met; null if no report says it" }),
    evidence: z.string(),
  })
  .meta({ id: "EvidenceLine" });

export const evidenceTableSchema = z
  .array(line)
  .meta({ description: "of the last attempt of each stage; the first 200 rows" });
