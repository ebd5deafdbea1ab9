// The flow file as JSON Schema, so that editors complete and check a flow while it is written.

import { flowSchema, type SchemaNode } from "../core/check/schema-at.ts";

export function flowJsonSchema(): SchemaNode & { readonly title: string } {
  return { ...flowSchema(), title: "Passrail flow" };
}
