// The daemon: the engine and everything that listens, as one thing that is opened and closed. The lock comes first, then the store, then
// the listener, and only then is anything performed, so that the first agent already finds the API.

import { join } from "node:path";
import { type Acting, openPassrail, type Passrail } from "../compose.ts";
import { type Site, shippedDir } from "../settings/site.ts";
import { err, ok, type Problem, type Result } from "../core/result.ts";
import { interruptAttempts } from "../ticket/pick/interrupt-attempts.ts";
import { openDispatcher } from "../ticket/pick/open.ts";
import { systemClock } from "../engine/clock.ts";
import { createApp } from "../http/server/app.ts";
import { settingsNote } from "../http/server/audit-request.ts";
import { createAudit } from "../http/server/audit.ts";
import { createEventHub } from "../http/server/events/hub.ts";
import { createKeys } from "../http/server/keys.ts";
import { type Listening, listen } from "../http/server/listen.ts";
import { loadWeb } from "../http/server/web.ts";
import { type OpenedTrigger, openTriggers, readTriggers } from "../trigger/triggers.ts";
import { openInbound } from "../http/webhooks/open.ts";
import type { Log } from "./log.ts";
import { removeNote, writeNote } from "./note.ts";
import { serverParts } from "./server-parts.ts";
import { optional } from "../core/optional.ts";

export type DaemonOptions = Site & {
  readonly version: string;
  readonly flags: { readonly slots?: string; readonly workspace?: string };
  /** 0: any that is free. */
  readonly port: number;
  readonly host: string;
  /** Names under which others reach it, as `name:port`. */
  readonly hosts: readonly string[];
  readonly log: Log;
  /** Picks the project's tickets, whatever the settings say. */
  readonly work?: boolean;
};

export type Daemon = {
  readonly url: string;
  readonly home: string;
  readonly passrail: Passrail;
  /** A code for one login of a browser. */
  newLoginCode(): string;
  /** Ends what works, or with `drain` lets it end by itself first; nothing new starts. What was ended is done again by the next daemon. */
  close(how: "interrupt" | "drain"): Promise<void>;
};

const CATCH_UP_MS = 300;

export async function openDaemon(options: DaemonOptions): Promise<Result<Daemon>> {
  const { log } = options;
  let serving: Serving | undefined;
  let failure: Problem | undefined;
  let read: readonly OpenedTrigger[] = [];
  const opened = await openPassrail({
    ...options,
    alone: true,
    url: () => serving?.listening.url ?? "",
    onChange: () => serving?.catchUp(),
    onError: (runId, error) => log.write(`${runId === null ? "" : `${runId}: `}${textOf(error)}`),
    async first(acting) {
      const triggers = readTriggers(acting.config.triggers, { ...options, home: acting.home });
      if (!triggers.ok) {
        failure = triggers.error;
        return false;
      }
      read = triggers.value;
      try {
        serving = await serve(acting, options);
        return true;
      } catch (error) {
        failure = listenProblem(error, options);
        return false;
      }
    },
  });
  if (!opened.ok) return opened;
  const passrail = opened.value;
  if (serving === undefined) {
    await passrail.close();
    return err(failure ?? { code: "listen_failed", message: "The daemon could not begin to listen." });
  }
  const { listening, newLoginCode, stop } = serving;
  const { home } = passrail;
  const dispatches = options.work === true || passrail.config.tickets.dispatch;
  writeNote(home, {
    pid: process.pid,
    url: listening.url,
    version: options.version,
    project: options.project,
    startedAt: new Date().toISOString(),
    dispatches,
  });
  const triggers = openTriggers({
    ...options,
    app: passrail.app,
    store: passrail.store,
    triggers: read,
    onProblem: (text) => log.write(text),
  });
  log.write(`listening on ${listening.url}, home ${home}, pid ${process.pid}, version ${options.version}`);
  const dispatcher = dispatches
    ? openDispatcher(passrail, { project: options.project, log: (line) => log.write(`tickets: ${line}`) })
    : undefined;
  dispatcher?.start().catch((error: unknown) => log.write(`tickets: ${textOf(error)}`));
  return ok({
    url: listening.url,
    home,
    passrail,
    newLoginCode,
    async close(how) {
      await triggers.close();
      dispatcher?.stop();
      if (how === "drain") await passrail.engine.drain();
      else if (dispatcher !== undefined) {
        // Tickets' files shall not say that something works while nobody does.
        await passrail.engine.close();
        await interruptAttempts(passrail);
      }
      removeNote(home);
      await stop();
      await passrail.close();
      log.write("stopped");
    },
  });
}

type Serving = {
  readonly listening: Listening;
  readonly catchUp: () => void;
  readonly newLoginCode: () => string;
  readonly stop: () => Promise<void>;
};

async function serve(acting: Acting, options: DaemonOptions): Promise<Serving> {
  const { log, host, hosts, port } = options;
  const hub = createEventHub({
    store: acting.store,
    now: () => systemClock.monotonicMs(),
    onError: (error) => log.write(`live events: ${textOf(error)}`),
  });
  const audit = createAudit(acting.home, {
    now: () => systemClock.now(),
    onProblem: (text) => log.write(`audit: ${text}`),
  });
  audit.record(settingsNote(acting.config, acting.person, options.version));
  const keys = await createKeys(acting.home, { person: acting.person, now: () => systemClock.now() });
  const parts = serverParts(acting, { ...options, audit, keys, hub });
  const inbound = openInbound({
    config: acting.config,
    environment: options.environment,
    home: acting.home,
    parts,
    notifier: acting.notifications?.notifier ?? null,
    onProblem: (text) => log.write(`webhooks: ${text}`),
  });
  const web = loadWeb(join(shippedDir, "dist", "web"));
  // Other processes store things too: commands beside the daemon.
  const timer = setInterval(() => hub.catchUp(), CATCH_UP_MS);
  timer.unref();
  try {
    const appAt = (given: number) =>
      createApp(parts, {
        port: given,
        hosts: [...hosts, `${host}:${given}`],
        signed: inbound.signed,
        ...optional({ web }),
      });
    const listening = await listen(appAt, { port, host, hosts, audit });
    return {
      listening,
      catchUp: () => hub.catchUp(),
      newLoginCode: () => keys.newLoginCode().token,
      async stop() {
        clearInterval(timer);
        parts.tickets?.known.close();
        hub.close();
        await listening.close();
        inbound.close();
        audit.close();
      },
    };
  } catch (error) {
    clearInterval(timer);
    parts.tickets?.known.close();
    hub.close();
    inbound.close();
    audit.close();
    throw error;
  }
}

function listenProblem(error: unknown, { host, port }: DaemonOptions): Problem {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "EADDRINUSE")
    return {
      code: "port_taken",
      message: `Something else listens on ${host}:${port}.`,
      hint: "passrail up --port 0   takes any free port",
    };
  if (code === "EACCES" || code === "EADDRNOTAVAIL")
    return { code: "listen_failed", message: `${host}:${port} cannot be listened on (${code}).` };
  throw error;
}

export function logFile(home: string): string {
  return join(home, "logs", "daemon.log");
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
