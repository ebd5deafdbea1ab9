// `node scripts/flow-reference.ts` writes docs/flow-reference.md from the schema of flow files, so that the two agree.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { forms, type SchemaNode, schemaAt } from "../src/core/check/schema-at.ts";
import type { Path } from "../src/core/check/problem.ts";
import { DURATION_PATTERN } from "../src/core/flow/flow-file.ts";
import { NAME_PATTERN } from "../src/core/flow/name.ts";

export const REFERENCE_PATH = join(import.meta.dirname, "../docs/flow-reference.md");

type Section = { readonly title: string; readonly path: Path; readonly about: string; readonly without?: Path };

const STAGE: Path = ["stages", 0];
const ROUTE: Path = [...STAGE, "route", "pass"];

const SECTIONS: readonly Section[] = [
  { title: "The flow", path: [], about: "The keys at the top of the file." },
  { title: "stages", path: STAGE, about: "One entry per stage, in order. `next` leads to the one below." },
  { title: "stages: status", path: [...STAGE, "status"], about: "Instead of one word." },
  { title: "stages: turns", path: [...STAGE, "turns"], about: "Instead of one number." },
  { title: "stages: mcp", path: [...STAGE, "mcp", "name"], about: "An MCP server is a program or an address." },
  { title: "stages: gates", path: [...STAGE, "gates"], about: "Which quality gates a stage runs again." },
  {
    title: "stages: notes",
    path: [...STAGE, "notes"],
    about: "The notes that a pass must have written into a document.",
  },
  { title: "stages: retires", path: [...STAGE, "retires"], about: "Documents that leave the branch with a pass." },
  { title: "stages: covers", path: [...STAGE, "covers"], about: "Instead of `all`." },
  { title: "stages: notify", path: [...STAGE, "notify"], about: "A message when a gate opens." },
  {
    title: "route",
    path: ROUTE,
    about:
      "The next stage after an outcome. The key is a verdict (`pass`, `revise`, `redesign`, `reject`, `exhausted`), a health (`blocked`, `failed`, `incomplete`), `checks_failed`, a gate's answer, or the `on_exhausted` of a counter. The value is a target, or these keys.",
  },
  { title: "route: status", path: [...ROUTE, "status"], about: "Instead of one word." },
  { title: "result", path: [...STAGE, "result"], about: "In which form an attempt reports." },
  { title: "limits", path: [...STAGE, "limits"], about: "When an attempt is ended." },
  { title: "tracks", path: [...STAGE, "tracks", "name"], about: "The tracks of a stage of kind parallel, by name." },
  {
    title: "tracks: stages",
    path: [...STAGE, "tracks", "name", "stages", 0],
    about: "A stage of a track has the keys of a stage; these differ.",
    without: STAGE,
  },
  {
    title: "templates",
    path: [...STAGE, "templates", "name"],
    about: "A template of a dynamic stage has the keys of a stage, without `id` and `kind`.",
    without: STAGE,
  },
  {
    title: "then_in_same_workspace",
    path: [...STAGE, "then_in_same_workspace", 0],
    about: "A follow-up has the keys of a stage of kind agent.",
    without: STAGE,
  },
  {
    title: "words",
    path: ["words"],
    about: "The source's own words. They are stored and shown beside what they mean.",
  },
  { title: "words: score", path: ["words", "score"], about: "A verdict and the scores that mean it, as [from, to]." },
  { title: "words: status", path: ["words", "status"], about: "A state of the run and the word for it." },
  {
    title: "checks",
    path: ["checks", "name"],
    about:
      "Programs that Passrail runs on finished work, by name: an argument list, or these keys. The project's settings have the same key; the flow's own definition wins. A red check takes the way `checks_failed` of its stage's route, otherwise that of `revise`, otherwise the stage works again, at most three times (the counter `checks`).",
  },
  { title: "counters", path: ["counters", "name"], about: "Budgets of loops, by name." },
  { title: "escalation", path: ["escalation"], about: "The choices when people have to decide." },
  {
    title: "workspace",
    path: ["workspace"],
    about: "Where attempts work. Allowed in the flow, in `defaults`, in a track and in a stage.",
  },
  { title: "defaults", path: ["defaults"], about: "The values for every stage that does not set its own." },
  { title: "choose", path: ["choose"], about: "Which work this flow is for." },
  {
    title: "inputs",
    path: ["inputs", "plan.spec"],
    about:
      "Files and folders that a start names, by the fact that holds the path, in the order in which agents read them. They stay inside the project and lead through no link. A file is copied and hashed at the start; if it changes later, the next stage that reads it waits for a person.",
  },
  {
    title: "inputs: states",
    path: ["inputs", "plan.spec", "states", "plan.complexity"],
    about:
      "A fact that a file states in a line, a heading, a list item or a row of a table. Exactly one of `one_of` and `yes_no`.",
  },
  {
    title: "bundles",
    path: ["bundles"],
    about:
      "The further content that the builtin `bundles` puts into dev-bundle.md and tester-bundle.md besides spec, plan and task. The setting `standards` adds files.",
  },
  {
    title: "enter",
    path: ["enter", "status", 0],
    about: "Status of a ticket and the stage at which its run begins: an id, or a list of these rules.",
  },
  {
    title: "pick",
    path: ["pick"],
    about:
      "Which waiting tickets start: those in a status of `enter` that `skip` does not list, whose dependencies are `satisfied`. Settings say where the files are, how many stages run at once and how long the dispatcher waits.",
  },
  { title: "merge", path: ["merge"], about: "How finished work leaves the workspace." },
  { title: "handoffs", path: ["handoffs"], about: "The handoffs API." },
  { title: "log", path: ["log"], about: "Lines of the run's log." },
];

export function flowReference(): string {
  const head = [
    "# Flow reference",
    "",
    "Every key of a flow file. This page is made from the schema that checks the files; [flows.md](flows.md) explains how they work together.",
    "Keys in **bold** are required.",
  ];
  return `${[...head, ...SECTIONS.flatMap(describeSection)].join("\n")}\n`;
}

function describeSection({ title, path, about, without }: Section): readonly string[] {
  const known = new Set(
    without === undefined ? [] : schemaAt(without).flatMap((node) => Object.keys(node.properties ?? {})),
  );
  const nodes = schemaAt(path);
  const rows = nodes.flatMap((node) => [
    ...Object.entries(node.properties ?? {}).flatMap(([key, value]) => {
      if (known.has(key) && key !== "kind") return [];
      const name = node.required?.includes(key) === true ? `**\`${key}\`**` : `\`${key}\``;
      return [`| ${name} | ${valueOf(value)} | ${(value.description ?? "").replaceAll("<", "&lt;")} |`];
    }),
    ...(node.propertyNames?.enum ?? []).map((key) => `| \`${String(key)}\` | ${valueOf(additional(node))} | |`),
  ]);
  const table = rows.length === 0 ? [] : ["", "| key | value | meaning |", "|---|---|---|", ...rows];
  return ["", `## ${title}`, "", about, ...table];
}

function valueOf(node: SchemaNode | undefined): string {
  return [...new Set(forms(node).map(formOf))].join(" or ");
}

function formOf(node: SchemaNode): string {
  if (node.enum !== undefined) return node.enum.map((word) => `\`${String(word)}\``).join(", ");
  if ("const" in node) return `\`${String(node.const)}\``;
  switch (node.type) {
    case "string":
      return node.pattern === DURATION_PATTERN.source
        ? "duration"
        : node.pattern === NAME_PATTERN.source
          ? "name"
          : "text";
    case "integer":
    case "number":
      return node.maximum === undefined || node.maximum >= Number.MAX_SAFE_INTEGER
        ? "number"
        : `number ${node.minimum ?? 0} to ${node.maximum}`;
    case "boolean":
      return "`true`, `false`";
    case "array":
      return node.prefixItems === undefined
        ? `list of ${valueOf(node.items)}`
        : `[${node.prefixItems.map(valueOf).join(", ")}]`;
    case "object":
      return node.properties === undefined ? `name -> ${valueOf(additional(node))}` : "mapping";
    case undefined:
      return "anything";
    default:
      return node.type;
  }
}

function additional(node: SchemaNode): SchemaNode | undefined {
  return typeof node.additionalProperties === "object" ? node.additionalProperties : undefined;
}

if (import.meta.main) writeFileSync(REFERENCE_PATH, flowReference());
