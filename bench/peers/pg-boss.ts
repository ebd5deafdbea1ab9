// A raw loop of pg-boss: fetch a job, complete it, send the next one. It has no run, no gate and no history.

import { HANDOFFS_PER_RUN } from "../workload.ts";
import type { Contestant, Place } from "./contestant.ts";
import type { Packages } from "./install.ts";

/** What is used of it. */
type Boss = {
  start(): Promise<unknown>;
  stop(options: { graceful: boolean }): Promise<unknown>;
  createQueue(name: string): Promise<unknown>;
  send(name: string, data: object): Promise<unknown>;
  fetch(name: string): Promise<readonly { readonly id: string }[]>;
  complete(name: string, id: string): Promise<unknown>;
  on(event: "error", listener: () => void): unknown;
};
type Module = { readonly PgBoss: new (options: object) => Boss };

export const PG_BOSS: Packages = { dependencies: { "pg-boss": "12.35.0" } };
const QUEUE = "handoffs";
const PAYLOAD = { subject: "F-1", carry: "x".repeat(2000) };

export async function openPgBoss({ database, load }: Pick<Place, "database" | "load">): Promise<Contestant> {
  const { PgBoss } = await load<Module>("pg-boss");
  const boss = new PgBoss({ connectionString: database, supervise: false, schedule: false, max: 5 });
  boss.on("error", () => undefined);
  await boss.start();
  await boss.createQueue(QUEUE);
  const oneRun = async (): Promise<void> => {
    await boss.send(QUEUE, PAYLOAD);
    for (let handoff = 1; handoff <= HANDOFFS_PER_RUN; handoff += 1) {
      // Its own or another run's: there are as many as runs that fetch.
      const [job] = await boss.fetch(QUEUE);
      if (job === undefined) throw new Error("pg-boss has no job left");
      await boss.complete(QUEUE, job.id);
      if (handoff < HANDOFFS_PER_RUN) await boss.send(QUEUE, PAYLOAD);
    }
  };
  return {
    async complete(runs) {
      await Promise.all(Array.from({ length: runs }, oneRun));
    },
    close: async () => void (await boss.stop({ graceful: false })),
  };
}
