// Where in the workspace a flow wants its handoff files: `handoffs/{feature}/{role}-{iteration}.md`. Every attempt has a path of its own.

export type HandoffNames = {
  /** The id of the work. */
  readonly feature: string;
  readonly run: string;
  readonly track: string;
  readonly stage: string;
  /** The agent of the stage. */
  readonly role: string;
  readonly iteration: number;
};

const PLACE = /\{([^{}]*)\}/gu;
const NAMES: ReadonlySet<string> = new Set<keyof HandoffNames>([
  "feature",
  "run",
  "track",
  "stage",
  "role",
  "iteration",
]);

/** The path of one attempt, relative to the workspace. Values are made safe as names of files. */
export function handoffPath(template: string, names: HandoffNames): string {
  return template.replace(PLACE, (place, name: string) =>
    NAMES.has(name) ? fileName(String(names[name as keyof HandoffNames])) : place,
  );
}

/** The error of a template, in a sentence; undefined if it is valid. */
export function handoffPathFault(template: string): string | undefined {
  const unknown = [...template.matchAll(PLACE)].find(([, name]) => !NAMES.has(name ?? ""));
  if (unknown !== undefined) return `${unknown[0]} is not known; there are {${[...NAMES].join("}, {")}}`;
  const parts = template.replace(PLACE, "x").split("/");
  const isPlain = parts.every((part) => /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$/u.test(part) && part !== ".git");
  if (!isPlain) return "it must be a relative path of plain names, without hidden folders";
  if (parts.length < 2) return "it must be in a folder of its own";
  if (!template.includes("{iteration}")) return "it must hold {iteration}, so that no attempt overwrites another's";
  return undefined;
}

/** Never empty, never a hidden name or a way out of the folder. */
function fileName(text: string): string {
  const plain = text.replace(/[^A-Za-z0-9._-]+/gu, "-").replace(/^[.-]+/u, "");
  return plain === "" ? "x" : plain.slice(0, 80);
}
