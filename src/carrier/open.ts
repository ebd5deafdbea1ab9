// The carriers of an engine: which attempts get one, how they are started, found again and ended.

import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { attemptFiles } from "../attempt/attempt-files.ts";
import type { CarriedEnd, CarriedPorts, CarrierIdentity, FoundCarrier, LocalCarriers } from "../attempt/carriers.ts";
import { failpoint } from "../attempt/failpoint.ts";
import type { AttemptJob } from "../attempt/job.ts";
import { optional } from "../core/optional.ts";
import { killLeftovers } from "../runner/process/kill-tree.ts";
import { isAlive } from "../runner/process/process-table.ts";
import type { AttemptProcess } from "../settings/attempts.ts";
import type { WorkspaceSettings } from "../settings/workspaces.ts";
import { isAtWork } from "./at-work.ts";
import { attend, type Attended } from "./attend.ts";
import { type CarrierConnection, connectCarrier } from "./connect.ts";
import { readKept } from "./kept-file.ts";
import { forgetCarrier, openSocketPaths, readCarrierNotes } from "./places.ts";
import { readReport, type ReportFile } from "./report-file.ts";
import { createCarrierProcesses } from "./spawn.ts";
import { untilGitEnded } from "./until-git-ended.ts";
import { PROTOCOL, type StartOrder } from "./wire.ts";

export type CarriersOptions = Pick<StartOrder, "environment" | "settings"> & {
  readonly home: string;
  /** Which attempts get a process of their own. */
  readonly process: AttemptProcess;
  /** Of the store, at this moment. */
  readonly incarnation: () => string;
  readonly onError: (error: unknown) => void;
  /** Instead of the settings' own, for attempts whose workspaces another machine decides about. */
  readonly workspacesFor?: (job: AttemptJob) => WorkspaceSettings | undefined;
  /** How long a carrier works on without being told that it may; absent: as long as it likes. */
  readonly leaseMs?: () => number;
};

/** For an agent to save its work, and for its carrier to write its report. */
const END_MS = 10_000;

export function createCarriers(options: CarriersOptions): LocalCarriers {
  const { home, incarnation, onError } = options;
  const processes = createCarrierProcesses(home, onError);
  const paths = openSocketPaths(home);
  const attended = (identity: CarrierIdentity, dir: string): Attended => ({
    identity,
    readReport: () => readReport(home, dir, { id: identity.id, incarnation: incarnation() }),
    kill: () => end(identity),
    reconnect: async () => spoken(await connectCarrier(paths.of(identity.id), identity.id), identity, onError),
    onError,
  });
  /** Takes note of the end, whatever it was. */
  const attendTo = async (identity: CarrierIdentity, dir: string, ports: CarriedPorts, first?: CarrierConnection) => {
    const carried = await attend(attended(identity, dir), ports, first);
    if (carried.type === "lost") {
      await end(identity);
      // Sent and never received, or noted while no engine was there.
      for (const facts of readKept(home, identity.id, incarnation())?.notes ?? []) await ports.note(facts);
    }
    if (carried.type !== "left") forgetCarrier(home, identity.id);
    return carried;
  };
  return {
    takes: (job) => isCarried(options.process, job),
    isAtWork: (identity, place) => isAtWork(home, identity, place),
    async carryOut(job, ports) {
      const carrier = await processes.take();
      const { identity } = carrier;
      // The store names the carrier before it can do anything: a starting engine adopts no other.
      await ports.note({ carrier: { ...identity } }).catch((error: unknown) => {
        carrier.end();
        throw error;
      });
      failpoint("carrier-noted");
      const connection = ports.signal.aborted ? undefined : await connectCarrier(paths.of(identity.id), identity.id);
      if (connection === undefined || connection.welcome.at !== null) {
        connection?.wire.destroy();
        carrier.end();
        return ports.signal.aborted ? UNWANTED : { type: "lost", why: "the process of this attempt did not answer" };
      }
      connection.wire.send({ type: "start", order: await orderOf(options, job, ports) });
      carrier.handOver();
      processes.warm();
      failpoint("carrier-started");
      return attendTo(identity, job.files.dir, ports, connection);
    },
    async find(identity, { runId, stage, attempt }): Promise<FoundCarrier> {
      const { dir } = attemptFiles(home, runId, stage, attempt);
      const connection = isAlive(identity) ? await connectCarrier(paths.of(identity.id), identity.id) : undefined;
      const at = connection?.welcome.at ?? null;
      if (connection !== undefined && at?.incarnation === incarnation()) {
        const carryOn = (ports: CarriedPorts) => attendTo(identity, dir, ports, spoken(connection, identity, onError));
        return { type: "living", token: at.token, channel: dirname(at.channel), carryOn };
      }
      connection?.wire.destroy();
      // Neither a process that does not answer nor one of another store may work on beside the next attempt.
      await end(identity);
      const report = readReport(home, dir, { id: identity.id, incarnation: incarnation() });
      if (report?.aborted !== null || report === undefined) return goneCarrier(options, identity, report);
      return { type: "reported", token: "", channel: null, carryOn: (ports) => attendTo(identity, dir, ports) };
    },
    async endOthers(kept) {
      const others = readCarrierNotes(home).filter(({ id }) => !kept.has(id));
      await Promise.all(
        others.map(async (identity) => {
          if (isAlive(identity)) await endInOrder(paths.of(identity.id), identity);
          forgetCarrier(home, identity.id);
        }),
      );
    },
    close() {
      processes.close();
      paths.close();
    },
  };
}

const UNWANTED: CarriedEnd = {
  type: "reported",
  report: { cause: "canceled", reason: "no longer wanted" },
  strays: [],
};

async function orderOf(options: CarriersOptions, job: AttemptJob, ports: CarriedPorts): Promise<StartOrder> {
  const { environment, incarnation } = options;
  const { programs, passEnvironment, workspaces, enclosure, gateway } = options.settings;
  const given = options.workspacesFor?.(job) ?? workspaces;
  const settings = { programs, passEnvironment, workspaces: given, ...optional({ enclosure, gateway }) };
  const earlier = await ports.earlierAttempts();
  const lease = optional({ leaseMs: options.leaseMs?.() });
  return { incarnation: incarnation(), job, earlier, room: ports.room(), environment, settings, ...lease };
}

/** What it left counts although its report does not. */
function goneCarrier(
  { home, incarnation }: CarriersOptions,
  { id }: CarrierIdentity,
  report: ReportFile | undefined,
): FoundCarrier {
  const { notes, spent } = report ?? readKept(home, id, incarnation()) ?? { notes: [], spent: null };
  return { type: "gone", notes, spent, forget: () => forgetCarrier(home, id) };
}

/** Stages of Passrail's own act outside or take a moment; they stay with the engine. */
function isCarried(process: AttemptProcess, { stage, play }: AttemptJob): boolean {
  if (stage.kind === "builtin" || play === null || process === "engine") return false;
  return process === "own" || play.runner !== "command";
}

/** A carrier of another version is not spoken to: its report counts when it is there. */
function spoken(
  connection: CarrierConnection | undefined,
  { pid }: CarrierIdentity,
  onError: (error: unknown) => void,
): CarrierConnection | undefined {
  if (connection === undefined || connection.welcome.protocol === PROTOCOL) return connection;
  const { protocol, at } = connection.welcome;
  const who = at === null ? `process ${pid}` : `${at.stage}, attempt ${at.attempt} of run ${at.runId} (process ${pid})`;
  onError(
    new Error(
      `${who} is carried out by another version (protocol ${protocol}, this one speaks ${PROTOCOL}): it works on by itself, and its report counts when it is there`,
    ),
  );
  connection.wire.destroy();
  return undefined;
}

/** Lets the agent save its work first. */
async function endInOrder(path: string, identity: CarrierIdentity): Promise<void> {
  const connection = await connectCarrier(path, identity.id);
  connection?.wire.send({ type: "abort", reason: "no longer wanted" });
  // Nobody answers its questions: it ends as it does without an engine.
  connection?.wire.end();
  const until = performance.now() + (connection === undefined || connection.welcome.at === null ? 0 : END_MS);
  while (isAlive(identity) && performance.now() < until) await delay(20);
  if (isAlive(identity)) await end(identity);
}

async function end(identity: CarrierIdentity): Promise<void> {
  // One that is dead already has only its git left, which is not cut off.
  if (isAlive(identity)) await killLeftovers({ ...identity, marker: "" });
  await untilGitEnded(identity);
}
