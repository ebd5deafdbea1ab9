// `flow test`: plays the cases of `.passrail/flow-tests/FLOW.yaml` through the same transition as a real run, and compares where each ends.
// Uses no agent and no store.

import { basename, join } from "node:path";
import { z } from "zod";
import { placeInputs } from "../../../app/start-run/inputs.ts";
import { err, ok, type Result } from "../../../core/result.ts";
import { type Final, simulate } from "../../../core/run/simulate.ts";
import { listFiles, readText } from "../../../file/read-text.ts";
import { readYaml } from "../../../file/yaml.ts";
import { CliError, EXIT } from "../../errors.ts";
import type { Io } from "../../terminal/io.ts";
import { paint, printJson } from "../../terminal/output.ts";
import { oneLine, plainText } from "../../terminal/plain-text.ts";
import { flowError, requireFlow } from "./catalog.ts";
import { readOutcomes } from "./outcomes.ts";

const FOLDER = join(".passrail", "flow-tests");

const expected = z
  .strictObject({
    state: z.enum(["running", "waiting", "stopped", "completed", "canceled"]).optional(),
    status: z.string().max(200).optional(),
    stage: z.string().max(200).nullable().optional(),
    waiting_for: z.enum(["gate", "question", "choice", "escalation", "budget"]).nullable().optional(),
    counters: z.record(z.string(), z.int().min(0)).optional(),
  })
  .refine((value) => Object.keys(value).length > 0, { message: "say at least one thing that is expected" });

const testFile = z.strictObject({
  cases: z
    .array(
      z.strictObject({
        name: z.string().min(1).max(200),
        input: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
        outcomes: z.array(z.looseObject({})).max(10_000),
        expect: expected,
      }),
    )
    .min(1)
    .max(1000),
});
type Case = z.infer<typeof testFile>["cases"][number];

/** `problem`: null if the case ends as expected. */
type CaseEnd = { readonly flow: string; readonly name: string; readonly problem: string | null };

export async function flowTest(io: Io, names: readonly string[]): Promise<number> {
  const flows = names.length > 0 ? names : testedFlows(io);
  if (flows.length === 0)
    throw new CliError(
      "flow_tests_missing",
      `There are no tests of flows in ${join(io.cwd, FOLDER)}.`,
      `Write ${join(FOLDER, "FLOW.yaml")}; docs/flows.md shows one.`,
    );
  const ends = flows.flatMap((flow) => playAll(io, flow));
  const failed = ends.filter(({ problem }) => problem !== null).length;
  if (io.json) printJson(io, { cases: ends, failed });
  else {
    for (const end of ends) if (!io.quiet || end.problem !== null) tell(io, end);
    if (!io.quiet) io.err(`${ends.length - failed} passed, ${failed} failed`);
  }
  return failed === 0 ? EXIT.ok : EXIT.error;
}

function testedFlows({ cwd }: Io): readonly string[] {
  return listFiles(join(cwd, FOLDER), [".yaml"]).map((file) => basename(file, ".yaml"));
}

function tell(io: Io, { flow, name, problem }: CaseEnd): void {
  if (io.plain)
    io.out(
      [problem === null ? "pass" : "fail", flow, name, problem ?? ""].map((cell) => oneLine(cell, 400)).join("\t"),
    );
  else {
    io.out(`${problem === null ? paint(io, "green", "✓") : paint(io, "red", "✗")} ${oneLine(`${flow}: ${name}`, 200)}`);
    if (problem !== null) io.out(`    ${plainText(problem)}`);
  }
}

function playAll(io: Io, flow: string): readonly CaseEnd[] {
  const cases = readCases(io, flow);
  if (!cases.ok) throw new CliError(cases.error.code, cases.error.message, cases.error.hint ?? "");
  const { catalog, checked } = requireFlow(io, flow);
  const resolved = catalog.resolve(flow);
  if (!resolved.ok) throw flowError(flow, resolved.error);
  const knownAgents = Object.keys(resolved.value.agents);
  return cases.value.map(({ name, input = {}, outcomes, expect }): CaseEnd => {
    const placed = placeInputs(checked.flow, Object.entries(input));
    if (!placed.ok) return { flow, name, problem: placed.error.message };
    const script = readOutcomes(JSON.stringify(outcomes));
    if (!script.ok) return { flow, name, problem: script.error.message };
    const { final, problem } = simulate(checked.flow, script.value, { facts: placed.value.facts, knownAgents });
    return { flow, name, problem: problem?.message ?? difference(expect, final) };
  });
}

function readCases({ cwd }: Io, flow: string): Result<readonly Case[]> {
  const file = join(cwd, FOLDER, `${flow}.yaml`);
  const text = /^[\w.-]+$/u.test(flow) ? readText(file, cwd, "flow_tests") : undefined;
  if (text === undefined || !text.ok)
    return err({
      code: "flow_tests_missing",
      message: `${flow} has no tests: ${file} cannot be read.`,
      hint: "docs/flows.md shows such a file.",
    });
  const read = readYaml(text.value, { file, subject: "flow_tests" });
  if (!read.ok) {
    const [first] = read.error;
    return err({
      code: "flow_tests_invalid",
      message: `${file}:${first?.line ?? 1}: ${first?.message ?? "cannot be read"}`,
    });
  }
  const parsed = testFile.safeParse(read.value.value);
  if (parsed.success) return ok(parsed.data.cases);
  const [first] = parsed.error.issues;
  const path = (first?.path ?? []).filter((step) => typeof step !== "symbol");
  const message = `${file}:${read.value.at(path).line}: ${path.join(".")}: ${first?.message ?? "is not valid"}`;
  return err({ code: "flow_tests_invalid", message });
}

/** The first thing that is not as expected; null if all is. */
function difference(wanted: Case["expect"], final: Final): string | null {
  const { state, status, stage, waitingFor } = final;
  const pairs = [
    ["state", wanted.state, state],
    ["status", wanted.status, status],
    ["stage", wanted.stage, stage],
    ["waiting_for", wanted.waiting_for, waitingFor],
  ] as const;
  for (const [key, value, seen] of pairs)
    if (value !== undefined && value !== seen)
      return `${key} is ${seen ?? "none"}, expected ${value ?? "none"} (it ended ${state}, ${status})`;
  for (const [name, count] of Object.entries(wanted.counters ?? {}))
    if (final.counters[name] !== count)
      return `counter ${name} is ${final.counters[name] ?? "unknown"}, expected ${count}`;
  return null;
}
