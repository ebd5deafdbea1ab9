// What is wrong with a file of the user's. A check says where in the data; the catalog adds where in the text.

import type { Problem } from "../result.ts";
import { optional } from "../optional.ts";

export type Path = readonly (string | number)[];

export type FlowProblem = Problem & { readonly path: Path; readonly severity: "error" | "warning" };

/** A problem with its place in a file: lines and columns count from 1. `text` is the line itself, left out where it may hold a secret. */
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
