// The facts for a person who decides at a gate or an escalation, one line each: where the work is, what its agents
// report of their checks, their containment, the changed files that decide what runs later, and before the first stage
// what will run.

import { attemptFacts } from "../core/attempt-facts.ts";
import { findBriefing } from "../app/briefing.ts";
import { commitOf } from "../app/commit-of.ts";
import { findLandingPlace } from "../app/landing-place.ts";
import { markedWork } from "../app/marked-work.ts";
import { repositoryOf } from "../core/run/joint.ts";
import { projectOf } from "../core/run/run-settings.ts";
import { type InboxItem, openItems, type Run } from "../core/run/run.ts";
import { attemptRow } from "../core/view/attempt-row.ts";
import { type Briefing, briefingLines } from "../core/view/briefing.ts";
import { leadsOf } from "../core/view/consequences.ts";
import { type LandingPlace, landingOf } from "../core/view/landing.ts";
import { containedStages } from "../core/view/containment.ts";
import { type MarkedChange, markedSentence } from "../core/view/marked-changes.ts";
import { gateVerb } from "../core/view/item-text.ts";
import { workLines } from "../core/view/work-lines.ts";
import { loadSettings } from "../settings/load.ts";
import { flowOf } from "../store/flow-of.ts";
import type { AttemptRecord, Store } from "../store/store.ts";
import { withReader } from "./reader.ts";
import type { Io } from "./terminal/io.ts";
import { oneLine } from "./terminal/plain-text.ts";
import { summaryLines } from "./work-summary.ts";

const LINES_AT_MOST = 20;
const WIDTH = 200;

/** There a person decides about work. */
export function isJudged({ kind }: { readonly kind: string }): boolean {
  return kind === "gate" || kind === "escalation";
}

/** For a command that leaves a run where a person decides next. */
export async function tellGate(io: Io, run: Run): Promise<void> {
  if (io.json || io.quiet || !openItems(run).some(isJudged)) return;
  for (const line of await gateLines(io, run)) io.err(line);
}

type Place = Pick<Io, "home" | "environment" | "cwd">;

export async function gateLines(io: Place, run: Run): Promise<readonly string[]> {
  return withReader(io, async (store) => (store === undefined ? [] : createGateLines(io, store)(run)));
}

/** For many gates: the settings, and the place that the work of a project goes to, are read once. */
export function createGateLines(io: Place, store: Store): (run: Run) => Promise<readonly string[]> {
  const landing = createLanding(io);
  return async (run) => {
    const attempts = await store.attempts(run.id);
    const marked = await markedWork(repositoryOf(run), attempts, await commitOf(store, run));
    const work = workLines(attempts).slice(0, LINES_AT_MOST);
    const summary = await summaryLines(io, store, run, attempts);
    return [
      ...work.map((line) => `  · ${oneLine(line, 2 * WIDTH)}`),
      ...summary.map((line) => `  · ${line}`),
      ...(summary.length === 0 ? [] : await lookLine(store, run)),
      ...rungLines(attempts),
      ...containmentLines(attempts),
      ...markedLines(marked),
      ...(await landingLines(landing, store, run)),
      ...(await briefingIn(io, store, run)),
    ];
  };
}

/** The stages that will run, as data; null for every item but a gate before the first stage. */
export async function briefingOfItem(
  { home }: Pick<Io, "home">,
  store: Store,
  run: Run,
  item: InboxItem,
): Promise<Briefing | null> {
  return findBriefing({ store, home }, await flowOf(store, run), run, item);
}

async function briefingIn({ home }: Pick<Io, "home">, store: Store, run: Run): Promise<readonly string[]> {
  const [item] = openItems(run);
  const found = item === undefined ? null : await findBriefing({ store, home }, await flowOf(store, run), run, item);
  return found === null ? [] : briefingLines(found).map((line) => `    ${oneLine(line, WIDTH)}`);
}

/** A person who decides about a change needs a way to see it. */
async function lookLine(store: Store, { id }: Run): Promise<readonly string[]> {
  const [summary] = await store.findRuns(id);
  return summary === undefined ? [] : [`  · Look at the change: passrail runs diff ${summary.number}`];
}

type Landing = (project: string) => Promise<LandingPlace | undefined>;

/** Undefined if the settings cannot be read: the command that needs them reports it. */
function createLanding({ home, environment, cwd }: Place): Landing {
  let settings: ReturnType<typeof loadSettings> | undefined;
  const places = new Map<string, Promise<LandingPlace>>();
  return async (project) => {
    settings ??= loadSettings({ home, environment, project: cwd, flags: {}, unapproved: "show" });
    const read = await settings;
    if (!read.ok) return undefined;
    const { mode, ...merge } = read.value.merge;
    const known =
      places.get(project) ?? findLandingPlace(project, { ...merge, mode: mode.value }, environment["GH_HOST"]);
    places.set(project, known);
    return known;
  };
}

/** Where each answer brings the work. */
async function landingLines(landing: Landing, store: Store, run: Run): Promise<readonly string[]> {
  const [item] = openItems(run);
  const [summary] = await store.findRuns(run.id);
  if (item === undefined || summary === undefined) return [];
  const place = await landing(projectOf(run));
  if (place === undefined) return [];
  const resolved = await flowOf(store, run);
  return leadsOf(resolved.flow, run, item).flatMap((lead) => {
    const landing = landingOf(resolved, run, summary.number, lead, place);
    return landing === null ? [] : [oneLine(`  · ${gateVerb(lead.answer)}: ${landing.text}`, 2 * WIDTH)];
  });
}

/** The last attempt of each stage that did not take the first rung of its ladder. */
function rungLines(attempts: readonly AttemptRecord[]): readonly string[] {
  const last = new Map(attempts.map((record) => [record.stage, record]));
  return [...last.values()].flatMap((record) => {
    const { rung } = attemptRow(record, Date.now());
    return rung === null || attemptFacts(record).rung?.number === 1
      ? []
      : [oneLine(`  · ${record.stage} was played by ${rung}`, WIDTH)];
  });
}

function containmentLines(attempts: readonly AttemptRecord[]): readonly string[] {
  const rows = attempts.map((record) => attemptRow(record, Date.now()));
  return containedStages(rows).map(({ label, stages, isConfined }) =>
    oneLine(`  ${isConfined ? "·" : "!"} ${label} (${stages.join(", ")})`, WIDTH),
  );
}

function markedLines(marked: readonly MarkedChange[]): readonly string[] {
  const lines = marked.slice(0, LINES_AT_MOST).map((change) => `  ! ${oneLine(markedSentence(change), WIDTH)}`);
  const left = marked.length - lines.length;
  return left > 0 ? [...lines, `  ! ${left} more such files`] : lines;
}
