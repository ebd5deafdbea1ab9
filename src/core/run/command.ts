// What Passrail must do outside of a run because the run changed. A command is stored with the change that caused it and performed until
// it succeeds, so each can be repeated. Which attempts start and end is no command: it follows from the run's tracks.

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
