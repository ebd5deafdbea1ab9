// Programs that run when something happens in an agent's session. They only look: an agent does not wait for them, and none can refuse.

import { z } from "zod";

export const HOOKS = ["tool_use", "session_end", "teammate_idle", "task_completed"] as const;
export type HookName = (typeof HOOKS)[number];

/** Program and arguments, never a shell line. */
const commands = z.array(z.array(z.string().min(1).max(4096)).min(1).max(100)).max(10);

export const hooksSchema = z.strictObject({
  tool_use: commands.optional(),
  session_end: commands.optional(),
  teammate_idle: commands.optional(),
  task_completed: commands.optional(),
});

export type HookSettings = Readonly<Record<HookName, readonly (readonly string[])[]>>;

/** The project's hooks and the user's, in this order. */
export function hookSettings(files: readonly (z.infer<typeof hooksSchema> | undefined)[]): HookSettings {
  const of = (name: HookName) => files.flatMap((file) => file?.[name] ?? []);
  return {
    tool_use: of("tool_use"),
    session_end: of("session_end"),
    teammate_idle: of("teammate_idle"),
    task_completed: of("task_completed"),
  };
}
