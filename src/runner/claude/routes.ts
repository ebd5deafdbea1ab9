// Claude Code through a gateway: its key, its bearer token and its own headers stay outside.

import { type ModelRouting, NO_KEY, ODD_ADDRESS, type Startable, upstreamOf, without } from "../model-routes.ts";

const VENDOR = "https://api.anthropic.com";
const SECRETS = [
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_AUTH_TOKEN",
  "ANTHROPIC_CUSTOM_HEADERS",
  "CLAUDE_CODE_OAUTH_TOKEN",
] as const;
const CLOUDS = ["CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"] as const;

export function claudeRouting({ argv, environment }: Startable): ModelRouting {
  const value = (name: string): string => environment[name] ?? "";
  const cloud = CLOUDS.find((name) => value(name) !== "");
  if (cloud !== undefined) return { type: "bypassed", why: `it asks a cloud (${cloud})` };
  const [key, bearer] = [value("ANTHROPIC_API_KEY"), value("ANTHROPIC_AUTH_TOKEN")];
  if (key === "" && bearer === "") return { type: "bypassed", why: NO_KEY };
  const upstream = upstreamOf(value("ANTHROPIC_BASE_URL") || VENDOR);
  if (upstream === null) return { type: "bypassed", why: ODD_ADDRESS };
  const headers = {
    ...customHeaders(value("ANTHROPIC_CUSTOM_HEADERS")),
    ...(key === "" ? {} : { "x-api-key": key }),
    ...(bearer === "" ? {} : { authorization: `Bearer ${bearer}` }),
  };
  return {
    type: "routed",
    routes: [{ name: "anthropic", upstream, headers }],
    point: ({ url, token }) => ({
      argv,
      environment: {
        ...without(environment, SECRETS),
        ANTHROPIC_BASE_URL: `${url}/anthropic`,
        ANTHROPIC_API_KEY: token,
      },
    }),
  };
}

/** `Name: value`, one a line, as Claude Code reads them. */
function customHeaders(text: string): Record<string, string> {
  const lines = text.split("\n").map((line) => /^\s*([A-Za-z0-9!#$%&'*+.^_`|~-]+)\s*:\s*(.*?)\s*$/u.exec(line));
  return Object.fromEntries(
    lines.flatMap((found) => (found ? [[(found[1] ?? "").toLowerCase(), found[2] ?? ""]] : [])),
  );
}
