// A story whose agents are somewhere else and speak HTTP: the calls they make, for tests that look at what the dashboard shows of it.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { approveFiles } from "../harness/approve-files.ts";
import type { Running } from "../scenarios/daemon/running.ts";

export type ToldStory = {
  /** The number of the handoff that it makes. */
  hand(from: string, to: string, payload?: object): Promise<number>;
  reject(handoff: number, reason: string): Promise<void>;
};

export async function tellStory(daemon: Running, id: string, title: string, body = "As a user …"): Promise<ToldStory> {
  writeFileSync(join(daemon.project, "passrail.yaml"), "runner: outside\n");
  approveFiles(daemon.home, daemon.project);
  await tell("/api/run", { action: "start", storyId: id, title, body });
  return {
    async hand(fromAgent, toAgent, payload = {}) {
      const made = await tell("/api/handoffs", { action: "create", storyId: id, fromAgent, toAgent, payload });
      return (made as { handoff: { id: number } }).handoff.id;
    },
    async reject(handoffId, reason) {
      await tell("/api/handoffs", { action: "reject", handoffId, reason });
    },
  };

  async function tell(path: string, said: object): Promise<unknown> {
    const told = await daemon.call("POST", path, { body: said });
    if (told.status >= 300) throw new Error(`${path}: ${told.text}`);
    return told.body;
  }
}
