// A problem in a user's file. A check gives the place in the data; the catalog adds the place in the text.

import type { Problem } from "../result.ts";
import { optional } from "../optional.ts";

export type Path = readonly (string | number)[];

export type FlowProblem = Problem & { readonly path: Path; readonly severity: "error" | "warning" };

/** A problem with its place in a file: lines and columns count from 1. `text` is the line itself, omitted where it may hold a secret. */
export type FileProblem = Problem & {
  readonly severity: "error" | "warning";
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly text?: string;
};

export function problem(code: string, path: Path, message: string, hint?: string): FlowProblem {
  return { code, path, message, ...optional({ hint }), severity: "error" };
}

export function warning(code: string, path: Path, message: string, hint?: string): FlowProblem {
  return { ...problem(code, path, message, hint), severity: "warning" };
}
