// The job of the program that represents a sandbox: everything but values of variables, which are in its environment.

import { z } from "zod";

/** Only in the environment of that program. */
export const KEY_VARIABLE = "PASSRAIL_DAYTONA_KEY";

export const jobSchema = z.strictObject({
  url: z.string(),
  /** Of the sandbox. */
  name: z.string(),
  machine: z.strictObject({
    image: z.string().optional(),
    snapshot: z.string().optional(),
    target: z.string().optional(),
    cpu: z.number().optional(),
    memory: z.number().optional(),
    disk: z.number().optional(),
    network: z.enum(["on", "off"]).optional(),
  }),
  labels: z.record(z.string(), z.string()),
  top: z.string(),
  branch: z.string(),
  own: z.string(),
  /** Made when the program has started. */
  begun: z.string(),
  /** For the sandbox to start. */
  startMs: z.number(),
  cwd: z.string(),
  folders: z.array(z.string()),
  /** Sent like the folders, and not fetched again. */
  reads: z.array(z.string()).default([]),
  /** Of services on this machine that the program must reach. */
  ports: z.array(z.int()).default([]),
  /** Where the sandbox may fetch the project itself. */
  origin: z.string().optional(),
  argv: z.array(z.string()).min(1),
  variables: z.array(z.string()),
});

export type DaytonaJob = z.infer<typeof jobSchema>;
