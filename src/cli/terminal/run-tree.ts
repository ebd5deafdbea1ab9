// The stages of a run as lines with marks, for the live view and for `runs show`.

import type { Flow } from "../../core/flow/flow.ts";
import type { Run } from "../../core/run/run.ts";
import type { Io } from "./io.ts";
import type { LiveLine } from "./live.ts";
import { type Color, paint, shortDuration } from "./output.ts";
import { counterRows } from "../../core/run/counters.ts";
import type { AttemptRow, RecordedAttempt } from "../../core/view/attempt-row.ts";
import { type StageRow, type StageState, stageRows } from "../../core/view/stage-list.ts";
import { resumesOf } from "./run-view.ts";

const MARKS: Readonly<Record<StageState, { readonly mark: string; readonly color: Color }>> = {
  done: { mark: "✔", color: "green" },
  failed: { mark: "✖", color: "red" },
  running: { mark: "◉", color: "cyan" },
  ready: { mark: "○", color: "cyan" },
  waiting: { mark: "⏸", color: "yellow" },
  taken: { mark: "⏸", color: "yellow" },
  stopped: { mark: "✖", color: "red" },
  open: { mark: "·", color: "dim" },
};

export function treeLines(
  io: Pick<Io, "color">,
  flow: Flow,
  run: Run,
  attempts: readonly RecordedAttempt[],
): readonly LiveLine[] {
  const rows = stageRows(flow, run, attempts, Date.now());
  const width = Math.max(4, ...rows.map(({ id }) => id.length));
  const stages = rows.map((row): LiveLine => {
    const { mark, color } = MARKS[row.state];
    const track = row.track === "main" ? "" : `${row.track} · `;
    const later = row.state === "ready" ? laterOf(run, row) : "";
    const text = `${mark} ${row.id.padEnd(width)}  ${track}${row.who}${later === "" ? lastOf(row) : ` · ${later}`}`;
    return { text, paint: (shown) => paint(io, color, shown) };
  });
  const counted = counterRows(flow, run).filter(({ loops }) => loops > 0);
  const loops = counted.map(
    ({ key, loops: n, max }): LiveLine => ({
      text: `↺ ${key} ${n} of ${max ?? "no limit"}`,
      paint: (shown) => paint(io, "yellow", shown),
    }),
  );
  return [...stages, ...loops];
}

function laterOf(run: Run, { id, track }: StageRow): string {
  const state = run.tracks[track];
  return state?.at === "ready" && state.stage === id ? resumesOf(state) : "";
}

function lastOf(row: StageRow): string {
  const last = row.attempts.at(-1);
  if (last === undefined || last.status === "ready")
    return row.state === "waiting" ? " · waits for an answer" : last === undefined ? "" : spoken(last);
  // While it works the time counts in whole seconds, so that the line does not flicker.
  const whole =
    last.durationMs !== null && row.state === "running" ? Math.floor(last.durationMs / 1000) * 1000 : last.durationMs;
  const took = whole === null ? "" : ` · ${whole === 0 ? "0s" : shortDuration(whole)}`;
  const times = row.attempts.length > 1 ? ` · attempt ${last.attempt}` : "";
  return `${spoken(last)}${times}${took}`;
}

function spoken({ status, word, canonical }: AttemptRow): string {
  if (status !== "done") return ` · ${status}`;
  return word === null || word === canonical ? ` · ${canonical ?? "done"}` : ` · ${word} (${canonical ?? "?"})`;
}
