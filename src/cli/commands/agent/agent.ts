// `agent list|test`: lists the agents and the programs that run them, and checks that a program works. Only `test` starts one: it makes
// one real attempt through the function that it is given.

import { type HeldRunner, listHolds } from "../../../app/holds.ts";
import type { AgentFile } from "../../../catalog/agent-file.ts";
import type { Enclosure } from "../../../core/flow/enclosure.ts";
import type { Result } from "../../../core/result.ts";
import { enclosureHere } from "../../../runner/process/enclose.ts";
import { tryRunner } from "../../../runner/try.ts";
import type { Detected } from "../../../runner/detect.ts";
import { detectRunners } from "../../../runner/detect-runners.ts";
import { readyRunners } from "../../../runner/ready.ts";
import { loadSettings } from "../../../settings/load.ts";
import type { Settings } from "../../../settings/settings.ts";
import type { RunnerName, WrittenOptions } from "../../../core/flow/agent-options.ts";
import { tokensOf, type Usage } from "../../../core/budget/usage.ts";
import { EXIT, problemError } from "../../errors.ts";
import type { Io } from "../../terminal/io.ts";
import { type Column, paint, printJson, printTable, shortDuration } from "../../terminal/output.ts";
import { oneLine, plainText } from "../../terminal/plain-text.ts";
import { withReader } from "../../reader.ts";
import { openApproved } from "../flow/catalog.ts";
import { heldText } from "./resume.ts";
import { firstRunner, ladderText, rungsIn } from "../../../core/flow/ladder.ts";
import { optional } from "../../../core/optional.ts";

export type AgentListDeps = {
  readonly runners: readonly Detected[];
  /** The runner of an agent, in a few words; empty if none is named. */
  readonly playedBy: (agent: AgentFile) => string;
  /** How this machine holds the processes of programs without a sandbox together. */
  readonly enclosure: Result<Enclosure, string>;
  /** Runners that are over a limit now. */
  readonly holds?: readonly HeldRunner[];
};

export async function agentList(io: Io): Promise<number> {
  const config = await loadSettings({ home: io.home, environment: io.environment, project: io.cwd, flags: {} });
  if (!config.ok) throw problemError(config.error);
  const runners = io.quiet ? [] : await detectRunners(io.environment, io.cwd, config.value);
  const enclosure = enclosureHere(config.value.enclosure.value);
  const holds = await withReader(io, async (store) =>
    store === undefined ? [] : listHolds(store, new Date().toISOString()),
  );
  return printAgents(io, { runners, playedBy: playedByConfig(config.value), enclosure, holds });
}

export function printAgents(io: Io, { runners, playedBy, enclosure, holds = [] }: AgentListDeps): number {
  const catalog = openApproved(io).agents();
  const agents = [...catalog.agents.values()].map((agent) => ({
    name: agent.name,
    description: agent.description,
    origin: agent.origin,
    file: agent.file,
    playedBy: playedBy(agent),
  }));
  if (io.json) {
    const held = enclosure.ok ? { enclosure: enclosure.value } : { enclosure: null, problem: enclosure.error };
    printJson(io, { runners, agents, holds, ...held });
    return EXIT.ok;
  }
  if (io.quiet) {
    for (const { name } of agents) io.out(oneLine(name, 100));
    return EXIT.ok;
  }
  printTable(
    io,
    runners.map((found) => runnerRow(io, found)),
  );
  for (const hold of holds)
    io.out(
      paint(
        io,
        "yellow",
        oneLine(`! ${heldText(hold, Date.now())}; earlier: passrail agent resume ${hold.runner}`, 200),
      ),
    );
  io.out("");
  printTable(
    io,
    agents.map(({ name, origin, playedBy: by, description }): readonly Column[] => [
      { name: "agent", value: name, color: "bold" },
      { name: "origin", value: origin },
      { name: "played by", value: by === "" ? "none yet" : by, ...(by === "" ? { color: "dim" } : {}) },
      { name: "about", value: description },
    ]),
  );
  for (const { file, line, message } of catalog.problems) io.err(plainText(`! ${file}:${line}: ${message}`));
  io.err(oneLine(enclosureLine(enclosure), 400));
  for (const hint of nextSteps(
    runners,
    agents.some((agent) => agent.playedBy !== ""),
  ))
    io.err(hint);
  return EXIT.ok;
}

/** Which rung of the ladder programs get that run without a sandbox. */
function enclosureLine(enclosure: Result<Enclosure, string>): string {
  if (!enclosure.ok) return `without a sandbox no program starts: ${enclosure.error} (attempts.enclosure)`;
  const { label, escapes } = ENCLOSED[enclosure.value];
  return `processes without a sandbox are held by ${label}: ${escapes}`;
}

const ENCLOSED: Readonly<Record<Enclosure, { readonly label: string; readonly escapes: string }>> = {
  cgroup: { label: "a cgroup", escapes: "all of them end with their attempt" },
  scope: { label: "a scope of systemd", escapes: "all of them end with their attempt" },
  namespace: { label: "a PID namespace", escapes: "all of them end with their attempt" },
  markers: { label: "markers", escapes: "one that hides fails its attempt and is named (docs/sandboxes.md)" },
};

/** A terminal has space for one long column: the fix, else the path of the program. */
function runnerRow(io: Pick<Io, "plain">, found: Detected): readonly Column[] {
  const path = found.status === "found" ? found.path : "";
  const long: readonly Column[] = io.plain
    ? [
        { name: "path", value: path },
        { name: "fix", value: found.fix },
      ]
    : [{ name: "next", value: found.fix === "" ? path : found.fix, color: found.fix === "" ? "dim" : "yellow" }];
  return [{ name: "runner", value: found.runner, color: "bold" }, versionColumn(found), loginColumn(found), ...long];
}

function versionColumn(found: Detected): Column {
  if (found.status === "missing") return { name: "version", value: "not installed", color: "dim" };
  return found.version === null
    ? { name: "version", value: "no answer", color: "red" }
    : { name: "version", value: found.version };
}

function loginColumn(found: Detected): Column {
  if (found.status === "missing") return { name: "login", value: "" };
  const { state, evidence } = found.login;
  const why = evidence === "" ? "" : ` (${evidence})`;
  if (state === "yes") return { name: "login", value: `logged in${why}`, color: "green" };
  if (state === "no") return { name: "login", value: `not logged in${why}`, color: "yellow" };
  return { name: "login", value: `login unknown${why}` };
}

function nextSteps(runners: readonly Detected[], isPlayed: boolean): readonly string[] {
  const [usable] = readyRunners(runners);
  if (usable === undefined) {
    const installed = runners.some(({ status }) => status === "found");
    return [
      installed ? "No coding agent is ready to work." : "No coding agent is installed.",
      installed
        ? "  Follow a line of the last column above; then: passrail agent list"
        : "  Install one by a line of the last column above; then: passrail agent list",
      "  Any program of your own can play, too: passrail run FLOW TEXT --agent '*=my-agent'. passrail demo needs nothing.",
    ];
  }
  return isPlayed
    ? []
    : [`To let one play every agent: runner: ${usable.runner} in passrail.yaml, or --agent '*=${usable.runner}'`];
}

/** As the settings say it for every run; a flow's stage can still say otherwise. */
export function playedByConfig(config: Pick<Settings, "agents" | "runner" | "model">): AgentListDeps["playedBy"] {
  const given = new Map(Object.entries(config.agents).map(([name, options]) => [name.toLowerCase(), options]));
  return ({ name, options, command, model }) => {
    const own = [given.get(name), given.get("*")].filter((found) => found !== undefined);
    const file: WrittenOptions = { ...options, ...optional({ command }) };
    const fallback: WrittenOptions = config.runner.value === "none" ? {} : { runner: config.runner.value };
    const who = [...own, file, fallback].find((each) => each.runner !== undefined || each.command !== undefined);
    if (who === undefined) return "";
    const [program] = who.command ?? [];
    const [first, ...rest] = who.runner === undefined ? [{ runner: "command" as const }] : rungsIn(who.runner);
    const runner = first?.runner ?? "command";
    const chosen = first?.model ?? own.map((each) => each.model).find((found) => found !== undefined);
    // A model in an agent's file is for Claude; the default model goes with the default runner.
    const isUsual = config.runner.value !== "none" && runner === firstRunner(config.runner.value);
    const named = chosen ?? (runner === "claude" ? model : undefined) ?? (isUsual ? config.model : null) ?? undefined;
    const one = [program === undefined ? runner : `${runner} ${program}`, ...(named === undefined ? [] : [named])];
    return [one.join(", "), ...rest.map((rung) => ladderText([rung]))].join(", then ");
  };
}

export async function agentTest(
  io: Io,
  runner: RunnerName,
  attempt: (runner: RunnerName) => ReturnType<typeof tryRunner> = (name) =>
    tryRunner({ home: io.home, environment: io.environment, project: io.cwd }, name),
): Promise<number> {
  if (!io.json && !io.quiet) io.err(`One short attempt with ${runner}; it costs what one short answer costs.`);
  const tried = await attempt(runner);
  if (!tried.ok) throw problemError(tried.error, 2);
  const result = tried.value;
  if (io.json) printJson(io, { runner, ...result });
  else {
    for (const { name, ok, detail } of result.steps) {
      const mark = ok ? paint(io, "green", "✓") : paint(io, "red", "✖");
      const [first = "", ...rest] = plainText(detail).split("\n");
      io.out(`${mark} ${oneLine(name, 60)}${first === "" ? "" : `: ${first}`}`);
      for (const line of rest) io.out(`    ${line}`);
    }
    io.out(
      `${result.ok ? `${runner} works` : `${runner} does not work yet`}, ${shortDuration(result.durationMs)}, ${usedText(result.usage)}`,
    );
  }
  return result.ok ? EXIT.ok : EXIT.error;
}

/** An unreported number is unknown, never 0. */
function usedText(usage: Usage | null): string {
  const tokens = usage === null ? null : tokensOf(usage);
  const money = usage === null || usage.usd === null ? "cost unknown" : `$${usage.usd.toFixed(4)}`;
  return `${money}${tokens === null ? "" : `, ${tokens} tokens`}`;
}
