// The program that tests start: the source in a few files with its packages. Tests start it more than a thousand times, and from the
// source each start would read, translate and link four hundred files. Vitest makes it before the first test: build-program.ts.

import { join } from "node:path";
import { ROOT } from "./build-once.ts";

/** As deep below the root as the source, so that it finds the shipped flows, agents and prompts. */
export const PROGRAM_FOLDER: string = join(ROOT, "dist", "program");

export const PROGRAM: string = join(PROGRAM_FOLDER, "main.js");

/** The engine with something that answers: it is killed hundreds of times. */
export const CRASH_DRIVER: string = driver("crash");
/** One run whose git processes somebody counts. */
export const GIT_DRIVER: string = driver("git");
/** A server that dies before it stores an answer. */
export const IDEMPOTENCY_DRIVER: string = driver("idempotency");
/** Landings that are killed at their step. */
export const LANDING_DRIVER: string = driver("landing");
/** An engine that dies while an agent lingers. */
export const LINGER_DRIVER: string = driver("linger");
/** An engine that dies when a metered stage begins. */
export const METERED_DRIVER: string = driver("metered");
/** The daemon with a clock that a test moves. */
export const NIGHT_DRIVER: string = driver("night");
/** A server that dies when a delivery comes. */
export const WEBHOOKS_DRIVER: string = driver("webhooks");

function driver(name: string): string {
  return join(PROGRAM_FOLDER, `${name}-driver.js`);
}
