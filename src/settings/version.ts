// The version of this program. package.json is beside src/ in a checkout and beside dist/ in the package.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { shippedDir } from "./site.ts";

export function programVersion(): string {
  const { version } = JSON.parse(readFileSync(join(shippedDir, "package.json"), "utf8")) as {
    readonly version: string;
  };
  return version;
}
