// The options of a daemon, and its interface for the caller.

import type { ShiftWish } from "../core/budget/shift.ts";
import type { UseCases } from "../app/use-cases.ts";
import type { Problem } from "../core/result.ts";
import type { Actor } from "../core/run/event.ts";
import type { Clock } from "../engine/clock.ts";
import type { SettingsFlags } from "../settings/load.ts";
import type { Site } from "../settings/site.ts";
import type { Store } from "../store/store.ts";
import type { Exposure } from "./exposure.ts";
import type { Log } from "./log.ts";

export type DaemonOptions = Site & {
  readonly version: string;
  readonly flags: SettingsFlags;
  /** 0: any free port. */
  readonly port: number;
  readonly host: string;
  /** Further names of the daemon, as `name:port`. */
  readonly hosts: readonly string[];
  /** The listener for other machines; null: there is none. */
  readonly exposure?: Exposure | null;
  readonly log: Log;
  /** As in PassrailOptions. */
  readonly embedded?: boolean;
  /** Picks the project's tickets, regardless of the settings. */
  readonly work?: boolean;
  /** Begins a shift, or changes the present one; null or absent: continues the stored one. */
  readonly shift?: ShiftWish | null;
  /** Instead of the system's; tests move it. */
  readonly clock?: Clock;
};

export type Daemon = {
  readonly url: string;
  /** Where other machines reach it; null: nowhere. */
  readonly publicUrl: string | null;
  readonly home: string;
  readonly store: Store;
  readonly app: UseCases;
  /** The acting user, for the record. */
  readonly person: Actor;
  /** Resolves if the daemon may not write any more; close it with "fenced". */
  readonly fenced: Promise<Problem>;
  /** For a daemon on standby: resolves when it may take over. Close it then and open it again. */
  readonly vacant: Promise<"vacant">;
  /** A code for one login of a browser. */
  newLoginCode(): string;
  /**
   * Stops starting attempts. `leave` lets attempts with a process of their own work on, and the next daemon adopts them; `interrupt` ends
   * all, and the next daemon repeats them; `drain` waits for them to finish. `fenced`: they are ended or left already, and nothing is stored.
   */
  close(how: Closing): Promise<void>;
};

export type Closing = "leave" | "interrupt" | "drain" | "fenced";
