// Which way the requests of a program take to their models, by the runner's name.

import type { ProgramName } from "../core/flow/agent-options.ts";
import { claudeRouting } from "./claude/routes.ts";
import { codexRouting } from "./codex/routes.ts";
import { geminiRouting } from "./gemini/routes.ts";
import type { ModelRouting, Startable } from "./model-routes.ts";
import { opencodeRouting } from "./opencode/routes.ts";

/** `model`: the vendor's own name of it, if one is chosen. */
export function routingOf(name: ProgramName, program: Startable, model: string | undefined): ModelRouting {
  switch (name) {
    case "claude":
      return claudeRouting(program);
    case "codex":
      return codexRouting(program);
    case "gemini":
      return geminiRouting(program);
    case "opencode":
      return opencodeRouting(program, model);
    case "acp":
    case "command":
      return { type: "bypassed", why: "Passrail does not know how to point this program at a gateway" };
  }
}
