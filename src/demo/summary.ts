// The result of the demo, counted from the stored events and the repository, not from the script.

import type { RunEvent } from "../core/run/event.ts";
import type { Flow } from "../core/flow/flow.ts";
import type { Run } from "../core/run/run.ts";
import type { DemoIo } from "./io.ts";
import { paint, plainLine, seconds } from "./look.ts";
import type { World } from "./world.ts";

type EndedDemo = {
  readonly run: Run;
  readonly flow: Flow;
  readonly events: readonly RunEvent[];
  readonly elapsedMs: number;
  readonly world: Pick<World, "git">;
};

const NEXT = [
  ["passrail flow list", "the flows that are ready to use"],
  ["passrail run --help", "start one on your own repository"],
] as const;

export function summarize(io: DemoIo, demo: EndedDemo): void {
  const facts = factsOf(demo);
  if (io.json) {
    io.out(JSON.stringify({ summary: facts }));
    return;
  }
  const rows = [
    ["result", `${facts.state}, status ${facts.status}`],
    [
      "attempts",
      `${facts.attempts}: ${Object.entries(facts.attemptsByStage)
        .map(([stage, count]) => `${stage} ${count}`)
        .join(", ")}`,
    ],
    [
      "loops",
      Object.entries(facts.loops)
        .map(([name, count]) => `${name} ${count}`)
        .join(", ") || "none",
    ],
    [
      "decisions",
      `${facts.gates} gates, ${facts.questions} question${facts.questions === 1 ? "" : "s"}, ${facts.escalations} escalation${facts.escalations === 1 ? "" : "s"}`,
    ],
    ["events", `${facts.events} stored, each in the transaction of its change`],
    ["time", seconds(facts.elapsedMs)],
  ] as const;
  io.out("");
  io.out(paint(io, "bold", "What happened"));
  for (const [name, text] of rows) io.out(`  ${name.padEnd(10)} ${plainLine(text)}`);
  if (facts.commits.length > 0) {
    io.out("");
    io.out(paint(io, "bold", `Branch ${facts.branch}`));
    for (const line of [...facts.commits, ...facts.diff]) io.out(`  ${line}`);
  }
  io.out("");
  io.out(paint(io, "bold", "Next"));
  for (const [command, why] of NEXT) io.out(`  ${command.padEnd(20)} ${paint(io, "dim", why)}`);
}

function factsOf({ run, flow, events, elapsedMs, world }: EndedDemo) {
  const count = (type: RunEvent["type"]): number => events.filter((event) => event.type === type).length;
  const loops: Record<string, number> = {};
  const attemptsByStage: Record<string, number> = {};
  for (const event of events) {
    if (event.type === "counter.changed" && event.to > event.from) loops[event.key] = (loops[event.key] ?? 0) + 1;
    if (event.type === "stage.started") attemptsByStage[event.stage] = (attemptsByStage[event.stage] ?? 0) + 1;
  }
  const branch = flow.workspace.branch ?? "";
  const exists = branch !== "" && world.git(["branch", "--list", branch]).trim() !== "";
  return {
    state: run.status,
    status: run.word,
    attempts: count("stage.started"),
    attemptsByStage,
    loops,
    gates: count("gate.answered"),
    questions: count("question.answered"),
    escalations: count("escalation.resolved"),
    events: events.length,
    elapsedMs: Math.round(elapsedMs),
    branch,
    commits: exists ? linesOf(world.git(["log", "--oneline", "--reverse", `main..${branch}`])) : [],
    diff: exists ? linesOf(world.git(["diff", "--stat=76", `main...${branch}`])) : [],
  };
}

function linesOf(text: string): readonly string[] {
  // Git aligns its output, so only characters that could disturb a terminal are removed.
  const lines = text.split("\n").map((line) =>
    line
      .replaceAll(/\p{Control}/gu, " ")
      .replace(/^ /u, "")
      .trimEnd(),
  );
  return lines.filter((line) => line !== "");
}
