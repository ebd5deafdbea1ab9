// Workers on other machines: when they get attempts, which of them, and how long one may be silent.

import { z } from "zod";
import { durationMs } from "../core/flow/duration.ts";
import { DURATION_PATTERN } from "../core/flow/flow-file.ts";
import { LABEL_PATTERN } from "../core/worker/wire.ts";

/** `here-first`: workers get the attempts that find no slot here; `workers-first`: the reverse; `workers-only`: no agent works here. */
export const WORKER_PLACES = ["here-first", "workers-first", "workers-only"] as const;
export type WorkerPlace = (typeof WORKER_PLACES)[number];

export const workersSchema = z.strictObject({
  place: z.enum(WORKER_PLACES).optional(),
  lease: z.string().regex(DURATION_PATTERN).optional(),
  /** By stage or agent: the labels that its worker needs. */
  labels: z.record(z.string().min(1).max(100), z.array(z.string().regex(LABEL_PATTERN)).min(1).max(16)).optional(),
});

export type WorkerSettings = {
  readonly place: WorkerPlace;
  readonly leaseMs: number;
  readonly labels: Readonly<Record<string, readonly string[]>>;
};

const LEASE_MS = { least: 3000, otherwise: 14_000, most: 24 * 3_600_000 } as const;

export function workerSettings(files: readonly (z.infer<typeof workersSchema> | undefined)[]): WorkerSettings {
  const lease = files.map((file) => file?.lease).find((said) => said !== undefined);
  const leaseMs = lease === undefined ? LEASE_MS.otherwise : durationMs(lease);
  return {
    place: files.map((file) => file?.place).find((said) => said !== undefined) ?? "here-first",
    leaseMs: Math.min(Math.max(leaseMs, LEASE_MS.least), LEASE_MS.most),
    labels: Object.fromEntries(files.toReversed().flatMap((file) => Object.entries(file?.labels ?? {}))),
  };
}
