// The login files that the started coding agent needs from the user's home. Credentials are writable, because agents renew them in place.
// Settings are read-only: a program that can write hooks in them runs programs outside.

import { basename, isAbsolute, join } from "node:path";
import { existing } from "../shared/existing.ts";
import type { Launch } from "../../workspace.ts";

export type LoginFolder = {
  /** The program's folders, which must exist and be writable; their content stays in the sandbox. */
  readonly folders: readonly string[];
  readonly read: readonly string[];
  readonly write: readonly string[];
};

/** Only files that exist. */
export async function loginOf(launch: Launch, userHome: string): Promise<LoginFolder> {
  const known = LOGINS.find(({ name }) => isCalled(name, launch))?.login(launch.env, userHome);
  if (known === undefined) return { folders: [], read: [], write: [] };
  const { folders, read, write } = known;
  if (launch.credentials === "outside")
    return { folders, read: await existing(read.filter((path) => basename(path) !== ".env")), write: [] };
  return { folders, read: await existing(read), write: await existing(write) };
}

/** By the program's name, or by the script it interprets: `node …/codex.js`, `claude-code-acp`. */
function isCalled(name: string, { program, argv }: Launch): boolean {
  return [program, argv[0], argv[1] ?? ""].some((word) => basename(word).includes(name));
}

type Known = { readonly name: string; readonly login: (env: Launch["env"], userHome: string) => LoginFolder };

const LOGINS: readonly Known[] = [
  {
    name: "claude",
    login: (env, home) => {
      const folder = from(env["CLAUDE_CONFIG_DIR"], join(home, ".claude"));
      const settings = ["settings.json", "CLAUDE.md", "agents", "commands", "plugins", "rules", "skills"];
      return {
        folders: [folder],
        read: settings.map((name) => join(folder, name)),
        write: [join(folder, ".credentials.json")],
      };
    },
  },
  {
    name: "codex",
    login: (env, home) => {
      const folder = from(env["CODEX_HOME"], join(home, ".codex"));
      const settings = ["config.toml", "AGENTS.md", "prompts", "skills"];
      return {
        folders: [folder],
        read: settings.map((name) => join(folder, name)),
        write: [join(folder, "auth.json")],
      };
    },
  },
  {
    name: "gemini",
    login: (env, home) => {
      const folder = join(from(env["GEMINI_CLI_HOME"], home), ".gemini");
      const settings = ["settings.json", "google_accounts.json", "installation_id", "GEMINI.md", ".env"];
      return {
        folders: [folder],
        read: settings.map((name) => join(folder, name)),
        write: [join(folder, "oauth_creds.json")],
      };
    },
  },
  {
    name: "opencode",
    login: (env, home) => {
      const data = join(from(env["XDG_DATA_HOME"], join(home, ".local", "share")), "opencode");
      const state = join(from(env["XDG_STATE_HOME"], join(home, ".local", "state")), "opencode");
      const cache = join(from(env["XDG_CACHE_HOME"], join(home, ".cache")), "opencode");
      const config = join(from(env["XDG_CONFIG_HOME"], join(home, ".config")), "opencode");
      const settings = ["opencode.json", "opencode.jsonc", "config.json", "AGENTS.md", "agent", "agents", "command"];
      const more = ["commands", "mode", "modes", "plugin", "plugins", "skill", "skills", "themes", "tool", "tools"];
      return {
        // It also writes next to its settings.
        folders: [data, state, cache, config],
        read: [...settings, ...more].map((name) => join(config, name)),
        write: [join(data, "auth.json")],
      };
    },
  },
];

const from = (said: string | undefined, usual: string): string =>
  said !== undefined && isAbsolute(said) ? said : usual;
