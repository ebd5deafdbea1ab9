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
  /** False: the outcome of an act is not known yet. */
  readonly settleOutward: (run: Run) => Promise<boolean>;
  /** Where the work of an ended run is, in sentences; empty if it has not ended. */
  readonly endOf: (run: Run) => Promise<string>;
  /** The text of a notice about an open item; null if another item tells the same. */
  readonly noticeOf: (run: Run, item: number, text: string) => Promise<string | null>;
  /** The workspace is gone: others may have its branch. */
  readonly onReleased: (runId: string) => void;
};

/** `id`: its number in the store, the same when it is performed again. */
type StoredCommand<C = Command> = { readonly id: number; readonly runId: string; readonly command: C };

/** Notices about the end of a run, not about an item. */
const ENDS: ReadonlySet<string> = new Set(["completed", "stopped"]);

/** False, or an error, where the command must be performed again. */
export async function performCommand(ports: CommandPorts, { id, runId, command }: StoredCommand): Promise<boolean> {
  switch (command.type) {
    case "notify":
      await notify(ports, { id, runId, command });
      failpoint("notify-sent");
      return true;
    case "release-workspace":
      await releaseWorkspace(ports, runId);
      failpoint("workspace-released");
      return true;
    case "settle-outward":
      return settleOutward(ports, runId);
    default: {
      const unknown: never = command;
      throw new Error(`this version cannot perform the command ${(unknown as Command).type}`);
    }
  }
}

async function notify(
  ports: CommandPorts,
  { id, runId, command }: StoredCommand<Command & { type: "notify" }>,
): Promise<void> {
  const { to, event } = command;
  const item = command.item === null ? null : `${runId}.${command.item}`;
  const run = await ports.loadRun(runId);
  const text = run === undefined ? command.text : await textOf(ports, run, command);
  if (text !== null) await ports.notifier?.notify({ runId, to, event, text, item, key: `command:${id}` });
}

async function textOf(ports: CommandPorts, run: Run, command: Command & { type: "notify" }): Promise<string | null> {
  const { event, item, text } = command;
  if (item !== null) return ports.noticeOf(run, item, text);
  // People read a notice away from the board: it names the ticket.
  const end = ENDS.has(event) ? await ports.endOf(run) : "";
  return `${run.subject.id}: ${text}${end === "" ? "" : `${text.endsWith(".") ? "" : "."} ${end}`}`;
}

async function settleOutward(ports: CommandPorts, runId: string): Promise<boolean> {
  // An attempt that still waits for the remote sees the outcome itself.
  await ports.attemptsEnded(runId);
  const run = await ports.loadRun(runId);
  return run === undefined || ports.settleOutward(run);
}

async function releaseWorkspace(ports: CommandPorts, runId: string): Promise<void> {
  const run = await ports.loadRun(runId);
  if (run === undefined) return;
  // The last attempt of a canceled run may still be ending in there.
  await ports.attemptsEnded(runId);
  await ports.release(await ports.flowOf(run.flowHash), run);
  ports.onReleased(runId);
}
