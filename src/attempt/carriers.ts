// The engine's port to carriers: processes of their own that carry out one attempt each. A carrier outlives its engine, goes on to its
// report, and writes it durably before it tells anyone. Built in src/carrier.

import type { Report } from "../core/flow/outcome.ts";
import type { ReportedUsage } from "../core/budget/budget.ts";
import type { JsonObject } from "../core/json.ts";
import type { AttemptRoom } from "../core/budget/room.ts";
import type { Stray } from "../runner/runner.ts";
import type { AttemptJob, AttemptPorts } from "./job.ts";

/** Stored with the attempt before its carrier gets the job: a carrier that the store does not name is nobody's. */
export type CarrierIdentity = { readonly id: string; readonly pid: number; readonly startTime: string };

/** The same for an attempt that a worker on another machine carries out. */
export type ClaimIdentity = {
  readonly id: string;
  readonly worker: string;
  /** The node's own workspace, and the commit that the attempt begins at. */
  readonly key: string;
  /** Empty in records of older versions. */
  readonly branch: string;
  readonly mode: string;
  readonly from: string;
  readonly project: string;
  /** The hash of the attempt's token. */
  readonly token: string;
};

/** How a carried attempt ended, as its engine sees it. */
export type CarriedEnd =
  | { readonly type: "reported"; readonly report: Report; readonly strays: readonly Stray[] }
  /** Its process is gone and left no report that counts. */
  | { readonly type: "lost"; readonly why: string }
  /** This engine stops, or another one has taken the carrier over: it works on. */
  | { readonly type: "left" };

/** What a carrier asks of its engine, and is told by it. */
export type CarriedPorts = Pick<
  AttemptPorts,
  | "earlierAttempts"
  | "note"
  | "isSettled"
  | "checkCache"
  | "offerCheck"
  | "messages"
  | "askPermission"
  | "expirePermission"
  | "askQuestion"
  | "expireQuestion"
  | "room"
  | "spent"
  | "observed"
  | "signal"
> & {
  /** Takes the function that is told of every other room. */
  readonly watchRoom: (onChange: (room: AttemptRoom) => void) => void;
  /** Takes the function to call whenever the attempt may work on; absent where nobody has to say so. */
  readonly watchLease?: (onRenewed: () => void) => void;
  /** Takes the function that lets go of the carrier without ending it. */
  readonly offerLeave: (leave: () => void) => void;
};

export type FoundCarrier =
  /** It works, or it has reported while no engine lived. */
  | {
      readonly type: "living" | "reported";
      /** With which its program authenticates to the API. */
      readonly token: string;
      /** The folder that its agent writes; null where it is closed already. */
      readonly channel: string | null;
      readonly carryOn: (ports: CarriedPorts) => Promise<CarriedEnd>;
    }
  /** With what it left to be stored: facts of its attempt, and what it used until it was ended. */
  | {
      readonly type: "gone";
      readonly notes: readonly JsonObject[];
      readonly spent: ReportedUsage | null;
      /** When they are stored. */
      readonly forget: () => void;
    };

export type CarriedPlace = { readonly runId: string; readonly stage: string; readonly attempt: number };

/** Those of this machine. */
export type LocalCarriers = CarriersOf<CarrierIdentity>;
/** With those of workers. */
export type Carriers = CarriersOf<CarrierIdentity | ClaimIdentity>;

type CarriersOf<Identity> = {
  /** Whether this attempt gets a process of its own; others are carried out in the engine's. */
  takes(job: AttemptJob): boolean;
  carryOut(job: AttemptJob, ports: CarriedPorts): Promise<CarriedEnd>;
  /** For an engine that starts: what became of the carrier that the store names for an attempt. */
  find(identity: Identity, recorded: CarriedPlace): Promise<FoundCarrier>;
  /** Ends every carrier of this state folder but these. Its agent ends with it. */
  endOthers(kept: ReadonlySet<string>): Promise<void>;
  /** Whether the very process that the store names for an attempt is at work. */
  isAtWork(identity: Identity, place: CarriedPlace): boolean;
  /** Ends the spare process, not the carriers at work. */
  close(): void;
};
