// A call of one of Claude Code's tools as a request for permission.

import type { JsonObject } from "../../core/json.ts";
import type { PermissionRequest } from "../runner.ts";

/** The key that names the file. */
const WRITES: Readonly<Record<string, string>> = {
  Write: "file_path",
  Edit: "file_path",
  MultiEdit: "file_path",
  NotebookEdit: "notebook_path",
};
const LOOKS: ReadonlySet<string> = new Set(["Read", "Glob", "Grep", "LS", "NotebookRead", "TodoWrite"]);

export function requestOf(tool: string, input: JsonObject): PermissionRequest {
  const command = input["command"];
  if (tool === "Bash" && typeof command === "string") return { tool, kind: "command", what: command, paths: [] };
  const key = Object.hasOwn(WRITES, tool) ? WRITES[tool] : undefined;
  const path = key === undefined ? undefined : input[key];
  if (typeof path === "string") return { tool, kind: "write", what: path, paths: [path] };
  const what = JSON.stringify(input);
  return { tool, kind: LOOKS.has(tool) ? "look" : "other", what, paths: [] };
}
