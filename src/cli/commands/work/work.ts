// `work`: picks tickets and works on them in the foreground until it is stopped, or with --once until it runs out of work. The first
// signal lets running attempts finish, the second ends them. Either way ticket files and runs agree, and the exit code is 0.

import { join } from "node:path";
import { openPassrail, type Performer, requirePerformer } from "../../../compose.ts";
import { loadSettings } from "../../../settings/load.ts";
import type { RunEvent } from "../../../core/run/event.ts";
import { messageOf, type Problem } from "../../../core/result.ts";
import { openItems, type Run } from "../../../core/run/run.ts";
import { findDaemon } from "../../../daemon/note.ts";
import { keepHeapSmall } from "../../../daemon/small-heap.ts";
import type { CannotStart } from "../../../core/ticket/cannot-start.ts";
import type { Dispatcher } from "../../../ticket/pick/dispatcher.ts";
import { interruptAttempts } from "../../../ticket/pick/interrupt-attempts.ts";
import { openDispatcher } from "../../../ticket/pick/open.ts";
import { ticketOfRun } from "../../../ticket/mirror/run-ticket.ts";
import { CliError, EXIT, problemError } from "../../errors.ts";
import type { Io } from "../../terminal/io.ts";
import { requireOperator } from "../../operator.ts";
import { oneLine, plainText } from "../../terminal/plain-text.ts";
import { forceEnd } from "../../session.ts";
import { ensureTrusted } from "../../trust.ts";
import { answersTo, askedBy } from "../../../core/view/item-text.ts";

export type WorkOptions = { readonly once: boolean; readonly runners: readonly string[]; readonly slots?: string };

const KEEP_ALIVE_MS = 60_000;
const WIDTH = 200;

export async function work(io: Io, options: WorkOptions): Promise<number> {
  requireOperator(io, "work");
  await ensureTrusted(io);
  const flags = options.slots === undefined ? {} : { slots: options.slots };
  const config = await loadSettings({ home: io.home, environment: io.environment, project: io.cwd, flags });
  if (!config.ok) throw problemError(config.error, EXIT.usage);
  try {
    return await workHere(io, options, flags);
  } catch (error) {
    throw fatal(error);
  }
}

async function workHere(io: Io, { once, runners }: WorkOptions, flags: { readonly slots?: string }): Promise<number> {
  const tell = teller(io);
  const opened = await openPassrail({
    home: io.home,
    project: io.cwd,
    environment: io.environment,
    flags,
    onError: (runId, error) => tell.line(`! ${runId === null ? "" : `${runId}: `}${messageOf(error)}`),
  });
  if (!opened.ok) throw problemError(opened.error);
  const performer = await requirePerformer(opened.value);
  if (!performer.ok) throw problemError(takenProblem(io, performer.error));
  const passrail = performer.value;
  passrail.listen({ onChange: tell.change });
  keepHeapSmall();
  await passrail.perform();
  const stopping = catchStops(() => forceEnd(passrail.store));
  const alive = setInterval(() => undefined, KEEP_ALIVE_MS);
  const dispatcher = openDispatcher(passrail, { project: io.cwd, log: tell.line, runners });
  try {
    const { folder } = passrail.config.tickets;
    tell.line(
      `Working on the tickets in ${join(io.cwd, folder)}, ${passrail.config.slots.value} at once. Ctrl-C stops.`,
    );
    await Promise.race([dispatcher.start(), stopping.first]);
    const ended = await Promise.race([
      once ? untilIdle(passrail, dispatcher) : forever(),
      stopping.first,
      passrail.fenced,
    ]);
    if (ended instanceof Error) throw ended;
    if (ended === "idle") return endOnce(passrail, dispatcher);
    dispatcher.stop();
    tell.line("Stopping: no new ticket starts, running attempts may finish. Press Ctrl-C again to end them now.");
    if ((await Promise.race([passrail.engine.drain(), stopping.second])) === "stop") {
      await passrail.engine.close();
      await interruptAttempts(passrail);
    }
    return EXIT.ok;
  } finally {
    dispatcher.stop();
    await passrail.mirror.settled();
    await passrail.close();
    clearInterval(alive);
    stopping.release();
  }
}

function forever(): Promise<never> {
  return new Promise(() => undefined);
}

/** Scans once more when everything is idle: the last attempt may have made another ticket ready. */
async function untilIdle({ engine, mirror }: Performer, dispatcher: Dispatcher): Promise<"idle"> {
  for (;;) {
    await engine.idle();
    await mirror.settled();
    await dispatcher.look();
    if (dispatcher.isIdle) return "idle";
  }
}

/** Like `run`, the exit code says whether a run waits for a person or has stopped. */
function endOnce({ mirror, project }: Performer, dispatcher: Dispatcher): number {
  const { refused, cannotStart } = dispatcher.state();
  const [first] = refused;
  if (first !== undefined) throw problemError(first);
  if (cannotStart.length > 0) throw stuckError(cannotStart);
  const left = [...mirror.goingOn(project).values()];
  if (left.some((run) => openItems(run).length > 0)) return EXIT.waiting;
  return left.some(({ status }) => status === "stopped") ? EXIT.unsuccessful : EXIT.ok;
}

/** The reasons were printed when they were found; a script needs the code and the ticket. */
function stuckError(stuck: readonly CannotStart[]): CliError {
  const names = stuck.slice(0, NAMED_AT_MOST).map(({ ticket, path }) => ticket ?? path);
  const more = stuck.length > NAMED_AT_MOST ? ", …" : "";
  const are = stuck.length === 1 ? "1 ticket" : `${stuck.length} tickets`;
  return new CliError(STUCK, `${are} cannot start: ${names.join(", ")}${more}`, "passrail ticket list");
}

const STUCK = "ticket_cannot_start";
const NAMED_AT_MOST = 10;

/** Reports on standard error; with --json each report is a line of data. */
function teller(io: Io) {
  const line = (text: string): void => {
    if (io.json) io.out(JSON.stringify({ type: "note", text }));
    else if (!io.quiet) io.err(plainText(text));
  };
  const change = (run: Run, events: readonly RunEvent[]): void => {
    const place = ticketOfRun(run);
    if (place === undefined) return;
    for (const event of events) {
      if (event.type === "run.created") say(run, "started", `▶ ${place.id}: ${run.subject.title}`, {});
      if (event.type === "status.changed")
        say(run, "status", `  ${place.id}: ${event.from} → ${event.to}`, { from: event.from, to: event.to });
      if (event.type === "run.stopped") say(run, "stopped", `✖ ${place.id}: ${event.reason}`, { reason: event.reason });
      if (event.type === "warning.raised")
        say(run, "warning", `! ${place.id}: ${event.message}`, { code: event.code, message: event.message });
      if (event.type === "run.waiting") for (const item of openItems(run)) ask(run, place.id, item);
    }
  };
  const ask = (run: Run, id: string, item: ReturnType<typeof openItems>[number]): void => {
    const [command = ""] = answersTo(item, `${run.id}.${item.number}`);
    const text = `? ${id}: ${item.kind} for ${item.who}: ${askedBy(item).join(" / ")}`;
    say(run, "waiting", text, { item: item.number, kind: item.kind });
    if (!io.json && !io.quiet) io.err(`    ${command}`);
  };
  const say = (run: Run, type: string, text: string, more: Readonly<Record<string, unknown>>): void => {
    if (io.json) io.out(JSON.stringify({ type, ticket: run.subject.id, run: run.id, ...more }));
    else if (!io.quiet) io.err(oneLine(text, WIDTH));
    else if (type === "started") io.out(run.id);
  };
  return { line, change };
}

/** The first signal drains, the second ends the attempts, the third kills them and exits. */
function catchStops(force: () => Promise<void>) {
  let times = 0;
  const listeners: (() => void)[] = [];
  const next = () => new Promise<"stop">((resolve) => listeners.push(() => resolve("stop")));
  const [first, second] = [next(), next()];
  const onSignal = (): void => {
    const tell = listeners[times++];
    if (tell === undefined) void force().finally(() => process.exit(EXIT.interrupted));
    else tell();
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, onSignal);
  return { first, second, release: () => signals.forEach((signal) => void process.off(signal, onSignal)) };
}

function takenProblem(io: Io, problem: Problem): Problem {
  const daemon = findDaemon(io.home);
  if (daemon === undefined)
    return { ...problem, hint: "It works on the tickets or on a run; passrail runs list   shows the runs" };
  return {
    ...problem,
    message: `The daemon (process ${daemon.pid}) already works on ${io.home}.`,
    hint: daemon.dispatches
      ? `It picks the tickets of ${daemon.project}: passrail ticket list`
      : "Let it pick tickets: set tickets.dispatch: true, or passrail down && passrail up --work",
  };
}

/** 004 reports fatal errors in this form; usage errors keep the common form. */
function fatal(error: unknown): unknown {
  if (error instanceof CliError && (error.exit !== EXIT.error || error.code === STUCK)) return error;
  const { code, hint } = error instanceof CliError ? error : { code: "fatal", hint: "" };
  const message = messageOf(error);
  return new CliError(code, `Fatal error: ${message}`, hint, EXIT.error);
}
