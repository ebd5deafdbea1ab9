// Where the program of a runner reaches its models, as far as Passrail can tell without starting it. For a look, not for a request.

import type { RunnerName } from "../core/flow/agent-options.ts";
import { upstreamOf } from "./model-routes.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Undefined where the program's own settings decide: opencode knows many vendors, and `acp` is any program. */
export function vendorAddress(runner: RunnerName, environment: Environment): string | undefined {
  const said = (name: string): string | undefined => upstreamOf(environment[name] ?? "") ?? undefined;
  const has = (name: string): boolean => (environment[name] ?? "") !== "";
  switch (runner) {
    case "claude":
      return said("ANTHROPIC_BASE_URL") ?? "https://api.anthropic.com";
    case "codex":
      // A plan of ChatGPT is asked at another host than a key.
      return (
        said("OPENAI_BASE_URL") ??
        (has("CODEX_API_KEY") || has("OPENAI_API_KEY") ? "https://api.openai.com" : "https://chatgpt.com")
      );
    case "gemini":
      return said("GOOGLE_GEMINI_BASE_URL") ?? "https://generativelanguage.googleapis.com";
    case "opencode":
    case "acp":
    case "command":
    case "outside":
      return undefined;
  }
}
