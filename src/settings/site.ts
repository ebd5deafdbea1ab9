// Where Passrail works: its state folder, the user's project, the environment, and the folder of the shipped data.

import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export type Environment = Readonly<Record<string, string | undefined>>;

export type Site = {
  /** State folder: store, attempts' files, worktrees. */
  readonly home: string;
  /** The user's folder or repository. */
  readonly project: string;
  readonly environment: Environment;
};

/** The folder of the shipped flows, agents and prompts: beside src/ in a checkout, beside dist/ in the package. */
export const shippedDir: string = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** PASSRAIL_HOME, else the XDG state folder. */
export function homeOf(environment: Environment): string {
  const own = environment["PASSRAIL_HOME"];
  if (own !== undefined && own !== "") return own;
  const state = environment["XDG_STATE_HOME"];
  return join(state !== undefined && state !== "" ? state : join(homedir(), ".local", "state"), "passrail");
}

/** The settings of a project, and those of a user in their own folder. */
export const SETTINGS_FILE = "passrail.yaml";

export function userFolder(environment: Environment): string {
  return join(environment["XDG_CONFIG_HOME"] ?? join(homedir(), ".config"), "passrail");
}

export function userSettingsFile(environment: Environment): string {
  return join(userFolder(environment), SETTINGS_FILE);
}

export function storeFile(home: string): string {
  return join(home, "passrail.db");
}
