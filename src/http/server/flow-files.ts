// Flows and agents for the API, read on every request, because people edit these files while the daemon runs.

import { loadCatalog } from "../../catalog/catalog.ts";
import { err } from "../../core/result.ts";
import { shippedDir } from "../../settings/site.ts";
import type { ServerDeps } from "./deps.ts";

export function openFlowFiles(project: string): Pick<ServerDeps, "agents" | "flows"> {
  const catalog = () => loadCatalog({ shippedDir, projectDir: project });
  return {
    flows: {
      list() {
        const known = catalog();
        return known.listFlows().map(({ name, file, origin }) => {
          const read = known.requireFlow(name);
          return { name, title: (read.ok ? read.value.flow.title : undefined) ?? name, file, origin };
        });
      },
      resolve(name) {
        const known = catalog();
        if (!known.listFlows().some((flow) => flow.name === name))
          return err({ code: "flow_not_found", message: `There is no flow ${name}.` });
        const resolved = known.resolve(name);
        if (resolved.ok) return resolved;
        const [first] = resolved.error;
        const message = first === undefined ? name : `${first.file}:${first.line}:${first.column}: ${first.message}`;
        return err({ code: "flow_invalid", message });
      },
      source(name) {
        const known = catalog();
        const entry = known.listFlows().find((flow) => flow.name === name);
        if (entry === undefined) return undefined;
        const text = known.flowText(name);
        const checked = known.requireFlow(name);
        return {
          file: entry.file,
          origin: entry.origin,
          text: text?.ok === true ? text.value : null,
          problems: checked.ok ? checked.value.problems : checked.error,
        };
      },
    },
    agents: () =>
      [...catalog().agents().agents.values()].map(({ name, description, model = null, file, origin }) => ({
        name,
        description,
        model,
        file,
        origin,
      })),
  };
}
