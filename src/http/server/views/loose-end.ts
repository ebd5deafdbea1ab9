// A loose end on the wire.

import type { z } from "zod";
import type { LooseEnd } from "../../../core/view/loose-end.ts";
import type { looseEndSchema } from "../../contract/schemas/loose-end.ts";

export function showLooseEnd(end: LooseEnd): z.input<typeof looseEndSchema> {
  const { id, kind, title, text, since, run, ticket, verbs } = end;
  const shownRun = run === null ? null : { ...run };
  return { id, kind, title, text, since, run: shownRun, ticket, verbs: verbs.map((each) => ({ ...each })) };
}
