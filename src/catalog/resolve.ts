// The part of the catalog that a run keeps: its flow, the agents and prompts that the flow can use, and one hash over all of it.

import { createHash } from "node:crypto";
import { join } from "node:path";
import type { ResolvedFlow } from "../core/flow/agent.ts";
import type { FileProblem } from "../core/check/problem.ts";
import { type Flow, isWildcard } from "../core/flow/flow.ts";
import { canonicalJson } from "../core/json.ts";
import { err, ok, type Result } from "../core/result.ts";
import type { AgentFile } from "./agent-file.ts";
import { withPools } from "./pool.ts";

export function resolveWith(
  written: Flow,
  known: ReadonlyMap<string, AgentFile>,
  promptNames: readonly string[],
  loadPrompt: (name: string) => Result<string>,
): Result<ResolvedFlow, readonly FileProblem[]> {
  const flow = withPools(written, known);
  const { names, all } = agentsOf(flow);
  const used = [...known].filter(([name]) => all || names.has(name)).sort(([a], [b]) => (a < b ? -1 : 1));
  const agents = Object.fromEntries(used.map(([name, { file: _file, origin: _origin, ...agent }]) => [name, agent]));
  const prompts: Record<string, string> = {};
  const problems: FileProblem[] = [];
  // The fragments of a prompt are chosen when it is composed, so the run keeps all of them.
  const wanted = [...promptFilesOf(flow), ...promptNames.filter((name) => name.startsWith("fragments/"))];
  for (const name of wanted) {
    const prompt = loadPrompt(name);
    if (prompt.ok) prompts[name] = prompt.value;
    else problems.push({ ...prompt.error, severity: "error", file: join("prompts", `${name}.md`), line: 1, column: 1 });
  }
  if (problems.length > 0) return err(problems);
  return ok(hashed({ flow, agents, prompts }));
}

function agentsOf(flow: Flow): { readonly names: ReadonlySet<string>; readonly all: boolean } {
  const names = new Set<string>();
  let all = false;
  for (const stage of flow.stages) {
    switch (stage.kind) {
      case "agent":
      case "router":
        names.add(stage.agent);
        break;
      case "parallel":
        for (const { stages } of Object.values(stage.tracks)) for (const { agent } of stages) names.add(agent);
        break;
      case "dynamic":
        for (const agent of Object.keys(stage.templates)) {
          if (isWildcard(agent)) all = true;
          else names.add(agent);
        }
        break;
      case "gate":
      case "builtin":
        break;
    }
  }
  return { names, all };
}

function promptFilesOf(flow: Flow): readonly string[] {
  const works = flow.stages.flatMap((stage) => {
    if (stage.kind === "parallel") return Object.values(stage.tracks).flatMap(({ stages }) => stages);
    if (stage.kind === "dynamic") return Object.values(stage.templates);
    return stage.kind === "gate" ? [] : [stage];
  });
  return [...new Set(works.flatMap(({ promptFile }) => (promptFile === undefined ? [] : [promptFile])))];
}

/** One hash over everything that a run keeps of its flow. */
export function hashed({ flow, agents, prompts }: Omit<ResolvedFlow, "hash">): ResolvedFlow {
  const hash = createHash("sha256").update(canonicalJson({ flow, agents, prompts })).digest("hex");
  return { flow, agents, prompts, hash };
}
