// A flow as text: its stages in order with their agents, the status words, the target of each outcome, and the loop budgets.

import type { FlowEntry } from "../../../catalog/catalog.ts";
import type { Counter, Flow, Route, Routes, Stage, StatusRule, WorkStage } from "../../../core/flow/flow.ts";
import { plainText } from "../../terminal/plain-text.ts";
import { isShared, sharedRoutes } from "./shared.ts";

export function describeFlow(flow: Flow, entry: FlowEntry): string[] {
  const shared = sharedRoutes(flow);
  const lines = [
    `${flow.name}${flow.title === undefined ? "" : `: ${flow.title}`}`,
    `version ${flow.version}, subject ${flow.subject}, ${entry.origin} file ${entry.file}`,
    ...(flow.description === undefined ? [] : [flow.description]),
    ...section("Inputs", inputLines(flow)),
    "",
    "Stages",
    ...flow.stages.flatMap((stage, at) => stageLines(stage, `${at + 1}`, "  ", shared)),
    ...section("Every agent, if its stage does not say otherwise", routeLines(shared, "  ", {})),
    ...section("Enter", enterLines(flow)),
    ...section(
      "Counters",
      Object.entries(flow.counters).map(([name, counter]) => `  ${name}: ${budget(counter)}`),
    ),
    ...section("Escalation", [`  ${flow.escalation.notify} chooses: ${choices(flow.escalation.choices)}`]),
    ...section("Words", wordLines(flow)),
  ];
  return lines.map((line) => plainText(line));
}

/** The inputs of a start, the facts that files decide, and the preflight checks. */
function inputLines({ inputs = [], family, chooseWhen, preflight }: Flow): readonly string[] {
  return [
    ...inputs.flatMap(({ name, kind, required, about, states, repository }) => [
      `  ${name}: ${kind}${required ? ", required" : ""}${about === undefined ? "" : `, ${about}`}${repository === undefined ? "" : `, --repo ${repository}=FOLDER`}`,
      ...states.map(
        ({ fact, labels, oneOf }) =>
          `    says ${fact} after "${labels[0] ?? ""}:" (${oneOf === "yes-no" ? "yes, no" : oneOf.join(", ")})`,
      ),
    ]),
    ...(family === undefined ? [] : [`  chosen by ${family} when ${chooseWhen ?? ""}`]),
    ...(preflight === undefined ? [] : [`  starts only if: ${preflight.join(", ")}`]),
  ];
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ["", title, ...lines];
}

function stageLines(stage: Stage, mark: string, indent: string, shared: Routes): string[] {
  const head = `${indent}${mark}. ${stage.id}`;
  const inner = `${indent}   `;
  const when = [
    ...(stage.title === undefined ? [] : [`${inner}${stage.title}`]),
    ...(stage.when === undefined ? [] : [`${inner}only when ${stage.when}`]),
    ...(stage.enterOnly ? [`${inner}only entered, never by next`] : []),
  ];
  switch (stage.kind) {
    case "gate": {
      const status = stage.status === undefined ? "" : `, status "${stage.status}"`;
      return [`${head}: gate, ${stage.who} decides${status}`, ...when, ...routeLines(stage.route, inner, {})];
    }
    case "parallel":
      return [
        `${head}: parallel, continues when done: ${stage.join.join(", ")}`,
        ...when,
        ...Object.entries(stage.tracks).flatMap(([track, plan]) => [
          `${inner}track ${track}`,
          ...plan.stages.flatMap((work, at) => stageLines(work, `${at + 1}`, `${inner}  `, shared)),
        ]),
      ];
    case "dynamic":
      return [
        `${head}: the stages that ${stage.from.join(" or ")} names`,
        ...when,
        ...Object.entries(stage.templates).flatMap(([agent, work]) => [
          `${inner}agent ${agent}`,
          ...workLines(work, `${inner}  `, shared),
        ]),
      ];
    case "agent":
    case "builtin":
    case "router": {
      const who = stage.kind === "agent" ? `agent ${stage.shownAgent}` : `${stage.kind} ${stage.shownAgent}`;
      return [`${head}: ${who}`, ...when, ...workLines(stage, inner, shared)];
    }
  }
}

function workLines(stage: WorkStage, indent: string, shared: Routes): string[] {
  const { ready, running } = stage.status;
  const words = [
    ...(ready === undefined ? [] : [`"${ready}" in line`]),
    ...(running === undefined ? [] : [`"${running}" at work`]),
  ];
  return [
    ...(words.length === 0 ? [] : [`${indent}status ${words.join(", ")}`]),
    ...(stage.model === undefined ? [] : [`${indent}model ${stage.model}`]),
    ...(stage.verdicts === undefined ? [] : [`${indent}verdicts ${stage.verdicts.join(", ")}`]),
    ...(stage.sameWorkspaceAs === undefined ? [] : [`${indent}in the same workspace as ${stage.sameWorkspaceAs}`]),
    ...routeLines(stage.route, indent, shared),
  ];
}

function routeLines(routes: Routes, indent: string, shared: Routes): string[] {
  return Object.entries(routes)
    .filter(([key, route]) => !isShared(shared, key, route))
    .map(([key, route]) => `${indent}${describeRoute(key, route)}`);
}

function describeRoute(key: string, route: Route): string {
  const parts = [
    ...(route.ask === undefined
      ? []
      : [
          route.ask.choices === undefined
            ? `asks ${route.ask.who}`
            : `${route.ask.who} chooses: ${choices(route.ask.choices)}`,
        ]),
    ...(route.counter === undefined ? [] : [`counts ${route.counter}`]),
    ...(route.carry.length === 0 ? [] : [`carries ${route.carry.join(", ")}`]),
    ...(route.status === undefined ? [] : [`status ${statusText(route.status)}`]),
    ...(route.onlyBlamed ? ["only the blamed tracks"] : []),
    ...(route.once ? ["once"] : []),
    ...(route.else === undefined ? [] : [`else ${route.else}`]),
  ];
  const target = route.ask?.choices === undefined ? `${key} → ${route.goto}` : key;
  return parts.length === 0 ? target : `${target} (${parts.join("; ")})`;
}

function choices(offered: Readonly<Record<string, string>>): string {
  return Object.entries(offered)
    .map(([answer, target]) => (answer === target ? answer : `${answer} → ${target}`))
    .join(", ");
}

function statusText(rule: StatusRule): string {
  return typeof rule === "string" ? `"${rule}"` : `"${rule.is}" when ${rule.when}, else "${rule.else}"`;
}

function enterLines(flow: Flow): string[] {
  return Object.entries(flow.enter).flatMap(([status, rules]) =>
    rules.map(({ when, stage }) => `  "${status}"${when === undefined ? "" : ` when ${when}`} → ${stage}`),
  );
}

function budget({ maxLoops, scope, onExhausted, column, resets }: Counter): string {
  const limit = maxLoops === null ? "no limit" : `max ${maxLoops} loop${maxLoops === 1 ? "" : "s"}`;
  return [
    `${limit} per ${scope}`,
    `then ${onExhausted}`,
    ...(resets.length === 0 ? [] : [`starts ${resets.join(", ")} anew`]),
    ...(column === null ? [] : [`shown as ${column}`]),
  ].join(", ");
}

function wordLines({ words }: Flow): readonly string[] {
  const pairs = (table: Readonly<Record<string, string | undefined>>): string =>
    Object.entries(table)
      .map(([word, meaning]) => (word === meaning ? word : `${word} = ${meaning}`))
      .join(", ");
  const status = Object.entries(words.status).map(([state, word]) => `${state} is shown as "${word}"`);
  return [
    `  verdicts: ${pairs(words.verdict) || "none"}; any other is ${words.unknownVerdict}`,
    `  health: ${pairs(words.health) || "none"}; any other is ${words.unknownHealth}`,
    ...(status.length === 0 ? [] : [`  status: ${status.join(", ")}`]),
  ];
}
