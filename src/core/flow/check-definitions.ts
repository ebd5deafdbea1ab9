// Checks as they are written -> with their defaults. Apart from the schema, so that reading a run does not load it.

import type { ChecksFile } from "./check-file.ts";
import type { CheckDefinition } from "./check-result.ts";
import { durationMs } from "./duration.ts";
import { optional } from "../optional.ts";

const DEFAULT_TIMEOUT = "10m";

export function checkDefinitions(file: ChecksFile | undefined): Readonly<Record<string, CheckDefinition>> {
  return Object.fromEntries(
    Object.entries(file ?? {}).map(([name, written]) => {
      const said = "run" in written ? written : { run: written };
      const { run, timeout = DEFAULT_TIMEOUT, parse, report, env = [] } = said;
      return [name, { run, timeoutMs: durationMs(timeout), ...optional({ parse, report }), env }];
    }),
  );
}
