// `up` and `down`: runs the daemon in the foreground or in the background, and stops it.

import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { loadSettings } from "../../../settings/load.ts";
import { readAddress } from "../../../daemon/address.ts";
import { readExposure } from "../../../daemon/exposure.ts";
import type { Daemon, DaemonOptions } from "../../../daemon/options.ts";
import { type Log, logFile, openLogFile } from "../../../daemon/log.ts";
import { type DaemonNote, findDaemon } from "../../../daemon/note.ts";
import { CliError, EXIT, problemError, usageError } from "../../errors.ts";
import { catchSignals } from "../../interrupt.ts";
import type { Io } from "../../terminal/io.ts";
import { requireOperator } from "../../operator.ts";
import { printJson } from "../../terminal/output.ts";
import { plainText } from "../../terminal/plain-text.ts";
import { forceEnd } from "../../session.ts";
import { ensureTrusted } from "../../trust.ts";
import { optional } from "../../../core/optional.ts";
import type { ShiftWish } from "../../../core/budget/shift.ts";
import { untilOf } from "../../until.ts";
import { carriedAttempts, workOn } from "./carried-attempts.ts";

export type UpOptions = {
  readonly port?: string;
  readonly host?: string;
  readonly slots?: string;
  readonly workspace?: string;
  readonly allowHost: readonly string[];
  readonly listen?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly dangerouslyBind: boolean;
  readonly detach: boolean;
  /** Picks tickets even if the settings do not ask for it. */
  readonly work: boolean;
  /** As typed; together a shift. */
  readonly until?: string;
  readonly budget?: string;
  /** Set by `--detach` for the process that it starts. */
  readonly quietly: boolean;
};

/** The exit code of a daemon that finds another one running, so that a supervisor can tell. */
const EXIT_TAKEN = 3;
const PATIENCE_MS = 30_000;

export async function up(io: Io, version: string, options: UpOptions): Promise<number> {
  requireOperator(io, "up");
  const shift = shiftOf(options);
  const running = findDaemon(io.home);
  if (running !== undefined && shift !== null)
    throw new CliError(
      "daemon_running",
      "The daemon is up already; a shift begins with it.",
      "passrail down, then again",
    );
  if (running === undefined) await ensureTrusted(io);
  if (options.detach)
    return running === undefined ? startBeside(io, options) : sayRunning(io, running, "is up already");
  // Other users cannot read the files created from here on, whatever the caller's umask is.
  process.umask(0o077);
  const flags = {
    ...optional({ slots: options.slots, workspace: options.workspace }),
  };
  const config = await loadSettings({ home: io.home, environment: io.environment, project: io.cwd, flags });
  if (!config.ok) throw problemError(config.error, EXIT.usage);
  const address = readAddress({
    port: options.port ?? String(config.value.port.value),
    host: options.host ?? "127.0.0.1",
    open: options.dangerouslyBind,
    allow: options.allowHost,
  });
  if (!address.ok) throw problemError(address.error, EXIT.usage);
  const exposure = readExposure(options, (file) => resolve(io.cwd, file));
  if (!exposure.ok) throw problemError(exposure.error, EXIT.usage);
  mkdirSync(join(io.home, "logs"), { recursive: true, mode: 0o700 });
  const now = (): string => new Date().toISOString();
  const file = openLogFile(logFile(io.home), { now });
  const log = options.quietly
    ? file
    : {
        ...file,
        write(line: string) {
          file.write(line);
          if (!io.quiet && !io.json) io.err(plainText(line));
        },
      };
  return serveUntilStopped(io, log, options, {
    ...address.value,
    exposure: exposure.value,
    home: io.home,
    project: io.cwd,
    environment: io.environment,
    version,
    flags,
    log,
    work: options.work,
    shift,
  });
}

function shiftOf({ until, budget }: UpOptions): ShiftWish | null {
  if (until === undefined && budget === undefined) return null;
  const usd = budget === undefined ? undefined : usdOf(budget);
  return { ...optional({ usd }), ...(until === undefined ? {} : { until: untilOf(until, new Date()) }) };
}

function usdOf(budget: string): number {
  const usd = /^[0-9]{1,6}([.][0-9]{1,2})?$/u.test(budget) ? Number(budget) : 0;
  if (usd <= 0) throw usageError("number_invalid", `--budget ${budget}: expected dollars such as 40 or 12.50.`);
  return usd;
}

/** Runs the daemon until it is stopped. A daemon on standby is opened again, at the same address, when it may take over. */
async function serveUntilStopped(io: Io, log: Log, options: UpOptions, first: DaemonOptions): Promise<number> {
  let daemon: Daemon | undefined;
  let place = first;
  const signals = catchSignals(async () => (daemon === undefined ? undefined : forceEnd(daemon.store)));
  const drained = onDrain();
  const stopped = signals.caught.then(({ signal }) => (signal === "SIGTERM" ? ("leave" as const) : "interrupt"));
  try {
    // `down` is in this file too; it must not load the engine and the server.
    const { openDaemon } = await import("../../../daemon/daemon.ts");
    for (;;) {
      const opened = await openDaemon(place);
      if (!opened.ok) {
        const taken = opened.error.code === "already_performed";
        throw problemError(opened.error, taken ? EXIT_TAKEN : EXIT.error);
      }
      const isFirst = daemon === undefined;
      daemon = opened.value;
      if (isFirst) tellUp(io, daemon, options);
      const how = await Promise.race([stopped, drained.asked, daemon.fenced, daemon.vacant]);
      if (typeof how === "object") {
        log.write(`stopping: ${how.message}`);
        await daemon.close("fenced");
        throw problemError(how);
      }
      if (how === "vacant") {
        log.write("taking over: no process performs on the database any more");
        await daemon.close("fenced");
        place = { ...place, port: Number(new URL(daemon.url).port) };
        continue;
      }
      log.write(STOPPING[how]);
      const open = daemon;
      // A signal during the drain does not wait any longer.
      await (how === "drain"
        ? Promise.race([open.close("drain"), stopped.then((next) => open.close(next))])
        : open.close(how));
      return EXIT.ok;
    }
  } finally {
    drained.release();
    signals.release();
  }
}

/** SIGTERM, of `down` and of supervisors, leaves agents alone; Ctrl-C and `down --stop-agents` end them. */
const STOPPING = {
  leave: "stopping: agents work on, and the next daemon adopts them; other attempts end, and it repeats them",
  interrupt: "stopping: ending running attempts; the next daemon repeats them",
  drain: "stopping: running attempts may finish first",
} as const;

function tellUp(io: Io, { url, publicUrl, home }: Daemon, { dangerouslyBind }: UpOptions): void {
  const token = join(home, "operator.token");
  if (io.json) return printJson(io, { url, publicUrl, home, pid: process.pid, tokenFile: token });
  if (io.quiet) return io.out(url);
  io.out(`Passrail is up: ${url}`);
  if (publicUrl !== null) io.err(`For other machines: ${publicUrl}   passrail key pair NAME   logs in a phone`);
  io.err("Dashboard: passrail open");
  io.err(`API: ${url}/docs   token: ${plainText(token)}   Ctrl-C stops it and its agents`);
  if (dangerouslyBind)
    io.err(
      "! Other machines can reach this address, and nothing on the way is encrypted. Every call still needs a token.",
    );
}

/** SIGUSR2 asks the daemon to let running attempts finish before it exits. */
function onDrain(): { readonly asked: Promise<"drain">; readonly release: () => void } {
  let tell: (how: "drain") => void = () => undefined;
  const asked = new Promise<"drain">((resolve) => (tell = resolve));
  const onSignal = (): void => tell("drain");
  process.on("SIGUSR2", onSignal);
  return { asked, release: () => void process.off("SIGUSR2", onSignal) };
}

/** Starts the same command as a background process and waits until it listens. */
async function startBeside(io: Io, options: UpOptions): Promise<number> {
  const dir = join(io.home, "logs");
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  // Output from before its log is open, or from a crash. Each start overwrites it.
  const output = openSync(join(dir, "daemon.out"), "w", 0o600);
  const [, program = ""] = process.argv;
  const args = ["--home", io.home, "--cwd", io.cwd, "up", "--quietly", ...passedOn(options)];
  const child = spawn(process.execPath, [program, ...args], {
    detached: true,
    stdio: ["ignore", output, output],
    env: { ...process.env },
  });
  closeSync(output);
  let failure: string | undefined;
  child.once("error", (error) => (failure = error.message));
  child.once("exit", (code) => (failure ??= `it ended with ${code ?? "a signal"}`));
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    const note = findDaemon(io.home);
    if (note !== undefined && note.pid === child.pid) {
      child.unref();
      return sayRunning(io, note, "is up");
    }
    if (failure !== undefined || performance.now() > until) {
      const other = findDaemon(io.home);
      if (other !== undefined) return sayRunning(io, other, "is up already");
      const tail = readFileSync(join(dir, "daemon.out"), "utf8").slice(-2000).trim();
      throw new CliError("daemon_not_started", `The daemon did not start: ${failure ?? "no answer"}.`, tail);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function passedOn(options: UpOptions): readonly string[] {
  const { port, host, slots, workspace, allowHost, listen, tlsCert, tlsKey, dangerouslyBind } = options;
  const { work, until, budget } = options;
  return [
    ...(port === undefined ? [] : ["--port", port]),
    ...(host === undefined ? [] : ["--host", host]),
    ...(slots === undefined ? [] : ["--slots", slots]),
    ...(workspace === undefined ? [] : ["--workspace", workspace]),
    ...allowHost.flatMap((name) => ["--allow-host", name]),
    ...(listen === undefined ? [] : ["--listen", listen]),
    ...(tlsCert === undefined ? [] : ["--tls-cert", tlsCert]),
    ...(tlsKey === undefined ? [] : ["--tls-key", tlsKey]),
    ...(dangerouslyBind ? ["--dangerously-bind"] : []),
    ...(work ? ["--work"] : []),
    ...(until === undefined ? [] : ["--until", until]),
    ...(budget === undefined ? [] : ["--budget", budget]),
  ];
}

function sayRunning(io: Io, note: DaemonNote, how: string): number {
  if (io.json) printJson(io, { ...note, home: io.home, tokenFile: join(io.home, "operator.token") });
  else if (io.quiet) io.out(note.url);
  else {
    io.out(`Passrail ${how}: ${note.url} (process ${note.pid})`);
    io.err("Dashboard: passrail open");
    io.err(`API: ${note.url}/docs   log: ${plainText(logFile(io.home))}   passrail down   stops it`);
  }
  return EXIT.ok;
}

export type DownOptions = { readonly drain: boolean; readonly stopAgents: boolean; readonly timeout: string };

export async function down(io: Io, { drain, stopAgents, timeout }: DownOptions): Promise<number> {
  requireOperator(io, "down");
  const seconds = Number(timeout);
  if (!(seconds > 0 && seconds <= 86_400)) throw usageError("number_invalid", "--timeout: seconds, up to a day.");
  if (drain && stopAgents) throw usageError("flags_conflict", "--drain waits for agents, --stop-agents ends them.");
  const note = findDaemon(io.home);
  if (note === undefined) {
    const carried = await carriedAttempts(io);
    if (io.json) printJson(io, { stopped: false, reason: "not running", carried });
    else if (!io.quiet) io.out(["No daemon is running.", ...workOn(carried)].join(" "));
    return EXIT.ok;
  }
  process.kill(note.pid, drain ? "SIGUSR2" : stopAgents ? "SIGINT" : "SIGTERM");
  const until = performance.now() + seconds * 1000;
  while (findDaemon(io.home)?.pid === note.pid) {
    if (performance.now() > until)
      throw new CliError(
        "still_running",
        `The daemon (process ${note.pid}) has not exited after ${seconds} s.`,
        drain ? "passrail down   does not wait for running attempts" : "passrail status   shows its runs",
        EXIT.stillRunning,
      );
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const carried = await carriedAttempts(io);
  if (io.json) printJson(io, { stopped: true, pid: note.pid, carried });
  else if (!io.quiet) io.out([`Stopped (process ${note.pid}).`, ...workOn(carried)].join(" "));
  return EXIT.ok;
}
