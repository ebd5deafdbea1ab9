// What every kind of trigger is to the loop that watches it: something that looks, remembers what it has seen, and says when to look again.

import type { Json, JsonObject } from "../core/json.ts";
import type { Result } from "../core/result.ts";

/** One thing that happened and shall start one run. */
export type Occurrence = {
  /** Unique within the trigger for ever: the run's id is made from it, so that it starts once. */
  readonly id: string;
  /** Short, for the subject's id. */
  readonly mark: string;
  readonly title: string;
  readonly body: string;
  /** What the settings' texts may name in braces. */
  readonly values: Readonly<Record<string, string>>;
  readonly facts: JsonObject;
};

export type Look = {
  readonly occurrence: Occurrence | null;
  /** Remembered once the occurrence has its run. */
  readonly seen: Json;
  readonly againMs: number;
  /** What people should know: who was left out and why. */
  readonly notes?: readonly string[];
};

export type TriggerSource = {
  readonly kind: "schedule" | "files" | "issue";
  /** In a few words: `0 9 * * 1 (Europe/Berlin)`. */
  readonly about: string;
  /** `seen` is null the first time ever. Looking changes nothing, so it can be repeated. */
  look(seen: Json | null, now: Date): Promise<Result<Look>>;
  /** What a person would start by hand, whether it is due or not. */
  byHand(now: Date): Promise<Result<Occurrence>>;
  /** What it would do, line by line, for `trigger test`. */
  explain(seen: Json | null, now: Date): Promise<Result<readonly string[]>>;
  /** Ends what a look is waiting for. */
  close?(): void;
};
