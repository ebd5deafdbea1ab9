// DBOS: one workflow of six steps that waits for a person's message before the first and after the last.

import { randomUUID } from "node:crypto";
import { answerOf, type Contestant, type Place, STAGES, SUBJECT } from "./contestant.ts";

type Handle = { getResult(): Promise<unknown> };
type Flow = (id: string, subject: object) => Promise<unknown>;
type Sdk = {
  readonly DBOS: {
    setConfig(config: object): void;
    registerWorkflow(flow: Flow, options: { name: string }): Flow;
    launch(): Promise<void>;
    shutdown(): Promise<void>;
    startWorkflow(flow: Flow, options: { workflowID: string }): (...given: Parameters<Flow>) => Promise<Handle>;
    runStep(step: () => Promise<unknown>, options: { name: string }): Promise<unknown>;
    send(id: string, message: string, topic: string): Promise<void>;
    recv(topic: string, seconds: number): Promise<string | null>;
  };
};

const PATIENCE_S = 600;

export async function openDbos({ database, load }: Place): Promise<Contestant> {
  const { DBOS } = await load<Sdk>("@dbos-inc/dbos-sdk");
  DBOS.setConfig({
    name: "bench",
    applicationVersion: "1",
    systemDatabaseUrl: database,
    logLevel: "error",
    runAdminServer: false,
  });
  const atGate = new Map<string, () => void>();
  const gate = async (name: string): Promise<void> => {
    if ((await DBOS.recv(name, PATIENCE_S)) !== "approve") throw new Error(`${name} was not approved`);
  };
  const feature = DBOS.registerWorkflow(
    async (id) => {
      await gate("start");
      for (const stage of STAGES) await DBOS.runStep(async () => answerOf(stage), { name: stage });
      atGate.get(id)?.();
      await gate("ship");
      return "shipped";
    },
    { name: "feature" },
  );
  await DBOS.launch();
  const oneRun = async (): Promise<void> => {
    const id = randomUUID();
    const isAtGate = new Promise<void>((resolve) => atGate.set(id, resolve));
    const handle = await DBOS.startWorkflow(feature, { workflowID: id })(id, SUBJECT);
    await DBOS.send(id, "approve", "start");
    await isAtGate;
    await DBOS.send(id, "approve", "ship");
    await handle.getResult();
    atGate.delete(id);
  };
  return {
    complete: async (runs) => void (await Promise.all(Array.from({ length: runs }, oneRun))),
    close: () => DBOS.shutdown(),
  };
}
