// A flow file that lies anywhere, checked as if it were in the catalog: the same form, the same agents and prompts around it.

import { dirname } from "node:path";
import type { Catalog, CheckedFlow } from "../../catalog/catalog.ts";
import { readText } from "../../catalog/read-text.ts";
import { readYaml, type YamlText } from "../../catalog/yaml.ts";
import { BUILTINS, type CheckContext, checkFlow } from "../../core/check/check-flow.ts";
import type { FileProblem, FlowProblem } from "../../core/check/problem.ts";
import { looksSecret } from "../../core/check/secrets.ts";
import { resolveFlow } from "../../core/flow.ts";
import { err, ok, type Result } from "../../core/result.ts";

export function checkFileAt(catalog: Catalog, file: string): Result<CheckedFlow, readonly FileProblem[]> {
  const text = readText(file, dirname(file), "flow");
  if (!text.ok) return err([text.error]);
  const yaml = readYaml(text.value.replace(/^\uFEFF/u, ""), { file, subject: "flow" });
  if (!yaml.ok) return err(yaml.error.map(withoutSecrets));
  const checked = checkFlow(yaml.value.value, contextOf(catalog));
  const warnings = checked.warnings.map((problem) => placed(problem, yaml.value, file));
  if (checked.ok) return ok({ file: checked.value, flow: resolveFlow(checked.value), problems: inOrder(warnings) });
  return err(inOrder([...checked.error.map((problem) => placed(problem, yaml.value, file)), ...warnings]));
}

function contextOf(catalog: Catalog): CheckContext {
  const { agents } = catalog.agents();
  return {
    agents: new Set(agents.keys()),
    prompts: new Set(catalog.listPrompts()),
    builtins: BUILTINS,
    textOf: (kind, name) => {
      if (kind === "agent") return agents.get(name)?.prompt;
      const prompt = catalog.loadPrompt(name);
      return prompt.ok ? prompt.value : undefined;
    },
  };
}

function placed({ path, ...problem }: FlowProblem, yaml: YamlText, file: string): FileProblem {
  const position = yaml.at(path);
  const text = yaml.lineAt(position.line);
  return withoutSecrets({ ...problem, file, ...position, ...(text === undefined ? {} : { text }) });
}

/** A line that may hold a secret is not repeated on a terminal or in a log. */
function withoutSecrets(problem: FileProblem): FileProblem {
  const { text, ...rest } = problem;
  return text === undefined || problem.code === "secret_in_config" || looksSecret(text) ? rest : problem;
}

function inOrder(problems: readonly FileProblem[]): readonly FileProblem[] {
  return [...problems].sort((a, b) => a.line - b.line || a.column - b.column);
}
