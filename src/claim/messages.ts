// What a node says to a worker about one claim. The worker trusts its node: it has chosen it, and carries out what it sends.

import type { AttemptJob, AttemptStart } from "../attempt/job.ts";
import type { EarlierAttempt } from "../attempt/earlier-attempt.ts";
import type { AttemptRoom } from "../core/budget/room.ts";
import type { Report } from "../core/flow/outcome.ts";
import type { PersonMessage } from "../core/run/message.ts";
import type { WorkspaceSettings } from "../settings/workspaces.ts";

/** Everything that a worker needs for an attempt besides its own programs and logins. It holds no secret but the attempt's own token. */
export type WorkerOrder = {
  readonly job: Omit<AttemptJob, "files" | "home" | "project" | "url" | "start">;
  readonly start: AttemptStart;
  readonly project: OrderedProject;
  readonly earlier: readonly EarlierAttempt[];
  readonly room: AttemptRoom;
  readonly workspaces: WorkspaceSettings;
  /** Texts of the run that the attempt reads, by their path below the run's folder. */
  readonly texts: readonly { readonly path: string; readonly text: string }[];
};

export type OrderedProject = {
  /** The same for every run of the project, on every machine. */
  readonly id: string;
  /** The project below the top of its repository, "" or ending with a slash. */
  readonly prefix: string;
  /** Who commits. */
  readonly committer: { readonly name: string; readonly email: string };
};

export type ToWorker =
  | { readonly type: "start"; readonly order: WorkerOrder }
  | { readonly type: "abort"; readonly reason: string }
  /** The node has only so much of this file of the record. */
  | { readonly type: "resend"; readonly name: string; readonly size: number }
  | { readonly type: "room"; readonly room: AttemptRoom }
  | { readonly type: "check"; readonly check: number; readonly report: Report }
  | { readonly type: "message"; readonly message: PersonMessage }
  | { readonly type: "answer"; readonly ask: number; readonly value: unknown; readonly error?: string };

/** Numbered per claim and node. */
export type Numbered = { readonly n: number; readonly message: ToWorker };
