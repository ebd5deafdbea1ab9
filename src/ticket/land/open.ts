// Builds landing from the settings: the builtin, the watcher of pull requests and the forge of a project.

import { runFacts, ticketProject } from "../../core/run/facts.ts";
import { optional } from "../../core/optional.ts";
import type { Result } from "../../core/result.ts";
import type { Run } from "../../core/run/run.ts";
import { isTerminal } from "../../core/ticket/graph.ts";
import { storeMark } from "../../attempt/attempt-files.ts";
import type { Builtin } from "../../attempt/builtins.ts";
import type { CheckPorts } from "../../attempt/checks/run-check.ts";
import type { OutwardLog } from "../../attempt/outward-log.ts";
import type { Clock } from "../../engine/clock.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Forge } from "../../forge/forge.ts";
import { openForge } from "../../forge/open.ts";
import type { MergeSettings } from "../../settings/merge.ts";
import type { Store } from "../../store/store.ts";
import type { TicketFolder } from "../file/folder.ts";
import { createCleanup } from "./cleanup.ts";
import { createLand } from "./land.ts";
import { settleActs } from "./settle.ts";
import { type MergeWatch, openMergeWatch } from "./watch.ts";

export type ForgePlace = {
  readonly home: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly settings: Pick<MergeSettings, "forge" | "remote">;
  /** The folder of the tickets in a project: changes there are our own. */
  readonly ticketsFolder: string;
  /** For the processes that talk to the remote; none if they end with their caller. */
  readonly marker?: string;
};

export type LandingOptions = ForgePlace & {
  readonly settings: MergeSettings;
  readonly store: Store;
  readonly clock: Clock;
  readonly folderOf: (project: string) => Promise<TicketFolder>;
  /** The programs that run as checks. */
  readonly runners: CheckPorts["runners"];
  readonly redact: (text: string) => string;
  readonly url: () => string;
  /** Why trust in the files of a run is withdrawn, or undefined. */
  readonly withdrawnTrust: (run: Run) => string | undefined;
  readonly onProblem: (runId: string | null, error: unknown) => void;
};

export type LandingDeps = {
  readonly land: Builtin;
  /** Finds out what became of the run's acts outside; false if it is not known yet. */
  settle(run: Run, see: OutwardLog["see"]): Promise<boolean>;
  /** Only for an engine that performs. */
  watch(engine: Engine): MergeWatch;
};

export function openLanding(options: LandingOptions): LandingDeps {
  const { clock, settings, store, onProblem } = options;
  const nowMs = (): number => Date.parse(clock.now());
  // A push that a dead engine left is ended before the next engine looks at the remote.
  const marker = `${storeMark(options.home)}/forge`;
  const forgeOf = (project: string) => forgeOfProject(project, { ...options, marker });
  return {
    land: createLand({
      ...options,
      forgeOf,
      isTerminal: (run) => isLast(run, options.folderOf),
    }),
    settle: (run, see) => settleActs(run, { ...options, forgeOf, now: nowMs }, see),
    watch: (engine) =>
      openMergeWatch({
        ...(settings.deleteBranch ? { afterLook: createCleanup({ ...options, engine, forgeOf, now: nowMs }) } : {}),
        store,
        engine,
        forgeOf,
        monotonicMs: () => clock.monotonicMs(),
        pollMs: settings.pollMs,
        redact: options.redact,
        onProblem,
      }),
  };
}

export function forgeOfProject(project: string, place: ForgePlace): Promise<Result<Forge>> {
  const { home, environment, settings, ticketsFolder, marker } = place;
  return openForge({ home, project, environment, settings, own: [ticketsFolder], ...optional({ marker }) });
}

/** Reads the files as they are now: a ticket that builds on this one may have been added since the run began. */
async function isLast(run: Run, folderOf: LandingOptions["folderOf"]): Promise<boolean> {
  const { ticket } = runFacts(run);
  if (ticket.file === null) return ticket.isTerminal;
  const project = ticketProject(run);
  if (project === null || project === "") return true;
  const { tickets } = await (await folderOf(project)).scan();
  return isTerminal(run.subject.id, tickets);
}
