// Gemini CLI through a gateway: its key stays outside. A login of a person, or a cloud, goes its own way.

import { homedir } from "node:os";
import { join } from "node:path";
import { fields, parseLine, text } from "../loose-json.ts";
import {
  type ModelRouting,
  NO_KEY,
  ODD_ADDRESS,
  type Startable,
  upstreamOf,
  type Variables,
  without,
} from "../model-routes.ts";
import { readUserFile } from "../user-file.ts";
import { withoutComments } from "../commented-json.ts";
import { KEY_LOGIN } from "./home.ts";

const VENDOR = "https://generativelanguage.googleapis.com";
const SECRETS = ["GEMINI_API_KEY", "GOOGLE_API_KEY"] as const;
const CLOUDS = ["GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA"] as const;

export function geminiRouting({ argv, environment }: Startable): ModelRouting {
  const value = (name: string): string => environment[name] ?? "";
  const cloud = CLOUDS.find((name) => value(name) !== "");
  if (cloud !== undefined) return { type: "bypassed", why: `it logs in otherwise (${cloud})` };
  const chosen = chosenLogin(environment);
  if (chosen !== null && chosen !== KEY_LOGIN) return { type: "bypassed", why: `its settings choose ${chosen}` };
  const key = value("GEMINI_API_KEY");
  if (key === "") return { type: "bypassed", why: NO_KEY };
  const upstream = upstreamOf(value("GOOGLE_GEMINI_BASE_URL") || VENDOR);
  if (upstream === null) return { type: "bypassed", why: ODD_ADDRESS };
  return {
    type: "routed",
    routes: [{ name: "gemini", upstream, headers: { "x-goog-api-key": key } }],
    point: ({ url, token }) => ({
      argv,
      environment: {
        ...without(environment, SECRETS),
        GOOGLE_GEMINI_BASE_URL: `${url}/gemini`,
        GEMINI_API_KEY: token,
      },
    }),
  };
}

/** What the user has chosen in the program; null without a choice. */
function chosenLogin(environment: Variables): string | null {
  const folder = join(environment["GEMINI_CLI_HOME"] ?? environment["HOME"] ?? homedir(), ".gemini");
  const settings = fields(parseLine(withoutComments(readUserFile(join(folder, "settings.json")) ?? "")));
  return text(fields(fields(settings["security"])["auth"])["selectedType"])?.slice(0, 100) ?? null;
}
