// An effect outside the run that a change requires. Passrail stores a command with its change and performs it until it succeeds, so each
// must be repeatable. Attempts start and end without commands: that follows from the run's tracks.

export type Command =
  | {
      readonly type: "notify";
      readonly key: string;
      readonly to: string;
      readonly event: string;
      readonly text: string;
      readonly item: number | null;
    }
  | { readonly type: "release-workspace" }
  /** Finds out what became of the run's open acts outside; carries out the requested undo. */
  | { readonly type: "settle-outward" };
