// Resolves an attempt's program to an absolute path, once, before anything starts.

import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { err, ok, type Result } from "../../core/result.ts";
import type { AttemptSpec } from "../runner.ts";

export type StartProblem = { readonly reason: "agent_not_found" | "spawn_failed"; readonly detail: string };

/** The absolute path of `argv[0]`. A name with a slash is relative to `cwd`; a bare name is looked up on the PATH of `env`. */
export const findProgram = (
  spec: Pick<AttemptSpec, "argv" | "cwd" | "env" | "ownPrograms">,
): Result<string, StartProblem> => {
  if (!isDirectory(spec.cwd)) {
    return err({
      reason: "spawn_failed",
      detail: `The working directory ${spec.cwd} does not exist or is no directory.`,
    });
  }
  const [command] = spec.argv;
  if (spec.ownPrograms === true) return ok(command);
  if (command.includes("/")) {
    const path = resolve(spec.cwd, command);
    if (isExecutable(path)) return ok(path);
    const shown = command === path ? path : `${command} (${path})`;
    return notFound(`The command ${shown} does not exist or is not executable.`);
  }
  const searched = spec.env["PATH"] ?? "";
  // Relative entries would let a file in the workspace pose as the agent.
  const folders = searched.split(delimiter).filter((folder) => isAbsolute(folder));
  const path = folders.map((folder) => join(folder, command)).find((candidate) => isExecutable(candidate));
  if (command !== "" && path !== undefined) return ok(path);
  return notFound(`The command "${command}" was not found as an executable file on the PATH (${searched || "empty"}).`);
};

const notFound = (detail: string): Result<never, StartProblem> => err({ reason: "agent_not_found", detail });

const isDirectory = (path: string): boolean => isKind(path, (stats) => stats.isDirectory());

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
  } catch {
    return false;
  }
  return isKind(path, (stats) => stats.isFile());
};

// statSync throws for more than absence (a NUL in the path, a loop of links); all of it means "cannot be used".
const isKind = (path: string, is: (stats: { isFile(): boolean; isDirectory(): boolean }) => boolean): boolean => {
  try {
    return is(statSync(path));
  } catch {
    return false;
  }
};
