// `flow simulate`: runs a flow against a list of outcomes, through the same transition as a real run. Uses no agent and no store.

import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import type { Flow } from "../../../core/flow/flow.ts";
import type { JsonObject } from "../../../core/json.ts";
import { chosenOutcome, type GuidedStep, nextStep } from "../../../core/run/guided.ts";
import {
  describeExpected,
  type Final,
  simulate,
  type SimulationInput,
  type TraceLine,
} from "../../../core/run/simulate.ts";
import { otherWork, placeInputs } from "../../../app/start-run/inputs.ts";
import { CliError, EXIT, problemError, usageError } from "../../errors.ts";
import { askLine, canAsk } from "../../terminal/ask-in-terminal.ts";
import type { Io } from "../../terminal/io.ts";
import { readPairs } from "../../input-pairs.ts";
import { plainText } from "../../terminal/plain-text.ts";
import { flowError, requireFlow } from "./catalog.ts";
import { readOutcomes } from "./outcomes.ts";

export type SimulateOptions = {
  /** A file, or "-" for standard input. Absent: asks at the terminal. */
  readonly outcomes?: string;
  readonly input: readonly string[];
};

const MAX_BYTES = 4 * 1024 * 1024;

export async function flowSimulate(io: Io, name: string, options: SimulateOptions): Promise<number> {
  const { catalog, checked } = requireFlow(io, name);
  const resolved = catalog.resolve(name);
  if (!resolved.ok) throw flowError(name, resolved.error);
  const inputs = placeInputs(checked.flow, readPairs(options.input));
  if (!inputs.ok) throw problemError(inputs.error, EXIT.usage);
  const { facts, warnings } = inputs.value;
  // A start would refuse such facts; a simulation shows what the flow does with them.
  const other = otherWork(checked.flow, facts)?.message;
  for (const warning of [...warnings, ...(other === undefined ? [] : [other])])
    io.err(`warning: ${plainText(warning)}`);

  const knownAgents = Object.keys(resolved.value.agents);
  const input = { facts, knownAgents };
  if (options.outcomes === undefined) return guide(io, checked.flow, input);
  const script = readOutcomes(await readSource(io, options.outcomes));
  if (!script.ok) throw problemError(script.error);
  const { trace, final, problem } = simulate(checked.flow, script.value, input);
  for (const [index, line] of trace.entries()) io.out(io.json ? JSON.stringify(line) : formatLine(index, line));
  // The steps before an outcome that does not fit are true, but the script does not end there.
  if (problem !== null) throw problemError(problem);
  io.out(io.json ? JSON.stringify({ final }) : formatFinal(final));
  return EXIT.ok;
}

/** Asks what happens, one step after the other, and prints the list that repeats it. Enter alone ends it. */
async function guide(io: Io, flow: Flow, input: SimulationInput): Promise<number> {
  if (!canAsk(io))
    throw usageError(
      "outcomes_missing",
      "Without a list of outcomes, flow simulate asks at a terminal, and there is none.",
      `passrail flow simulate ${flow.name} --outcomes FILE   (docs/flows.md has the format)`,
    );
  const chosen: JsonObject[] = [];
  let played = simulate(flow, [], input);
  let told = 0;
  const tell = (): void => {
    for (; told < played.trace.length; told += 1) io.out(formatLine(told, played.trace[told] as TraceLine));
  };
  for (;;) {
    tell();
    const step = nextStep(flow, played);
    const outcome = step === null ? undefined : await askStep(io, step);
    if (outcome === undefined) break;
    const script = readOutcomes(JSON.stringify([...chosen, outcome]));
    if (!script.ok) throw problemError(script.error);
    const next = simulate(flow, script.value, input);
    if (next.problem !== null) {
      io.err(plainText(`✖ ${next.problem.message}`));
      continue;
    }
    chosen.push(outcome);
    played = next;
  }
  io.out(formatFinal(played.final));
  io.err("\nThe same again with --outcomes FILE, and FILE:");
  io.out(JSON.stringify(chosen));
  return EXIT.ok;
}

/** Undefined to end. */
async function askStep(io: Io, step: GuidedStep): Promise<JsonObject | undefined> {
  io.err(plainText(`\n${step.about}: what happens? (Enter ends)`));
  for (const [index, { label }] of step.offers.entries()) io.err(plainText(`  ${index + 1}. ${label}`));
  if (step.free !== undefined) io.err(`  or ${step.free.asks}`);
  for (;;) {
    const said = await askLine("> ");
    if (said === "") return undefined;
    const outcome = chosenOutcome(step, said);
    if (outcome !== undefined) return outcome;
    io.err("Its number or its word, please.");
  }
}

async function readSource(io: Io, outcomes: string): Promise<string> {
  const isStdin = outcomes === "-";
  const what = isStdin ? "standard input" : outcomes;
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    const source = isStdin ? process.stdin : createReadStream(resolve(io.cwd, outcomes));
    for await (const chunk of source as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > MAX_BYTES) break;
      chunks.push(chunk);
    }
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? String(cause);
    const hint = "give a file with a JSON list of outcomes, or - for standard input";
    throw new CliError("outcomes_unreadable", `${what} cannot be read (${code})`, hint);
  }
  if (bytes > MAX_BYTES)
    throw new CliError("outcomes_too_large", `${what} is larger than ${MAX_BYTES / 1024 / 1024} MiB`);
  return Buffer.concat(chunks).toString("utf8");
}

/** Two lines: what happened, and the state of the run after it. */
function formatLine(index: number, line: TraceLine): string {
  const { stage, attempt, word, canonical, status, counters, skipped, warnings, next } = line;
  const what = line.event === "stage" || stage === null ? (stage ?? "run requested") : `${stage} (${line.event})`;
  const said = word === null || word === canonical ? (canonical ?? "") : `${word} = ${canonical}`;
  const loops = Object.entries(counters).filter(([, count]) => count > 0);
  const lines = [
    `${String(index).padStart(3)}  ${what}${attempt === null ? "" : ` attempt ${attempt}`}${said === "" ? "" : `: ${said}`}`,
    `       status ${status}${loops.length === 0 ? "" : `, ${loops.map(([name, count]) => `${name} ${count}`).join(", ")}`}${next.length === 0 ? "" : ` → ${next.map(describeExpected).join("; ")}`}`,
    ...(skipped.length === 0 ? [] : [`       passed over: ${skipped.join(", ")}`]),
    ...warnings.map((warning) => `       warning: ${warning}`),
  ];
  return lines.map((part) => plainText(part)).join("\n");
}

function formatFinal({ state, waitingFor, stage, status, counters }: Final): string {
  const loops = Object.entries(counters).map(([name, count]) => `${name} ${count}`);
  const at = stage === null ? "" : ` at ${stage}`;
  const waits = waitingFor === null ? "" : ` for a person (${waitingFor})`;
  return plainText(
    `final: ${state}${waits}${at}, status ${status}${loops.length === 0 ? "" : `, ${loops.join(", ")}`}`,
  );
}
