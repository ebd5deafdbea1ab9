// The dashboard's files as they are in the source now. An installed checkout has them from `npm ci`; after a change of the source they are made
// anew once, beside the old ones, which are replaced in one step: daemons of other tests may be reading them.

import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { until } from "../harness/until.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const BUILT = join(root, "dist", "web");
/** What goes into the files, besides packages. */
const SOURCES = ["web", "src/http/contract", "src/http/client", "src/core"];
const LONG_MS = 120_000;

export async function builtDashboard(): Promise<void> {
  if (isFresh()) return;
  const lock = join(root, "dist", ".web-lock");
  mkdirSync(join(root, "dist"), { recursive: true });
  // Test files run side by side: one builds, the others wait for it.
  await until("another test has built the dashboard", () => (take(lock) ? true : undefined), LONG_MS);
  try {
    if (!isFresh()) await build();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

async function build(): Promise<void> {
  const fresh = `${BUILT}.new`;
  const old = `${BUILT}.old`;
  const vite = join(root, "node_modules/vite/bin/vite.js");
  // Vitest says "test" here, and a dashboard for tests would be another one than that of users.
  const env = { ...process.env, NODE_ENV: "production" };
  await promisify(execFile)(process.execPath, [vite, "build", "web", "--outDir", fresh, "--logLevel=error"], {
    cwd: root,
    env,
    timeout: LONG_MS,
  });
  rmSync(old, { recursive: true, force: true });
  if (existsSync(BUILT)) renameSync(BUILT, old);
  renameSync(fresh, BUILT);
  rmSync(old, { recursive: true, force: true });
}

function isFresh(): boolean {
  const page = join(BUILT, "index.html");
  return existsSync(page) && statSync(page).mtimeMs >= newest();
}

function newest(): number {
  const files = SOURCES.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()),
  );
  return Math.max(...files.map(({ parentPath, name }) => statSync(join(parentPath, name)).mtimeMs));
}

/** A lock that was left by somebody who was killed is not waited for. */
function take(lock: string): boolean {
  try {
    mkdirSync(lock);
    return true;
  } catch {
    const age = existsSync(lock) ? Date.now() - statSync(lock).mtimeMs : 0;
    if (age > LONG_MS) rmSync(lock, { recursive: true, force: true });
    return false;
  }
}
