// Performs one stored command. Every type has its one case here, and the compiler refuses a type without one.

import { failpoint } from "../attempt/failpoint.ts";
import type { ResolvedFlow } from "../core/flow/agent.ts";
import type { Command } from "../core/run/command.ts";
import type { Run } from "../core/run/run.ts";
import type { Notifier } from "../notify/notify.ts";

export type CommandPorts = {
  readonly notifier: Notifier | null;
  readonly loadRun: (runId: string) => Promise<Run | undefined>;
  readonly flowOf: (hash: string) => Promise<ResolvedFlow>;
  /** Closes the workspaces of the run; throws where that must be tried again. */
  readonly release: (resolved: ResolvedFlow, run: Run) => Promise<void>;
  /** Resolves when no attempt of the run works any more. */
  readonly attemptsEnded: (runId: string) => Promise<unknown>;
  /** The workspace is gone: others may have its branch. */
  readonly onReleased: (runId: string) => void;
};

/** Throws where the command must be performed again. */
export async function performCommand(ports: CommandPorts, runId: string, command: Command): Promise<void> {
  switch (command.type) {
    case "notify":
      await notify(ports, runId, command);
      failpoint("notify-sent");
      return;
    case "release-workspace":
      await releaseWorkspace(ports, runId);
      failpoint("workspace-released");
      return;
    default: {
      const unknown: never = command;
      throw new Error(`this version cannot perform the command ${(unknown as Command).type}`);
    }
  }
}

async function notify(ports: CommandPorts, runId: string, command: Command & { type: "notify" }): Promise<void> {
  const { to, event } = command;
  const item = command.item === null ? null : `${runId}.${command.item}`;
  // People read a notice away from the board: it names the ticket.
  const run = await ports.loadRun(runId);
  const subject = run === undefined ? "" : `${run.subject.id}: `;
  await ports.notifier?.notify({ runId, to, event, text: `${subject}${command.text}`, item });
}

async function releaseWorkspace(ports: CommandPorts, runId: string): Promise<void> {
  const run = await ports.loadRun(runId);
  if (run === undefined) return;
  // The last attempt of a canceled run may still be ending in there.
  await ports.attemptsEnded(runId);
  await ports.release(await ports.flowOf(run.flowHash), run);
  ports.onReleased(runId);
}
