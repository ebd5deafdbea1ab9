// Brings a peer into a folder of its own outside of the project, once, in the versions that are named here. Install scripts do not run: all
// of them ship what they need ready made.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { err, ok, type Result } from "../../src/core/result.ts";

export type Packages = {
  readonly dependencies: Readonly<Record<string, string>>;
  /** Newer ones of what they depend on. */
  readonly overrides?: Readonly<Record<string, string>>;
};

/** Loads a package as a module of its folder would. */
export type Load = <T>(name: string) => Promise<T>;

const CACHE = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "passrail-peers");
const LOADER = "load.mjs";
const INSTALL_MS = 300_000;

export const folderOf = (peer: string): string => join(CACHE, peer);

export function isInstalled(peer: string, packages: Packages): boolean {
  const folder = folderOf(peer);
  if (!existsSync(join(folder, LOADER))) return false;
  return Object.entries(packages.dependencies).every(([name, version]) => {
    const file = join(folder, "node_modules", name, "package.json");
    return existsSync(file) && (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version === version;
  });
}

/** The error is the one line that says why. */
export function install(peer: string, packages: Packages): Result<null> {
  if (isInstalled(peer, packages)) return ok(null);
  const folder = folderOf(peer);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module", ...packages }));
  // All that they need of each other is named: npm searches for minutes otherwise.
  const words = ["install", "--legacy-peer-deps", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const npm = spawnSync("npm", words, {
    cwd: folder,
    encoding: "utf8",
    timeout: INSTALL_MS,
    // With an older Node, npm would choose older versions or none.
    env: { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env["PATH"]}` },
  });
  writeFileSync(join(folder, LOADER), "export const load = (name) => import(name);\n");
  if (npm.status === 0 && isInstalled(peer, packages)) return ok(null);
  const said = `${npm.error?.message ?? ""}${npm.stderr ?? ""}`.trim().split("\n")[0] ?? "";
  return err({ code: "not_installed", message: `npm could not install it: ${said}` });
}

export async function loaderOf(folder: string): Promise<Load> {
  const { load } = (await import(pathToFileURL(join(folder, LOADER)).href)) as { load: Load };
  return load;
}
