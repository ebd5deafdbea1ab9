// Reads the flow with this name from its current files, or explains in one sentence why it cannot be used.

import { loadCatalog } from "../../catalog/catalog.ts";
import type { ResolvedFlow } from "../../core/flow/agent.ts";
import { err, type Result } from "../../core/result.ts";
import { shippedDir } from "../../settings/site.ts";

/** `flow_not_found` or `flow_invalid`. Reads the files on every call, because people edit flows while programs run. */
export function resolveFlow(project: string, name: string): Result<ResolvedFlow> {
  const catalog = loadCatalog({ shippedDir, projectDir: project });
  const known = catalog.listFlows().map((flow) => flow.name);
  if (!known.includes(name))
    return err({
      code: "flow_not_found",
      message: `There is no flow ${JSON.stringify(name)}.`,
      hint: `Known flows: ${known.join(", ")}`,
    });
  const resolved = catalog.resolve(name);
  if (resolved.ok) return resolved;
  const [first] = resolved.error;
  const message = first === undefined ? name : `${first.file}:${first.line}:${first.column}: ${first.message}`;
  return err({ code: "flow_invalid", message, hint: `passrail flow check ${name}` });
}
