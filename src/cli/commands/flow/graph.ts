// A flow as a Mermaid flowchart. Boxes are work, rounded boxes wait for people; a solid edge is automatic, a person takes a dotted one.

import type { Flow, Stage } from "../../../core/flow/flow.ts";
import { type Edge, edgesOf, NODE, nodeId, templateId, trackId } from "./edges.ts";

export function drawFlow(flow: Flow): string {
  const edges = edgesOf(flow);
  const used = new Set(edges.flatMap(({ from, to }) => [from, to]));
  const { status } = flow.words;
  const choices = Object.keys(flow.escalation.choices).join(", ");
  const others: readonly (readonly [string, string])[] = [
    [NODE.everyAgent, `{{${quote("every agent")}}}`],
    [NODE.nextStage, `{{${quote("its next stage")}}}`],
    [NODE.escalation, `(${quote("escalation", `${flow.escalation.notify}: ${choices}`)})`],
    [NODE.done, `((${quote(status.completed ?? "done")}))`],
    [NODE.stopped, `((${quote(status.stopped ?? "stopped")}))`],
    [NODE.canceled, `((${quote(status.canceled ?? "canceled")}))`],
  ];
  return [
    "flowchart TD",
    `  ${NODE.begin}((${quote(flow.subject)}))`,
    ...flow.stages.flatMap((stage) => nodesOf(stage, "  ")),
    ...others.filter(([id]) => used.has(id)).map(([id, shape]) => `  ${id}${shape}`),
    ...edges.map(draw),
  ].join("\n");
}

function nodesOf(stage: Stage, indent: string): readonly string[] {
  const id = nodeId(stage.id);
  const shown = stage.title ?? stage.id;
  const condition = stage.when === undefined ? [] : [`if ${stage.when}`];
  switch (stage.kind) {
    case "gate":
      return [`${indent}${id}(${quote(shown, `${stage.who} decides`, ...condition)})`];
    case "parallel":
      return [
        `${indent}subgraph ${id} [${quote(shown, ...condition)}]`,
        ...Object.entries(stage.tracks).flatMap(([track, { stages }]) => [
          `${indent}  subgraph ${trackId(stage, track)} [${quote(`track ${track}`)}]`,
          ...stages.flatMap((inner) => nodesOf(inner, `${indent}    `)),
          `${indent}  end`,
        ]),
        `${indent}end`,
      ];
    case "dynamic":
      return [
        `${indent}subgraph ${id} [${quote(shown, `from ${stage.from.join(" or ")}`, ...condition)}]`,
        ...Object.keys(stage.templates).map(
          (agent) => `${indent}  ${templateId(stage, agent)}[${quote(agent === "*" ? "any other agent" : agent)}]`,
        ),
        `${indent}end`,
      ];
    case "agent":
    case "builtin":
    case "router": {
      const who = stage.shownAgent.toLowerCase() === stage.id.toLowerCase() ? [] : [stage.shownAgent];
      return [`${indent}${id}[${quote(shown, ...who, ...condition)}]`];
    }
  }
}

function draw({ from, to, label, isHuman }: Edge): string {
  return `  ${from} ${isHuman ? "-.->" : "-->"}${label === "" ? "" : `|${quote(label)}|`} ${to}`;
}

/** Text in Mermaid's quotes: nothing in it can end the label or become markup. */
function quote(...lines: readonly string[]): string {
  const safe = lines.map((line) => line.replaceAll(/[#"<>&|`\\]/gu, (sign) => `#${sign.codePointAt(0)};`));
  return `"${safe.map((line) => line.replaceAll(/\s+/gu, " ")).join("<br/>")}"`;
}
