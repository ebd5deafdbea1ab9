// Finds texts that look like keys and passwords. A flow is shared and shown, so a secret in it has leaked.

import { createRedaction } from "../secrets/redaction.ts";
import { type FlowProblem, type Path, problem } from "./problem.ts";

const shapes = createRedaction([]);

/** The first line of a private key is enough to count as one. */
export function looksSecret(text: string): boolean {
  return shapes.text(text) !== text || /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----/.test(text);
}

/** Every text and key of a value that looks like a secret, without the secret itself. */
export function secretProblems(value: unknown, path: Path = []): readonly FlowProblem[] {
  if (typeof value === "string") return looksSecret(value) ? [found(path)] : [];
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([key, item]: [string, unknown]) => {
    const here = [...path, Array.isArray(value) ? Number(key) : key];
    return [...(looksSecret(key) ? [found(here)] : []), ...secretProblems(item, here)];
  });
}

function found(path: Path): FlowProblem {
  const hint =
    "take it out, replace it where it was issued, and give it to the agent's program through its own settings";
  return problem("secret_in_config", path, "this looks like a key or a password", hint);
}
