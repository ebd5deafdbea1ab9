// The rows of `sandbox-starts.ts`, from a process of its own that runs as it is published: from the source, the program beside each container
// would be read and translated at every start.

import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { bundle } from "../scripts/bundle.ts";
import type { Row } from "./measure.ts";

const ROOT = join(import.meta.dirname, "..");

export async function measureSandboxes(base: string): Promise<Row[]> {
  const folder = join(ROOT, "node_modules", ".passrail-bench-sandboxes");
  await bundle(folder, { "sandbox-starts": join("bench", "sandbox-starts.ts") });
  const printed = execFileSync(process.execPath, [join(folder, "sandbox-starts.js"), base], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  return JSON.parse(printed) as Row[];
}
