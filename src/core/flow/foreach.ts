// `kind: foreach`: the stages after it, up to `last`, run once per unchecked box of a file. It is data for the engine like any other stage: a
// builtin that checks the box of the round before and finds the next one, a way back from `last`, and a counter that bounds the rounds.

import type { FlowFile } from "./flow-file.ts";
import { optional } from "../optional.ts";

/** The builtin that finds the next box. */
export const NEXT_ROW = "next-row";
export const DEFAULT_ROUNDS = 20;

/** The counter of a flow that bounds the rounds; flow.ts has the whole type. */
type RoundCounter = {
  readonly maxLoops: number;
  readonly scope: "run";
  readonly sameIssues: null;
  readonly onExhausted: "stop";
  readonly column: null;
  readonly resets: readonly string[];
  readonly isRounds: true;
};

export function foreachCounters(file: FlowFile): Readonly<Record<string, RoundCounter>> {
  const loops = file.stages.filter(({ kind }) => kind === "foreach");
  return Object.fromEntries(
    loops.map(({ id, max = DEFAULT_ROUNDS }): [string, RoundCounter] => [
      id,
      {
        maxLoops: max,
        scope: "run",
        sameIssues: null,
        onExhausted: "stop",
        column: null,
        // Every box has its own budget of revisions.
        resets: Object.keys(file.counters ?? {}),
        isRounds: true,
      },
    ]),
  );
}

/** As much of a resolved stage as a round needs. */
type RoundStage = { readonly id: string; readonly route?: object };

export function withForeach<S extends RoundStage>(file: FlowFile, stages: readonly S[]): readonly S[] {
  return file.stages.reduce<readonly S[]>(
    (found, { kind, id, last }) => (kind === "foreach" && last !== undefined ? withRounds(found, id, last) : found),
    stages,
  );
}

function withRounds<S extends RoundStage>(stages: readonly S[], id: string, last: string): readonly S[] {
  const from = stages.findIndex((stage) => stage.id === id);
  const to = stages.findIndex((stage) => stage.id === last);
  if (from === -1 || to <= from) return stages;
  const after = stages[to + 1]?.id ?? "end";
  return stages.map((stage, index) => {
    if (index < from || index > to || stage.route === undefined) return stage;
    if (stage.id === id) return withRoute(stage, "exhausted", after);
    const inRound = { ...stage, row: id };
    return stage.id === last ? withRoute(inRound, "pass", id, id) : inRound;
  });
}

function withRoute<S extends RoundStage>(stage: S, key: string, goto: string, counter?: string): S {
  const route = { goto, carry: [], onlyBlamed: false, once: false, ...optional({ counter }) };
  return { ...stage, route: { ...stage.route, [key]: route } };
}
