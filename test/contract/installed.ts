// Whether the agent CLIs that the contract tests drive are there, in the versions of the lockfile.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const CONTRACT_FOLDER = import.meta.dirname;

export const CLIS = ["claude", "codex", "gemini", "opencode"] as const;
export type Cli = (typeof CLIS)[number];

export const cliPath = (cli: Cli): string => join(CONTRACT_FOLDER, "node_modules/.bin", cli);

/** What is missing or of another version, one line each; empty when all is there. */
export function missingPackages(): string[] {
  const installed = packagesOf("node_modules/.package-lock.json");
  const wanted = Object.entries(packagesOf("package-lock.json") ?? {}).filter(([path]) => path !== "");
  if (installed === undefined) return ["none of the agent CLIs is installed"];
  const packages = wanted.flatMap(([path, { version, optional }]) => {
    const found = installed[path]?.version;
    // Packages for other platforms stay away; which ones that are is npm's business.
    if (found === version || (found === undefined && optional === true)) return [];
    return [`${path}: ${version} wanted, ${found ?? "nothing"} installed`];
  });
  return [...packages, ...CLIS.filter((cli) => !existsSync(cliPath(cli))).map((cli) => `${cli} cannot be called`)];
}

/** They run where the CLIs are; where they must run (CI), what is missing is a failure. */
export const contractTests = (): "run" | "left out" =>
  process.env["PASSRAIL_CONTRACT"] === "required" || missingPackages().length === 0 ? "run" : "left out";

type Packages = Readonly<Record<string, { readonly version?: string; readonly optional?: boolean }>>;

function packagesOf(lockfile: string): Packages | undefined {
  try {
    const text = readFileSync(join(CONTRACT_FOLDER, lockfile), "utf8");
    return (JSON.parse(text) as { packages: Packages }).packages;
  } catch {
    return undefined;
  }
}
