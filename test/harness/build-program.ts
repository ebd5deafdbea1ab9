// Vitest's `globalSetup`: makes the program that tests start and the repositories that they copy, unless they are newer than the source.

import { bundle, bundleEntries } from "../../scripts/bundle.ts";
import { buildOnce } from "./build-once.ts";
import { makeTemplates, TEMPLATES } from "./new-repository.ts";
import { PROGRAM_FOLDER } from "./program.ts";

/** Programs that only tests start. */
const DRIVERS = {
  "crash-driver": "test/crash/driver.ts",
  "git-driver": "test/harness/git-driver.ts",
  "idempotency-driver": "test/scenarios/http/idempotency-driver.ts",
  "landing-driver": "test/scenarios/trust/landing-driver.ts",
  "linger-driver": "test/scenarios/engine/linger-crash.ts",
  "metered-driver": "test/fixtures/killed-while-metered.ts",
  "night-driver": "test/harness/night-driver.ts",
  "webhooks-driver": "test/scenarios/http/webhooks-driver.ts",
};

/** Only the driver of the crash tests, made anew where the whole program is: a third of the work. */
export async function rebuildCrashDriver(): Promise<void> {
  await bundleEntries(PROGRAM_FOLDER, { "crash-driver": DRIVERS["crash-driver"] });
}

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
    sources: ["src", "test/crash", "test/harness", "test/scenarios/trust/landing-rows.ts", ...Object.values(DRIVERS)],
    build: (folder) => bundle(folder, DRIVERS),
  });
}
