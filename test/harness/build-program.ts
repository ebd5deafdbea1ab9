// Vitest's `globalSetup`: makes the program that tests start and the repositories that they copy, unless they are newer than the source.

import { bundle } from "../../scripts/bundle.ts";
import { buildOnce } from "./build-once.ts";
import { makeTemplates, TEMPLATES } from "./new-repository.ts";
import { PROGRAM_FOLDER } from "./program.ts";

/** Programs that only tests start. */
const DRIVERS = {
  "crash-driver": "test/crash/driver.ts",
  "night-driver": "test/harness/night-driver.ts",
};

export async function setup(): Promise<void> {
  await buildProgram();
  await buildOnce({
    folder: TEMPLATES,
    main: "with-file/README.md",
    sources: ["test/harness"],
    build: async (folder) => makeTemplates(folder),
  });
}

export async function buildProgram(): Promise<void> {
  await buildOnce({
    folder: PROGRAM_FOLDER,
    main: "main.js",
    sources: ["src", "test/crash", "test/harness"],
    build: (folder) => bundle(folder, DRIVERS),
  });
}
