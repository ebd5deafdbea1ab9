// Why a run is or is not running: its state, the person it waits for, its branch, the slots and the budget. Each reason comes with the
// command that helps, if there is one.

import type { Settings } from "../../../settings/settings.ts";
import type { ResolvedFlow } from "../../../core/flow/agent.ts";
import { openItems, type Run } from "../../../core/run/run.ts";
import { findWork } from "../../../core/run/sequence.ts";
import { branchOf } from "../../../core/run/branch.ts";
import { isOutside } from "../../../core/run/outside.ts";
import { projectOf } from "../../../core/run/run-settings.ts";
import type { Store } from "../../../store/store.ts";
import { statusText } from "../../../core/view/run-state.ts";
import { stoppedEnd } from "../../../core/view/loose-end.ts";
import { answersTo, askedBy } from "../../../core/view/item-text.ts";
import { resumesOf, whyOf } from "../../terminal/run-view.ts";
import { flowOf } from "../../../store/flow-of.ts";

export type Reason = { readonly code: string; readonly text: string; readonly commands: readonly string[] };

/** A run with its flow and its number, as everything here needs it. */
type Known = { readonly run: Run; readonly resolved: ResolvedFlow; readonly number: number };

const OTHERS = 500;

export async function explainRun(store: Store, run: Run, config: Settings): Promise<readonly Reason[]> {
  const known = await know(store, run);
  const { number, resolved } = known;
  const own = reason(
    "run",
    `run #${number} is ${statusText(resolved, run, Date.now())} (${run.word})${colon(whyOf(run, resolved))}`,
  );
  if (run.status === "stopped")
    return [
      own,
      reason(
        "stopped",
        "it continues when a person decides",
        ...(stoppedEnd(run, number, await store.attempts(run.id))?.verbs ?? []).map(({ command }) => command),
      ),
    ];
  if (run.status === "completed" || run.status === "canceled") return [own];
  const items = openItems(run).map((item) =>
    reason(
      item.kind,
      `${item.kind} for ${item.who}: ${askedBy(item).join(" / ")}`,
      ...answersTo(item, `${number}.${item.number}`),
    ),
  );
  if (run.paused) return [own, reason("paused", "a person paused it", `passrail runs resume ${number}`), ...items];
  const others = await otherRuns(store, run);
  return [own, ...items, ...(await waitsOf(known, others, config))];
}

/** Why what is ready has not begun. */
async function waitsOf(known: Known, others: readonly Known[], config: Settings): Promise<readonly Reason[]> {
  const { run, resolved, number } = known;
  const reasons: Reason[] = [];
  for (const [name, track] of Object.entries(run.tracks)) {
    if (track.at !== "ready") continue;
    const later = resumesOf(track);
    if (later !== "") reasons.push(reason("later", `${track.stage} ${later}`));
    const stage = findWork(resolved.flow, run, name, track.stage);
    if (stage !== undefined && isOutside(resolved, run, stage)) {
      reasons.push(reason("outside", `${track.stage} waits for an agent outside (${stage.shownAgent}) to take it`));
      continue;
    }
    const branch = branchOf(resolved.flow, run);
    const holder = others.find(
      (other) =>
        projectOf(other.run) === projectOf(run) &&
        branchOf(other.resolved.flow, other.run) === branch &&
        Object.keys(other.run.stages).length > 0,
    );
    if (holder !== undefined)
      reasons.push(
        reason(
          "branch",
          `${branch} is worked on by run #${holder.number} (${holder.run.subject.id}, ${holder.run.word})`,
          `passrail runs show ${holder.number}`,
        ),
      );
    const working = others.reduce((sum, other) => sum + count(other.run, "running"), 0);
    const ahead = others.filter((other) =>
      Object.values(other.run.tracks).some((each) => each.at === "ready" && each.since < track.since),
    );
    const slots = config.slots.value;
    reasons.push(
      working >= slots
        ? reason(
            "slots",
            `${working} of ${slots} slots work; place ${ahead.length + 1} in line`,
            "passrail runs list --status running",
          )
        : reason("slots", `${working} of ${slots} slots work`, `passrail runs watch ${number}`),
    );
  }
  return reasons;
}

function count({ tracks }: Run, at: "running"): number {
  return Object.values(tracks).filter((track) => track.at === at && !("outside" in track)).length;
}

/** Everything else that has not ended: it may hold a slot or the branch. */
async function otherRuns(store: Store, run: Run): Promise<readonly Known[]> {
  const found: Known[] = [];
  for (const status of ["running", "waiting", "stopped"] as const) {
    for (const summary of await store.listRuns({ status, limit: OTHERS })) {
      const other = summary.id === run.id ? undefined : (await store.loadRun(summary.id))?.run;
      if (other !== undefined) found.push({ run: other, number: summary.number, resolved: await flowOf(store, other) });
    }
  }
  return found;
}

async function know(store: Store, run: Run): Promise<Known> {
  const number = (await store.findRuns(run.id)).find(({ id }) => id === run.id)?.number ?? 0;
  return { run, number, resolved: await flowOf(store, run) };
}

export function reason(code: string, text: string, ...commands: readonly string[]): Reason {
  return { code, text, commands };
}

function colon(text: string): string {
  return text === "" ? "" : `: ${text}`;
}
