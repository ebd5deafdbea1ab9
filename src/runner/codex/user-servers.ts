// The names of the user's own MCP servers of Codex, to switch them off for agents that shall not have them. Codex itself is asked: its
// configuration has several places and is TOML.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { err, messageOf, ok, type Result } from "../../core/result.ts";
import { fields, list, parseLine, text } from "../loose-json.ts";
import type { AttemptSpec } from "../runner.ts";

const run = promisify(execFile);
const PATIENCE_MS = 30_000;
const MAX_BYTES = 8 * 1024 * 1024;

/** Outside of the workspace, so that the repository's are not among them. */
export async function userServerNames(
  program: string,
  { argv, env }: Pick<AttemptSpec, "argv" | "env">,
  scratch: string,
): Promise<Result<readonly string[], string>> {
  const options = { cwd: scratch, env, timeout: PATIENCE_MS, maxBuffer: MAX_BYTES };
  try {
    const { stdout } = await run(program, [...argv.slice(1), "mcp", "list", "--json"], options);
    const names = list(parseLine(stdout)).map((server) => text(fields(server)["name"]));
    const odd = names.find((name) => name === null || !NAME.test(name));
    if (odd !== undefined) return err(`Codex has an MCP server with the name ${JSON.stringify(odd)}.`);
    return ok(names.filter((name) => name !== null));
  } catch (error) {
    return err(messageOf(error).slice(0, 500));
  }
}

/** A name becomes a part of an argument. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/u;
