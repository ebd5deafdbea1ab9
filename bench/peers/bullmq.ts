// BullMQ on a Redis that syncs each write: one job per stage, which adds the next one; a person adds the first and the last. Its run has no
// state, no creation and no gate: what is not there costs nothing.

import { spawn } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "../../test/harness/free-port.ts";
import { answerOf, type Contestant, type Place, STAGES, SUBJECT } from "./contestant.ts";

type Job = { readonly data: { readonly run: number; readonly at: number } };
type Queue = { add(name: string, data: object): Promise<unknown>; close(): Promise<void> };
type Worker = {
  on(event: "completed", listener: (job: Job) => void): unknown;
  on(event: "failed" | "error", listener: (...said: unknown[]) => void): unknown;
  waitUntilReady(): Promise<unknown>;
  close(): Promise<void>;
};
type BullMQ = {
  readonly Queue: new (name: string, options: object) => Queue;
  readonly Worker: new (name: string, work: (job: Job) => Promise<unknown>, options: object) => Worker;
};

const AT_ONCE = 100;
const SHIP = STAGES.length;

export async function openBullmq({ dir, load }: Place): Promise<Contestant> {
  const redis = await startRedis(dir);
  const { Queue, Worker } = await load<BullMQ>("bullmq");
  const connection = { host: "127.0.0.1", port: redis.port, maxRetriesPerRequest: null };
  const queue = new Queue("stages", { connection });
  const atGate = new Map<number, () => void>();
  const done = new Map<number, () => void>();
  const failures: unknown[] = [];
  const work = async ({ data: { run, at } }: Job): Promise<unknown> => {
    if (at + 1 < SHIP) await queue.add(nameOf(at + 1), dataOf(run, at + 1));
    return answerOf(nameOf(at));
  };
  const worker = new Worker("stages", work, { connection, concurrency: AT_ONCE });
  worker.on("failed", (...said) => failures.push(said[1]));
  worker.on("error", (error) => failures.push(error));
  worker.on("completed", ({ data: { run, at } }) => {
    if (at === SHIP - 1) atGate.get(run)?.();
    if (at === SHIP) done.get(run)?.();
  });
  await worker.waitUntilReady();
  let runs = 0;
  const oneRun = async (): Promise<void> => {
    runs += 1;
    const run = runs;
    const isAtGate = new Promise<void>((resolve) => atGate.set(run, resolve));
    const isDone = new Promise<void>((resolve) => done.set(run, resolve));
    await queue.add(nameOf(0), dataOf(run, 0));
    await isAtGate;
    await queue.add(nameOf(SHIP), dataOf(run, SHIP));
    await isDone;
    atGate.delete(run);
    done.delete(run);
  };
  return {
    async complete(count) {
      await Promise.all(Array.from({ length: count }, oneRun));
      if (failures.length > 0) throw new AggregateError(failures, "jobs failed");
    },
    async close() {
      await worker.close();
      await queue.close();
      redis.stop();
    },
  };
}

const nameOf = (at: number): string => STAGES[at] ?? "ship";
const dataOf = (run: number, at: number): object => ({ run, at, subject: SUBJECT });

async function startRedis(dir: string): Promise<{ readonly port: number; stop(): void }> {
  const port = await freePort();
  const settings = { port, bind: "127.0.0.1", dir, appendonly: "yes", appendfsync: "always", save: "" };
  const args = Object.entries(settings).flatMap(([key, value]) => [`--${key}`, String(value)]);
  const server = spawn("redis-server", args, { stdio: ["ignore", "pipe", "inherit"] });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.once("exit", (code) => reject(new Error(`redis-server ended with ${code}`)));
    server.stdout.setEncoding("utf8").on("data", (text: string) => {
      if (text.includes("Ready to accept connections")) resolve();
    });
  });
  // It says so just before it listens.
  await delay(100);
  return { port, stop: () => void server.kill("SIGTERM") };
}
