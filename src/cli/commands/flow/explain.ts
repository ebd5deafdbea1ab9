// `flow explain FLOW "task"`: how a router would treat the task, without a model and without a run.

import type { RouteExplanation } from "../../../core/view/explain-route.ts";
import { explainRoute } from "../../../core/view/explain-route.ts";
import { findStart } from "../../../app/start-run/find-start.ts";
import { EXIT, problemError } from "../../errors.ts";
import { readTask } from "../../task-text.ts";
import type { Io } from "../../terminal/io.ts";
import { printJson } from "../../terminal/output.ts";
import { oneLine } from "../../terminal/plain-text.ts";
import { flowError, openCatalog } from "./catalog.ts";

const WIDTH = 200;

export async function flowExplain(io: Io, word: string, text: string): Promise<number> {
  const catalog = openCatalog(io);
  const start = findStart(catalog, word);
  if (!start.ok) throw problemError(start.error);
  const { flow, by, input } = start.value;
  const resolved = catalog.resolve(flow);
  if (!resolved.ok) throw flowError(flow, resolved.error);
  const { title, body } = await readTask(io, { text, ticket: undefined });
  const routers = by === "agent" ? [] : explainRoute(resolved.value, `${title}\n${body}`);
  const named = input[0]?.[1];
  const agent = by === "agent" && typeof named === "string" ? named : null;
  if (io.json) printJson(io, { flow, agent, routers });
  else for (const line of linesOf(flow, agent, routers)) io.out(oneLine(line, WIDTH));
  return EXIT.ok;
}

function linesOf(flow: string, agent: string | null, routers: readonly RouteExplanation[]): readonly string[] {
  if (agent !== null) return [`${flow}: a person names ${agent}; the router is skipped and one stage runs`];
  if (routers.length === 0) return [`${flow} has no router: its stages are in the file (passrail flow show ${flow})`];
  return routers.flatMap((router) => [
    `${flow}: ${router.agent} chooses with ${router.model ?? "the runner's own model"}${
      router.maxTokens === null ? "" : `, at most ${router.maxTokens} output tokens`
    }`,
    "may choose:",
    ...router.pool.map(({ agent: name, why, description }) => `  ${name}  (${why})  ${description}`),
    `may not choose: ${router.others.join(", ")}`,
    FALLBACKS[router.fallback],
    ...router.rules.map((rule) => `  ${rule.fires ? "▶" : " "} ${rule.rule}: ${ruleText(rule)}`),
  ]);
}

const FALLBACKS: Readonly<Record<RouteExplanation["fallback"], string>> = {
  rules: "without a usable answer after one repair, the first rule that fits chooses:",
  unreachable: "if the model cannot be reached, the first rule that fits chooses:",
  stop: "without a usable answer the run stops; the rules would say:",
};

function ruleText({ why, looksFor, stages }: RouteExplanation["rules"][number]): string {
  const list = stages.map(({ agent, teams }) => (teams ? `${agent} (team)` : agent)).join(" → ");
  return why === undefined ? `does not fit (looks for ${looksFor})` : `${why}: ${list}`;
}
