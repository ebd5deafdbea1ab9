// `npm run agent-clis`: installs the agent CLIs for the contract tests, in the versions of their lockfile. They take 1.3 GB, and only work
// on runners needs them. Does nothing if they are installed.

import { spawnSync } from "node:child_process";
import { delimiter, dirname } from "node:path";
import { CLIS, CONTRACT_FOLDER, missingPackages } from "../test/contract/installed.ts";

if (missingPackages().length === 0) {
  console.log(`${CLIS.join(", ")} are there in the versions of the lockfile`);
} else {
  install();
}

function install(): void {
  const startedAt = performance.now();
  const npm = spawnSync("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: CONTRACT_FOLDER,
    encoding: "utf8",
    // With an older Node, npm would choose older versions or none.
    env: { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env["PATH"]}` },
  });
  const missing = missingPackages();
  if (npm.status === 0 && missing.length === 0) {
    console.log(`installed ${CLIS.join(", ")} in ${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
    return;
  }
  console.error(`${npm.error?.message ?? ""}${npm.stdout ?? ""}${npm.stderr ?? ""}`.trim());
  for (const line of missing) console.error(line);
  console.error("The agent CLIs could not be installed: npm ci in test/contract needs a package registry. See above.");
  process.exitCode = 1;
}
