// `node scripts/event-reference.ts` writes docs/events.md from the type of events, so that the two agree.

import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync } from "oxc-parser";

const SOURCE = join(import.meta.dirname, "../src/core/run/event.ts");
export const EVENTS_PATH = join(import.meta.dirname, "../docs/events.md");

type Node = { readonly type: string; readonly start: number; readonly end: number } & Readonly<Record<string, unknown>>;
type Variant = { readonly type: string; readonly fields: readonly string[]; readonly about: string };

const HEAD = `# Events

Everything that happens to a run is an event: stored in order, never changed, never removed. The run is the fold of its events ([ARCHITECTURE.md](ARCHITECTURE.md)). \`passrail runs events RUN --json\` prints them, \`GET /api/runs/{run}/events\` and the live stream \`GET /api/events\` have the same ([api.md](api.md)).
Each has \`type\`, \`at\` (ISO 8601, UTC) and \`actor\` (\`engine\`, \`system\`, \`agent:NAME\`, \`human:NAME\`), a number that grows over the whole store, and the fields below. \`?\` marks a field that may be absent. New types and new fields may come; a type never changes its meaning.

\`node scripts/event-reference.ts\` writes this page from \`src/core/run/event.ts\`.
`;

export function eventReference(): string {
  const rows = variantsOf(readFileSync(SOURCE, "utf8")).map(
    ({ type, fields, about }) => `| \`${type}\` | ${fields.map((field) => `\`${field}\``).join(", ")} | ${about} |`,
  );
  return [HEAD, "| event | fields | |", "|---|---|---|", ...rows, ""].join("\n");
}

function variantsOf(text: string): readonly Variant[] {
  const { program, comments } = parseSync(SOURCE, text);
  // Types of events are made of others of core; the name of an exported type exists once.
  const others = globSync(join(import.meta.dirname, "../src/core/{run,budget,finding,flow}/*.ts"))
    .filter((path) => !path.endsWith(".test.ts"))
    .flatMap((path) => typesIn(parseSync(path, readFileSync(path, "utf8")).program as unknown as Node));
  const types = new Map([...others, ...typesIn(program as unknown as Node)]);
  const union = types.get("EventBody");
  if (union?.type !== "TSUnionType") throw new Error("EventBody is no union any more");
  let before = union.start;
  return (union["types"] as Node[]).map((each) => {
    const from = before;
    before = each.end;
    const fields = fieldsOf(each, types);
    // The comment above the variant; the bar of the union stands between them.
    const about = comments.findLast(({ start, end }) => start >= from && end <= each.start)?.value ?? "";
    return {
      ...fields,
      about: about
        .replaceAll(/\s*\*\s*/gu, " ")
        .replaceAll("|", "\\|")
        .trim(),
    };
  });
}

function typesIn(program: Node): readonly (readonly [string, Node])[] {
  return (program["body"] as Node[]).flatMap((each) => {
    const declared = (each.type === "ExportNamedDeclaration" ? each["declaration"] : each) as Node | null;
    return declared?.type === "TSTypeAliasDeclaration"
      ? [[String((declared["id"] as Node)["name"]), declared["typeAnnotation"] as Node] as const]
      : [];
  });
}

function fieldsOf(
  node: Node,
  types: ReadonlyMap<string, Node>,
): { readonly type: string; readonly fields: readonly string[] } {
  const fields: string[] = [];
  let type = "";
  const visit = (each: Node): void => {
    if (each.type === "TSParenthesizedType") visit(each["typeAnnotation"] as Node);
    if (each.type === "TSIntersectionType") (each["types"] as Node[]).forEach(visit);
    if (each.type === "TSTypeReference") {
      const name = String((each["typeName"] as Node)["name"]);
      const known = types.get(name);
      if (known === undefined) fields.push(`…${name}`);
      else visit(known);
    }
    if (each.type !== "TSTypeLiteral") return;
    for (const member of each["members"] as Node[]) {
      const name = String((member["key"] as Node)["name"]);
      if (name === "type") type = literalOf(member);
      else fields.push(`${name}${member["optional"] === true ? "?" : ""}`);
    }
  };
  visit(node);
  return { type, fields };
}

function literalOf(member: Node): string {
  const annotation = (member["typeAnnotation"] as Node)["typeAnnotation"] as Node;
  const value = (annotation["literal"] as Node | undefined)?.["value"];
  return typeof value === "string" ? value : "";
}

if (import.meta.main) writeFileSync(EVENTS_PATH, eventReference());
