// A stage whose program says nothing but its exit code (source 004). The flow's table of health words says what a code means.

import { ok } from "../result.ts";
import type { Reading } from "./reading.ts";

/** No code means that the process was ended by a signal, which is a failure like any other. */
export function readExitCode(code: number | null): Reading {
  return ok({ health: String(code ?? 1) });
}
