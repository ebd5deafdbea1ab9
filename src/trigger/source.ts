// The port of every kind of trigger: it looks, remembers its last observation, and returns when to look again.

import type { Json, JsonObject } from "../core/json.ts";
import type { Result } from "../core/result.ts";

/** One event that starts one run. */
export type Occurrence = {
  /** Unique within the trigger for ever: the run's id is derived from it, so that it starts once. */
  readonly id: string;
  /** Short, for the subject's id. */
  readonly mark: string;
  readonly title: string;
  readonly body: string;
  /** Values for the braces in the settings' texts. */
  readonly values: Readonly<Record<string, string>>;
  readonly facts: JsonObject;
};

export type Look = {
  readonly occurrence: Occurrence | null;
  /** Stored once the occurrence has its run. */
  readonly seen: Json;
  readonly againMs: number;
  /** Notes for people: which authors were left out and why. */
  readonly notes?: readonly string[];
};

export type TriggerSource = {
  readonly kind: "schedule" | "files" | "issue";
  /** In a few words: `0 9 * * 1 (Europe/Berlin)`. */
  readonly about: string;
  /** `seen` is null the first time ever. Looking changes nothing, so it can be repeated. */
  look(seen: Json | null, now: Date): Promise<Result<Look>>;
  /** The occurrence for a start by hand, whether it is due or not. */
  byHand(now: Date): Promise<Result<Occurrence>>;
  /** Its next actions, line by line, for `trigger test`. */
  explain(seen: Json | null, now: Date): Promise<Result<readonly string[]>>;
  /** Aborts a look in progress. */
  close?(): void;
};
