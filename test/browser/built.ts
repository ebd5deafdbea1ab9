// The dashboard's files as they are in the source now. An installed checkout has them from `npm ci`.

import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { BUILD_WITHIN_MS, buildOnce, ROOT } from "../harness/build-once.ts";

export async function builtDashboard(): Promise<void> {
  await buildOnce({
    folder: join(ROOT, "dist", "web"),
    main: "index.html",
    sources: ["web", "src/http/contract", "src/http/client", "src/core"],
    build,
  });
}

async function build(folder: string): Promise<void> {
  const vite = join(ROOT, "node_modules/vite/bin/vite.js");
  // Vitest says "test" here, and a dashboard for tests would be another one than that of users.
  const env = { ...process.env, NODE_ENV: "production" };
  await promisify(execFile)(process.execPath, [vite, "build", "web", "--outDir", folder, "--logLevel=error"], {
    cwd: ROOT,
    env,
    timeout: BUILD_WITHIN_MS,
  });
}
