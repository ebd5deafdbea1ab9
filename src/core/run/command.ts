// What shall happen because a run changed. The engine performs commands after the change is stored; each can be repeated.

export type Command =
  | { readonly type: "start-attempt"; readonly track: string; readonly stage: string; readonly attempt: number }
  | { readonly type: "end-attempt"; readonly stage: string; readonly attempt: number; readonly reason: string }
  | {
      readonly type: "notify";
      readonly key: string;
      readonly to: string;
      readonly event: string;
      readonly text: string;
      readonly item: number | null;
    }
  | { readonly type: "release-workspace" };

/** Commands that must survive a crash by themselves; the others are derived again from the run's state. */
export function isDurable(command: Command): boolean {
  return command.type === "notify" || command.type === "release-workspace";
}
