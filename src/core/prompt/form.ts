// The form in which a stage reports, and whether its prompt asks for the attempt's nonce.

import type { ResolvedFlow } from "../flow/agent.ts";
import type { ResultSpec, WorkStage } from "../flow/flow.ts";

const TOKEN = "{{TOKEN}}";

const FRAGMENT_OF: Readonly<Record<ResultSpec["from"], string>> = {
  "json-tail": "output-json-tail",
  "file-verdict": "output-file-verdict",
  "handoff-file": "output-handoff-file",
  "handoff-api": "output-handoff-api",
  prefix: "",
  "exit-code": "",
  "work-result": "",
  "verdict-file": "output-verdict-file",
  router: "output-router",
};

/** The instructions for the end of the agent's work; undefined if the form needs none. */
export function formText({ prompts }: Pick<ResolvedFlow, "prompts">, { result }: WorkStage): string | undefined {
  return prompts[`fragments/${result.next === undefined ? FRAGMENT_OF[result.from] : "output-work-result"}`];
}

/**
 * Whether a verdict without the attempt's nonce counts. The flow says so; where it does not, the nonce is required exactly if the prompt asks
 * for it. A run that an older version began, or a project's own fragment, may not ask.
 */
export function nonceRule(resolved: Pick<ResolvedFlow, "prompts">, stage: WorkStage): "required" | "optional" {
  const { nonce, from } = stage.result;
  if (nonce !== undefined) return nonce;
  if (from === "json-tail") return "required";
  const asked = from === "prefix" ? resolved.prompts[stage.promptFile ?? ""] : formText(resolved, stage);
  return asked !== undefined && SECRETS.some((name) => asked.includes(name)) ? "required" : "optional";
}

/** Values that only the program itself knows: the nonce, and where it reports over the API, its token. */
const SECRETS = ["{{NONCE}}", TOKEN];

/** Whether the program finds its token in its environment, because its prompt does not have it. */
export function needsTokenVariable(resolved: Pick<ResolvedFlow, "prompts">, stage: WorkStage): boolean {
  return stage.result.from === "handoff-api" && formText(resolved, stage)?.includes(TOKEN) !== true;
}
