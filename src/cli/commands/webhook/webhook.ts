// `webhook`: notifications that were sent, and their endpoints. Asks the daemon if one is running, else reads the delivery log itself.

import type { Result } from "../../../core/result.ts";
import { type ReachedLog, reachDeliveries } from "../../../daemon/reach-deliveries.ts";
import { EXIT, problemError, usageError } from "../../errors.ts";
import type { Io } from "../../terminal/io.ts";
import { requireOperator } from "../../operator.ts";
import { age, type Color, printJson, printTable } from "../../terminal/output.ts";
import { oneLine } from "../../terminal/plain-text.ts";

type Sent = Extract<Awaited<ReturnType<ReachedLog["sendTest"]>>, { ok: true }>["value"];

const LOOK_MS = 50;
/** Longer than the timeout of a receiver; after that the delivery stays pending and is retried. */
const PATIENCE_MS = 20_000;

export async function webhookDeliveries(
  io: Io,
  options: { readonly limit: string; readonly endpoint?: string },
): Promise<number> {
  const limit = Number(options.limit);
  if (!/^[0-9]{1,3}$/u.test(options.limit) || limit < 1 || limit > 200)
    throw usageError("number_invalid", "--limit: a number from 1 to 200.");
  const endpoint = options.endpoint === undefined ? {} : { endpoint: options.endpoint };
  const found = await reach(io, "webhook deliveries", async (log) =>
    need(await log.deliveries({ limit, ...endpoint })),
  );
  if (io.json) printJson(io, { deliveries: found });
  else if (io.quiet) for (const { id } of found) io.out(id);
  else if (found.length === 0) io.out("No deliveries yet.");
  else
    printTable(
      io,
      found.map((sent) => [
        { name: "id", value: sent.id },
        { name: "endpoint", value: sent.endpoint },
        { name: "status", value: sent.status, color: COLORS[sent.status] },
        { name: "tries", value: String(sent.tries) },
        { name: "queued", value: io.plain ? sent.queuedAt : age(sent.queuedAt) },
        { name: "event", value: oneLine(sent.event, 40) },
        { name: "last result", value: sent.history.at(-1)?.result ?? "" },
        { name: "text", value: oneLine(sent.text, 80) },
      ]),
    );
  return EXIT.ok;
}

const COLORS: Readonly<Record<Sent["status"], Color>> = {
  pending: "yellow",
  delivered: "green",
  failed: "red",
  withdrawn: "dim",
};

export async function webhookEndpoints(io: Io): Promise<number> {
  const found = await reach(io, "webhook endpoints", async (log) => need(await log.endpoints()));
  if (io.json) printJson(io, { endpoints: found });
  else if (io.quiet) for (const { name } of found) io.out(name);
  else if (found.length === 0) io.out("No endpoints. docs/webhooks.md shows how to set one up.");
  else
    printTable(
      io,
      found.map(({ name, format, disabled, pending, failing }) => [
        { name: "name", value: name },
        { name: "format", value: format },
        { name: "state", value: disabled ? "disabled" : failing === null ? "ok" : "failing" },
        { name: "pending", value: String(pending) },
        { name: "last fault", value: failing ?? "" },
      ]),
    );
  return EXIT.ok;
}

export async function webhookTest(io: Io, endpoint: string): Promise<number> {
  return report(io, await reach(io, "webhook test", async (log) => settled(log, need(await log.sendTest(endpoint)))));
}

export async function webhookRedeliver(io: Io, id: string): Promise<number> {
  return report(io, await reach(io, "webhook redeliver", async (log) => settled(log, need(await log.redeliver(id)))));
}

export async function webhookEnable(io: Io, endpoint: string): Promise<number> {
  await reach(io, "webhook enable", async (log) => need(await log.enable(endpoint)));
  if (io.json) printJson(io, { enabled: endpoint });
  else if (!io.quiet) io.out(`${endpoint} is enabled again.`);
  return EXIT.ok;
}

function report(io: Io, sent: Sent): number {
  const result = sent.history.at(-1)?.result ?? "not tried yet";
  if (io.json) printJson(io, sent);
  else if (io.quiet) io.out(sent.id);
  else io.out(`${sent.endpoint}: ${sent.status}, ${oneLine(result, 200)} (${sent.id})`);
  return sent.status === "delivered" ? EXIT.ok : EXIT.unsuccessful;
}

/** The delivery after its first try, or as it is when that takes too long. */
async function settled(log: ReachedLog, sent: Sent): Promise<Sent> {
  for (const deadline = Date.now() + PATIENCE_MS; ; ) {
    const all = need(await log.deliveries({ limit: 200 }));
    const now = all.find(({ id }) => id === sent.id) ?? sent;
    if (now.status !== "pending" || now.tries > 0 || Date.now() > deadline) return now;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

async function reach<T>(io: Io, verb: string, act: (log: ReachedLog) => Promise<T>): Promise<T> {
  requireOperator(io, verb);
  const place = { home: io.home, project: io.cwd, environment: io.environment };
  const log = need(await reachDeliveries(place, (text) => io.err(`! ${text}`)));
  try {
    return await act(log);
  } finally {
    await log.close();
  }
}

function need<T>(result: Result<T>): T {
  if (!result.ok) throw problemError(result.error);
  return result.value;
}
