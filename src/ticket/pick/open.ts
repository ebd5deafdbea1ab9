// Builds the dispatcher of a project. It reads the flow for every ticket, because people edit flows meanwhile.

import { resolveFlow } from "../../app/start-run/resolve-flow.ts";
import { loadSettings } from "../../settings/load.ts";
import type { Environment } from "../../settings/site.ts";
import { createDispatcher, type Dispatcher, type DispatcherOptions } from "./dispatcher.ts";

export type OpenDispatcher = Pick<DispatcherOptions, "isHeld" | "log" | "onStart" | "project" | "runners">;

export function openDispatcher(
  {
    access,
    app,
    clock,
    config,
    engine,
    environment,
    home,
    mirror,
    refused,
    store,
  }: Pick<DispatcherOptions, "access" | "app" | "clock" | "config" | "engine" | "refused" | "store"> & {
    readonly environment: Environment;
    readonly home: string;
    readonly mirror: DispatcherOptions["mirror"] | null;
  },
  options: OpenDispatcher,
): Dispatcher {
  if (mirror === null) throw new Error("only the process that performs picks tickets");
  const { project } = options;
  return createDispatcher({
    ...options,
    access,
    app,
    config,
    engine,
    environment,
    home,
    mirror,
    refused,
    store,
    actor: "system",
    clock,
    loadConfig: () => loadSettings({ home, environment, project, flags: {} }),
    resolve: (name) => resolveFlow({ home, project }, name),
  });
}
