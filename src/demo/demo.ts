// `passrail demo`: takes one feature through a small flow, with the real engine, real processes and real commits in a scratch repository.
// It needs no network and no key: the agents are five small programs. It leaves nothing behind, even after a failure.

import { loadCatalog } from "../catalog/catalog.ts";
import { openPassrail, type Passrail, requirePerformer } from "../compose.ts";
import { shippedDir } from "../settings/site.ts";
import type { RunEvent } from "../core/run/event.ts";
import type { Flow } from "../core/flow/flow.ts";
import { isEnded, openItems, type Run } from "../core/run/run.ts";
import { runIdOf } from "../app/run-id.ts";
import { ANYTHING_GOES } from "./answer.ts";
import { type DemoIo, INTERRUPTED } from "./io.ts";
import { type People, typingPeople, writtenPeople } from "./people.ts";
import { STORY } from "./story.ts";
import { summarize } from "./summary.ts";
import { createView } from "./view.ts";
import { commandsOf, makeWorld, type World } from "./world.ts";
import { messageOf } from "../core/result.ts";

export type DemoOptions = {
  /** 2 is twice as fast. Only pauses change; the work itself keeps its pace. */
  readonly speed?: number;
  /** Whether a person answers; by default if there is a terminal. */
  readonly interactive?: boolean;
  /** Shows the played runs until `stop` is aborted. */
  readonly dashboard?: (place: DemoPlace, stop: AbortSignal) => Promise<void>;
};

export type DemoPlace = Pick<World, "home" | "project"> & { readonly environment: DemoIo["environment"] };

const THINK_MS = 250;
const DECIDE_MS = 800;
/** Limit for a demo without a person, so that it ends even after a failure. */
const SCRIPTED_LIMIT_MS = 55_000;

export async function runDemo(io: DemoIo, options: DemoOptions = {}): Promise<number> {
  const speed = Math.min(100, Math.max(0.1, options.speed ?? 1));
  const isTyped = options.interactive ?? (io.tty && process.stdin.isTTY && !io.json);
  const stop = new AbortController();
  const interrupt = (): void => stop.abort(INTERRUPTED);
  process.on("SIGINT", interrupt).on("SIGTERM", interrupt);
  const deadline = isTyped ? undefined : setTimeout(() => stop.abort(1), SCRIPTED_LIMIT_MS);
  const people = isTyped ? typingPeople(io, stop) : writtenPeople(DECIDE_MS / speed, stop.signal);
  try {
    return await inWorld(async (world) => {
      const exit = await playDemo(io, world, people, { thinkMs: THINK_MS / speed, stop: stop.signal });
      clearTimeout(deadline);
      people.close();
      const { home, project } = world;
      const place = { home, project, environment: world.environmentFrom(io.environment) };
      if (exit === 0) await options.dashboard?.(place, stop.signal);
      return exit;
    });
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    const wasAsked = stop.signal.reason === INTERRUPTED;
    io.err(`The demo ${wasAsked ? "was stopped" : "took too long and was stopped"}; nothing is left behind.`);
    return stop.signal.reason as number;
  } finally {
    clearTimeout(deadline);
    people.close();
    process.off("SIGINT", interrupt).off("SIGTERM", interrupt);
  }
}

async function inWorld<T>(use: (world: World) => Promise<T>): Promise<T> {
  const world = makeWorld();
  // For an exit that does not return here.
  process.on("exit", world.remove);
  try {
    return await use(world);
  } finally {
    world.remove();
    process.off("exit", world.remove);
  }
}

type Pace = { readonly thinkMs: number; readonly stop: AbortSignal };

async function playDemo(io: DemoIo, world: World, people: People, { thinkMs, stop }: Pace): Promise<number> {
  const resolved = loadCatalog({ shippedDir, projectDir: world.project }).resolve("demo");
  if (!resolved.ok) throw new Error(`the demo's own flow is not valid: ${resolved.error[0]?.message}`);
  const { flow } = resolved.value;
  const view = createView(io, flow);
  const changes = createChanges();
  const failures: unknown[] = [];
  const opened = await openPassrail({
    home: world.home,
    project: world.project,
    environment: world.environmentFrom(io.environment),
    flags: {},
    embedded: true,
    onError: (_, error) => failures.push(error),
  });
  if (!opened.ok)
    throw Object.assign(new Error(opened.error.message), { code: opened.error.code, hint: opened.error.hint ?? "" });
  const performer = await requirePerformer(opened.value);
  if (!performer.ok) throw new Error(performer.error.message);
  const passrail = performer.value;
  passrail.listen({
    onChange(run, events) {
      view.changed(run, events);
      changes.add(run, events);
    },
  });
  const runId = runIdOf();
  try {
    await passrail.perform();
    view.begin(STORY.intro);
    const facts = { config: { project: world.project }, runners: commandsOf(flow, thinkMs) };
    const plan = { runId, resolved: resolved.value, subject: STORY.subject, facts };
    const started = await passrail.app.startRun(plan, passrail.person);
    if (!started.ok) throw new Error(started.error.message);
    const run = await decideUntilEnd(passrail, runId, flow, people, view, changes, stop);
    await passrail.engine.idle();
    view.end();
    const isDone = isEnded(run) && failures.length === 0;
    summarize(io, { run, flow, events: changes.events(), elapsedMs: performance.now() - changes.startedAt, world });
    for (const failure of failures) io.err(`error: ${messageOf(failure)}`);
    return isDone ? 0 : 1;
  } finally {
    view.end();
    await passrail.close();
  }
}

/** Answers open inbox items one at a time, until the run ends or stops. */
async function decideUntilEnd(
  passrail: Passrail,
  runId: string,
  flow: Flow,
  people: People,
  view: ReturnType<typeof createView>,
  changes: Changes,
  stop: AbortSignal,
): Promise<Run> {
  for (;;) {
    const run = changes.latest();
    if (run === undefined || (!isEnded(run) && run.status === "running")) {
      await changes.next(stop);
      continue;
    }
    const [item] = openItems(run);
    if (item === undefined) return run;
    const { answer, text } = await people.decide(item, flow, view);
    const request = { item: `${runId}.${item.number}`, answer, text, issues: [], ...ANYTHING_GOES };
    const answered = await passrail.app.answerItem(request, { actor: passrail.person });
    if (!answered.ok) view.say(answered.error.message);
  }
}

type Changes = ReturnType<typeof createChanges>;

/** Changes reported by the engine, and a way to wait for more. */
function createChanges() {
  const startedAt = performance.now();
  const events: RunEvent[] = [];
  let run: Run | undefined;
  let wake = Promise.withResolvers<void>();
  return {
    startedAt,
    add(changed: Run, more: readonly RunEvent[]): void {
      run = changed;
      events.push(...more);
      wake.resolve();
      wake = Promise.withResolvers<void>();
    },
    latest: (): Run | undefined => run,
    events: (): readonly RunEvent[] => events,
    next(stop: AbortSignal): Promise<void> {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const onStop = (): void => reject(new Error("stopped"));
      stop.addEventListener("abort", onStop, { once: true });
      if (stop.aborted) onStop();
      void wake.promise.then(() => {
        stop.removeEventListener("abort", onStop);
        resolve();
      });
      return promise;
    },
  };
}
