// `worker list|cordon|drain|open`: the workers of the running daemon.

import { join } from "node:path";
import { findDaemon } from "../../../daemon/note.ts";
import { type Caller, createClient } from "../../../http/client/client.ts";
import { readPrivate } from "../../../http/server/token-file.ts";
import type { WorkerState } from "../../../claim/states.ts";
import { CliError, EXIT } from "../../errors.ts";
import { requireOperator } from "../../operator.ts";
import type { Io } from "../../terminal/io.ts";
import { age, printJson, printTable } from "../../terminal/output.ts";

export async function workerList(io: Io): Promise<number> {
  const found = await daemonOf(io, "worker list").call("listWorkers");
  if (!found.ok) throw new CliError(found.error.code, found.error.detail, found.error.hint);
  const { workers } = found.value;
  if (io.json) printJson(io, { workers });
  else if (io.quiet) for (const { name } of workers) io.out(name);
  else
    printTable(
      io,
      workers.map(({ name, slots, labels, state, heardAt, version, attempts }) => [
        { name: "worker", value: name },
        { name: "state", value: state },
        { name: "slots", value: `${attempts.length}/${slots}` },
        { name: "labels", value: labels.join(",") },
        { name: "heard", value: heardAt === null ? "" : io.plain ? heardAt : age(heardAt) },
        { name: "version", value: version },
        {
          name: "runs",
          value: attempts.map(({ runId, stage, attempt }) => `${runId} ${stage}#${attempt}`).join(", "),
        },
      ]),
    );
  return EXIT.ok;
}

const SAID: Readonly<Record<WorkerState, string>> = {
  open: "gets attempts again",
  cordoned: "gets nothing new",
  draining: "gets nothing new, and leaves when it is done",
};

export async function workerSteer(io: Io, worker: string, state: WorkerState): Promise<number> {
  const steered = await daemonOf(io, "worker drain").call("steerWorker", { params: { worker }, body: { state } });
  if (!steered.ok) throw new CliError(steered.error.code, steered.error.detail, steered.error.hint);
  if (io.json) printJson(io, steered.value);
  else if (!io.quiet) io.out(`Worker ${worker} ${SAID[state]}.`);
  return EXIT.ok;
}

function daemonOf(io: Io, what: string): Caller {
  requireOperator(io, what);
  const daemon = findDaemon(io.home);
  if (daemon === undefined)
    throw new CliError("daemon_unreachable", `No daemon is running on ${io.home}.`, "passrail up --detach");
  return createClient({ url: daemon.url, token: readPrivate(join(io.home, "operator.token"))?.trim() ?? "" });
}
