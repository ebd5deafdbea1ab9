// Settings for tickets: where their files are, their names, and how Passrail picks them.

import { z } from "zod";
import { durationMs } from "../core/flow/duration.ts";
import { settingsDuration as duration } from "./duration.ts";

const prefix = z.string().regex(/^[A-Z]{2,10}$/);

export const ticketsSchema = z.strictObject({
  /** Relative to the project. */
  folder: z
    .string()
    .regex(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,60}(\/[A-Za-z0-9_][A-Za-z0-9._-]{0,60}){0,5}$/)
    .optional(),
  request_prefix: prefix.optional(),
  ticket_prefix: prefix.optional(),
  /** Whether the daemon starts tickets automatically. */
  dispatch: z.boolean().optional(),
  /** The meaning of an unknown status. */
  unknown_status: z.enum(["block", "Backlog"]).optional(),
  backlog_entry: z.enum(["research", "oneshot"]).optional(),
  test_writer: z.boolean().optional(),
  idle_sleep: duration.optional(),
  flow: z.string().min(1).max(48).optional(),
  intake_flow: z.string().min(1).max(48).optional(),
  /** Further repositories besides the project: the name that tickets write under `repo` -> a folder on this machine. */
  repos: z.record(z.string().min(1).max(200), z.string().min(1).max(1000)).optional(),
});

export type TicketSettings = {
  readonly folder: string;
  readonly requestPrefix: string;
  readonly ticketPrefix: string;
  readonly dispatch: boolean;
  readonly unknownStatus: "block" | "Backlog";
  readonly backlogEntry: "research" | "oneshot";
  readonly testWriter: boolean;
  readonly idleSleepMs: number;
  readonly flow: string;
  readonly intakeFlow: string;
  readonly repos: Readonly<Record<string, string>>;
};

/** The nearer file wins key by key. */
export function ticketSettings(files: readonly (z.infer<typeof ticketsSchema> | undefined)[]): TicketSettings {
  const said = files.toReversed().reduce<z.infer<typeof ticketsSchema>>((far, near) => ({ ...far, ...near }), {});
  return {
    folder: said.folder ?? "feature_requests",
    requestPrefix: said.request_prefix ?? "FR",
    ticketPrefix: said.ticket_prefix ?? "AGI",
    dispatch: said.dispatch ?? false,
    unknownStatus: said.unknown_status ?? "block",
    backlogEntry: said.backlog_entry ?? "research",
    testWriter: said.test_writer ?? false,
    idleSleepMs: durationMs(said.idle_sleep ?? "30s"),
    flow: said.flow ?? "ticket",
    intakeFlow: said.intake_flow ?? "intake",
    repos: said.repos ?? {},
  };
}
