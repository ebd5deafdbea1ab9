// The names of the user's own MCP servers of opencode, to switch them off for agents that shall not have them. They are in the files that
// opencode reads; asking the program would take a start of it.

import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { err, ok, type Result } from "../../core/result.ts";
import { withoutComments } from "../commented-json.ts";
import { fields, isFields, parseLine } from "../loose-json.ts";

const NAMES = ["config.json", "opencode.json", "opencode.jsonc"];

/** A file that cannot be understood is an error: a server in it would be there after all. */
export async function userServerNames(
  env: Readonly<Record<string, string | undefined>>,
): Promise<Result<readonly string[], string>> {
  const home = env["HOME"] ?? homedir();
  const folders = [
    join(env["XDG_CONFIG_HOME"] ?? join(home, ".config"), "opencode"),
    join(home, ".opencode"),
    ...[env["OPENCODE_CONFIG_DIR"]].filter((folder) => folder !== undefined),
  ];
  const files = folders.flatMap((folder) => NAMES.map((name) => join(folder, name)));
  const named = env["OPENCODE_CONFIG"];
  const found = new Set<string>();
  for (const path of named === undefined ? files : [...files, named]) {
    const text = await readFile(path, "utf8").catch(() => undefined);
    if (text === undefined || text.trim() === "") continue;
    const config = parseLine(withoutComments(text));
    if (!isFields(config)) return err(`${path} is no JSON object`);
    for (const name of Object.keys(fields(config["mcp"]))) found.add(name);
  }
  return ok([...found]);
}
