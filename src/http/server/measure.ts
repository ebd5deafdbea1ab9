// The numbers of this daemon, the same for a scrape of `/metrics` and for a collector of OpenTelemetry.

import { measureState } from "../../app/measure-state.ts";
import type { Metric } from "../../core/view/metrics.ts";
import type { ServerDeps } from "./deps.ts";

export async function measureDaemon(deps: ServerDeps): Promise<readonly Metric[]> {
  const { config, home, now, store, version, workers } = deps;
  const working = ((await workers?.()) ?? []).reduce((sum, { attempts }) => sum + attempts.length, 0);
  return measureState({ home, store, config, version, now: now(), working });
}
