// The project's files that decide what runs: which version is approved, what differs, and what it would make Passrail do.

import { z } from "zod";
import { PROJECT_FILE_KINDS } from "../../../core/view/project-effects.ts";
import { time } from "./common.ts";

const hash = z.string().regex(/^[0-9a-f]{64}$/u);

const trustedFileSchema = z.object({
  path: z.string(),
  kind: z.enum(PROJECT_FILE_KINDS),
  change: z.enum(["same", "added", "changed", "removed"]).meta({ description: "compared with the approved version" }),
  diff: z.string().meta({ description: "unified; empty for an unchanged file" }),
});

export const trustSchema = z
  .object({
    project: z.string(),
    state: z.enum(["none", "new", "approved", "changed"]).meta({
      description:
        "none: there are no such files; new: no version is approved, and nothing starts; changed: runs keep the approved version",
    }),
    hash: hash.meta({ description: "the version that is in the project now" }),
    approved: z.object({ hash, approvedAt: time, by: z.string() }).nullable(),
    files: z.array(trustedFileSchema),
    effects: z
      .array(z.object({ change: z.enum(["added", "removed", "same"]), text: z.string() }))
      .meta({ description: "what the files would make Passrail do, compared with the approved version" }),
  })
  .meta({ id: "Trust" });

export const approveTrustSchema = z.strictObject({
  hash: hash.meta({ description: "the version that was looked at; another one is refused" }),
});

export const revokeTrustSchema = z.strictObject({
  hash: hash.meta({ description: "the approved version that was looked at; the approval of another one stays" }),
});
