// An effect outside a run that a change of the run requires. Passrail stores a command with the change that caused it and performs it until
// it succeeds, so each must be repeatable. Starting and ending attempts is no command: it follows from the run's tracks.

export type Command =
  | {
      readonly type: "notify";
      readonly key: string;
      readonly to: string;
      readonly event: string;
      readonly text: string;
      readonly item: number | null;
    }
  | { readonly type: "release-workspace" };
