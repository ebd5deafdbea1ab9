// The program that tests start: the source in a few files with its packages. Tests start it more than a thousand times, and from the
// source each start would read, translate and link four hundred files. Vitest makes it before the first test: build-program.ts.

import { join } from "node:path";
import { ROOT } from "./build-once.ts";

/** As deep below the root as the source, so that it finds the shipped flows, agents and prompts. */
export const PROGRAM_FOLDER: string = join(ROOT, "dist", "program");

export const PROGRAM: string = join(PROGRAM_FOLDER, "main.js");

/** The engine with something that answers: it is killed hundreds of times. */
export const CRASH_DRIVER: string = join(PROGRAM_FOLDER, "crash-driver.js");

/** The daemon with a clock that a test moves. */
export const NIGHT_DRIVER: string = join(PROGRAM_FOLDER, "night-driver.js");
