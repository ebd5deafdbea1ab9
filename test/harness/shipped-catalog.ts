// The shipped flows with their agents and prompts, as the program resolves them.

import { loadCatalog } from "../../src/catalog/catalog.ts";
import type { ResolvedFlow } from "../../src/core/flow/agent.ts";
import { shippedDir } from "../../src/settings/site.ts";

/** Its files do not change while tests run, and reading them takes longer than many a run. */
const shipped = loadCatalog({ shippedDir });

export function resolveShipped(name: string, projectDir?: string): ResolvedFlow {
  const catalog = projectDir === undefined ? shipped : loadCatalog({ shippedDir, projectDir });
  const resolved = catalog.resolve(name);
  if (!resolved.ok) throw new Error(JSON.stringify(resolved.error));
  return resolved.value;
}
