// The program of a carrier. It loads everything first, listens, says that it is ready, and waits for its order. A process that gets none
// ends with the engine that started it; one that has an order works on to its report, whoever comes and goes.

import { rmSync } from "node:fs";
import type { Report } from "../core/flow/outcome.ts";
import { messageOf } from "../core/result.ts";
import { type Carrying, carry } from "./carry.ts";
import { type EngineLink, openEngineLink, type Welcome } from "./engine-link.ts";
import { writeKept } from "./kept-file.ts";
import { CARRIER_VARIABLE, isCarrierId, socketName } from "./places.ts";
import type { StartOrder } from "./wire.ts";

process.umask(0o077);
const id = process.env[CARRIER_VARIABLE] ?? "";
delete process.env[CARRIER_VARIABLE];
if (!isCarrierId(id)) throw new Error("a carrier is started by its engine only");
// Checks need it after the agent's work, when an upgrade may have replaced the program's files.
await import("../runner/command.ts");

const abort = new AbortController();
let at: Welcome = null;
let home = "";
let carrying: Carrying | undefined;
/** Runs out where nobody says that the attempt may work on. */
let lease: NodeJS.Timeout | undefined;

const link: EngineLink = await openEngineLink({
  id,
  socket: socketName(id),
  at: () => at,
  keep(news) {
    try {
      writeKept(home, id, at?.incarnation ?? "", news);
    } catch (error) {
      // The attempt works on: its report has them, unless this process is killed.
      console.error(new Date().toISOString(), id, messageOf(error));
    }
  },
  onCommand(command) {
    if (command.type === "start") start(command.order);
    else if (command.type === "abort") abort.abort(command.reason);
    else if (command.type === "lease") lease?.refresh();
    else if (command.type === "room") carrying?.setRoom(command.room);
    else if (command.type === "message") carrying?.message(command.message);
    else void check(command.n, command.report);
  },
});

// A person's Ctrl-C is for the engine; it says what is to happen. The system's TERM ends the agent, and the next engine repeats the stage.
for (const signal of ["SIGINT", "SIGHUP"] as const) process.on(signal, () => {});
process.on("SIGTERM", () => (at === null ? leave() : abort.abort("the carrier was terminated")));
// The engine holds the other end. Without an order there is nothing to work on when it is gone; one may still be on its way.
const ORDER_MS = 500;
process.stdin.on("error", () => {}).once("end", () => setTimeout(() => at === null && leave(), ORDER_MS));
process.stdin.resume().unref();
process.stdout.on("error", () => {});
process.stdout.write("ready\n");

function start(order: StartOrder): void {
  if (at !== null) return;
  const { job, incarnation } = order;
  const { files, run, stage, attempt, token } = job;
  home = job.home;
  at = { incarnation, runId: run.id, stage: stage.id, attempt, token, channel: files.result };
  if (order.leaseMs !== undefined)
    lease = setTimeout(() => abort.abort("its worker could not reach its node"), order.leaseMs).unref();
  carrying = carry(id, order, link, abort.signal);
  void carrying.ended
    .then(
      () => link.reported(),
      (error: unknown) => console.error(new Date().toISOString(), run.id, stage.id, attempt, messageOf(error)),
    )
    .finally(leave);
}

async function check(n: number, report: Report): Promise<void> {
  try {
    link.tell({ type: "checked", n, report: (await carrying?.check(report)) ?? report });
  } catch (error) {
    const failed = { ...report, cause: "engine_error", reason: messageOf(error) };
    link.tell({ type: "checked", n, report: failed });
  }
}

function leave(): never {
  rmSync(socketName(id), { force: true });
  process.exit(0);
}
