// The models that a person names for stages or agents of one run: `build=opus`, or one for all.

import type { WrittenOptions } from "../../core/flow/agent-options.ts";
import type { ResolvedFlow } from "../../core/flow/agent.ts";
import { runnerChoiceOf } from "../../core/flow/runner-choice.ts";
import type { JsonObject } from "../../core/json.ts";
import { err, ok, type Problem, type Result } from "../../core/result.ts";
import { nameIn, stagesNamed } from "./runners.ts";

/** `name`: a stage, an agent or `*`, as the flow spells it. */
export type NamedModel = { readonly name: string; readonly model: string };

const CHARS = 200;

/** `STAGE=MODEL`, or a model for all. */
export function readModels(resolved: ResolvedFlow, typed: readonly string[]): Result<readonly NamedModel[]> {
  const read: NamedModel[] = [];
  for (const text of typed) {
    const at = text.indexOf("=");
    const found = nameIn(resolved, text.slice(0, Math.max(0, at)).trim() || "*");
    if (!found.ok) return err({ ...found.error, field: `models/${text.slice(0, Math.max(0, at)).trim()}` });
    const [name, model] = [found.value, text.slice(at + 1).trim()];
    if (model === "" || model.length > CHARS || /\p{Cc}/u.test(model))
      return err(modelProblem(name, `--model ${name}=…: expected the name of a model`));
    read.push({ name, model });
  }
  return ok(read);
}

/** With these models beside what is said already about who plays. */
export function withModels(
  runners: Readonly<Record<string, WrittenOptions>>,
  models: readonly NamedModel[],
): Readonly<Record<string, WrittenOptions>> {
  const all: Record<string, WrittenOptions> = { ...runners };
  for (const { name, model } of models) all[name] = { ...all[name], model };
  return all;
}

/** A model that its runner would never be asked for is a mistake, not a wish. `facts`: with the runners and these models. */
export function unusedModel(
  resolved: ResolvedFlow,
  facts: JsonObject,
  models: readonly NamedModel[],
): Problem | undefined {
  for (const { name, model } of models) {
    const choices = stagesNamed(resolved, name).flatMap((stage) => runnerChoiceOf(resolved, facts, stage) ?? []);
    const playing = choices.filter(({ runner }) => runner !== "command" && runner !== "outside");
    if (playing.some(({ options }) => options.model === model)) continue;
    const [other] = playing;
    return modelProblem(
      name,
      other === undefined
        ? `no agent with a model plays ${name}`
        : `${other.runner} plays ${name} and does not take the model ${JSON.stringify(model)}; name its runner, too: --agent ${name}=RUNNER`,
    );
  }
  return undefined;
}

const modelProblem = (name: string, message: string): Problem => ({
  code: "model_refused",
  message,
  field: `models/${name}`,
});
