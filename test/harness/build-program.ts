// Vitest's `globalSetup`: makes the program that tests start, unless it is newer than the source.

import { bundle } from "../../scripts/bundle.ts";
import { buildOnce } from "./build-once.ts";
import { PROGRAM_FOLDER } from "./program.ts";

/** Programs that only tests start. */
const DRIVERS = {
  "crash-driver": "test/crash/driver.ts",
  "night-driver": "test/harness/night-driver.ts",
};

export { buildProgram as setup };

export async function buildProgram(): Promise<void> {
  await buildOnce({
    folder: PROGRAM_FOLDER,
    main: "main.js",
    sources: ["src", "test/crash", "test/harness"],
    build: (folder) => bundle(folder, DRIVERS),
  });
}
