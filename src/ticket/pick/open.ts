// The dispatcher of a project, put together from what is open: flows are read anew for every ticket, because people edit them meanwhile.

import { loadCatalog } from "../../catalog/catalog.ts";
import { loadSettings } from "../../settings/load.ts";
import { type Environment, shippedDir } from "../../settings/site.ts";
import { err, ok } from "../../core/result.ts";
import { systemClock } from "../../engine/clock.ts";
import { createDispatcher, type Dispatcher, type DispatcherOptions } from "./dispatcher.ts";

export type OpenDispatcher = Pick<DispatcherOptions, "agents" | "log" | "onStart" | "project">;

export function openDispatcher(
  {
    config,
    engine,
    environment,
    mirror,
    store,
  }: Pick<DispatcherOptions, "config" | "engine" | "store"> & {
    readonly environment: Environment;
    readonly mirror: DispatcherOptions["mirror"] | null;
  },
  options: OpenDispatcher,
): Dispatcher {
  if (mirror === null) throw new Error("only the process that performs picks tickets");
  const { project } = options;
  return createDispatcher({
    ...options,
    config,
    engine,
    mirror,
    store,
    actor: "system",
    clock: systemClock,
    loadConfig: () => loadSettings({ environment, project, flags: {} }),
    resolve(name) {
      const resolved = loadCatalog({ shippedDir, projectDir: project }).resolve(name);
      if (resolved.ok) return ok(resolved.value);
      const [first] = resolved.error;
      const place = first === undefined ? name : `${first.file}:${first.line}:${first.column}: ${first.message}`;
      return err({ code: "flow_invalid", message: place, hint: `passrail flow check ${name}` });
    },
  });
}
