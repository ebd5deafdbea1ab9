// Flows and agents for the API in the version that takes effect, read on every request, because people approve new ones while the daemon runs.

import { catalogFolders, loadCatalog } from "../../catalog/catalog.ts";
import { err } from "../../core/result.ts";
import { shippedDir } from "../../settings/site.ts";
import type { TrustPlace } from "../../settings/trust/approval.ts";
import { filesToShow } from "../../settings/trust/in-effect.ts";
import type { ServerDeps } from "./deps.ts";

export function openFlowFiles(place: TrustPlace): Pick<ServerDeps, "agents" | "flows"> {
  const catalog = () => loadCatalog({ shippedDir, ...catalogFolders(place.project, filesToShow(place)) });
  return {
    flows: {
      list() {
        const known = catalog();
        return known.listFlows().map(({ name, file, origin }) => {
          const read = known.requireFlow(name);
          const flow = read.ok ? read.value.flow : undefined;
          const inputs = (flow?.inputs ?? []).map(({ name: fact, kind, required, about = "" }) => ({
            name: fact,
            kind,
            required,
            about,
          }));
          return { name, title: flow?.title ?? name, file, origin, family: flow?.family ?? null, inputs };
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
