// Turns the text of a flow file into a checked flow, or into problems that each have a line and column.

import { checkFlow } from "../core/check/check-flow.ts";
import type { CheckContext } from "../core/check/context.ts";
import { type FileProblem, type FlowProblem, problem } from "../core/check/problem.ts";
import { looksSecret } from "../core/check/secrets.ts";
import { type Flow, resolveFlow } from "../core/flow/flow.ts";
import type { FlowFile } from "../core/flow/flow-file.ts";
import { err, ok, type Result } from "../core/result.ts";
import { readYaml, type YamlText } from "../file/yaml.ts";
import { optional } from "../core/optional.ts";

export type CheckedFlow = { readonly file: FlowFile; readonly flow: Flow; readonly problems: readonly FileProblem[] };

/** `name`: the name the flow must have, where the file name sets it. */
export function checkFlowText(
  text: string,
  file: string,
  context: CheckContext,
  name?: string,
): Result<CheckedFlow, readonly FileProblem[]> {
  const yaml = readYaml(text.replace(/^\uFEFF/, ""), { file, subject: "flow" });
  if (!yaml.ok) return err(yaml.error.map(shownSafely));
  const checked = checkFlow(yaml.value.value, context);
  const warnings = checked.warnings.map((found) => placed(found, yaml.value, file));
  if (checked.ok && name !== undefined && checked.value.flow !== name) {
    const message = `the file is called ${name}, the flow "${checked.value.flow}"`;
    const mismatch = problem("flow_name_mismatch", ["flow"], message, "give both the same name");
    return err([placed(mismatch, yaml.value, file)]);
  }
  if (checked.ok) return ok({ file: checked.value, flow: resolveFlow(checked.value), problems: inOrder(warnings) });
  const errors = checked.error.map((found) => placed(found, yaml.value, file));
  return err(inOrder([...errors, ...warnings]));
}

/** Adds the position in the text and the line itself. */
function placed({ path, ...found }: FlowProblem, yaml: YamlText, file: string): FileProblem {
  const position = yaml.at(path);
  const text = yaml.lineAt(position.line);
  return shownSafely({ ...found, file, ...position, ...optional({ text }) });
}

function shownSafely(found: FileProblem): FileProblem {
  const { text, ...rest } = found;
  return text === undefined || found.code === "secret_in_config" || looksSecret(text) ? rest : found;
}

function inOrder(problems: readonly FileProblem[]): readonly FileProblem[] {
  return [...problems].sort((a, b) => a.line - b.line || a.column - b.column);
}
