// Vitest's `globalSetup`: makes the program that tests start, unless it is newer than the source.

import { build } from "vite";
import { buildOnce, ROOT } from "./build-once.ts";
import { PROGRAM_FOLDER } from "./program.ts";

/** All that the program starts by the name of a file beside its own. */
const ENTRIES = {
  main: "src/cli/main.ts",
  "carrier-main": "src/carrier/carrier-main.ts",
  "launch-helper": "src/git/launch-helper.ts",
  attend: "src/workspace/sandbox/container/attend.ts",
  exec: "src/workspace/sandbox/daytona/exec.ts",
  "crash-driver": "test/crash/driver.ts",
};

export { buildProgram as setup };

export async function buildProgram(): Promise<void> {
  await buildOnce({
    folder: PROGRAM_FOLDER,
    main: "main.js",
    sources: ["src", "test/crash", "test/harness"],
    build: bundle,
  });
}

async function bundle(folder: string): Promise<void> {
  await build({
    root: ROOT,
    configFile: false,
    logLevel: "error",
    ssr: { noExternal: true, target: "node" },
    build: {
      ssr: true,
      outDir: folder,
      target: "node24",
      minify: false,
      rolldownOptions: {
        input: ENTRIES,
        output: { entryFileNames: "[name].js", chunkFileNames: "[name]-[hash].js" },
      },
    },
  });
}
