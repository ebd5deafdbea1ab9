// The schema's rules for a place in a flow file: the keys, numbers and words allowed there.
// Derived from the same zod schema as the types, so a hint can never disagree with the check.

import { z } from "zod";
import { flowFileSchema } from "../flow/flow-file.ts";
import type { Path } from "./problem.ts";

export type SchemaNode = {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: SchemaNode | boolean;
  readonly propertyNames?: SchemaNode;
  readonly items?: SchemaNode;
  readonly prefixItems?: readonly SchemaNode[];
  readonly anyOf?: readonly SchemaNode[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
};

let root: SchemaNode | undefined;

/** The flow file as JSON Schema, made once. */
export function flowSchema(): SchemaNode {
  root ??= z.toJSONSchema(flowFileSchema, { io: "input" }) as SchemaNode;
  return root;
}

/** The forms allowed at a path; several where the schema allows several. */
export function schemaAt(path: Path): readonly SchemaNode[] {
  let nodes = forms(flowSchema());
  for (const step of path) nodes = nodes.flatMap((node) => forms(inside(node, step)));
  return nodes;
}

export function allowedKeys(path: Path): readonly string[] {
  return [...new Set(schemaAt(path).flatMap((node) => [...Object.keys(node.properties ?? {}), ...namesOf(node)]))];
}

export function allowedWords(path: Path): readonly string[] {
  return [
    ...new Set(
      schemaAt(path).flatMap((node) => [...(node.enum ?? []), ...("const" in node ? [node.const] : [])].map(String)),
    ),
  ];
}

/** All alternatives of a node, nested ones expanded. */
export function forms(node: SchemaNode | undefined): readonly SchemaNode[] {
  if (node === undefined) return [];
  return node.anyOf === undefined ? [node] : node.anyOf.flatMap(forms);
}

function inside(node: SchemaNode, step: string | number): SchemaNode | undefined {
  if (typeof step === "number") return node.prefixItems?.[step] ?? node.items;
  if (node.properties !== undefined && Object.hasOwn(node.properties, step)) return node.properties[step];
  return typeof node.additionalProperties === "object" ? node.additionalProperties : undefined;
}

function namesOf(node: SchemaNode): readonly string[] {
  return (node.propertyNames?.enum ?? []).map(String);
}
