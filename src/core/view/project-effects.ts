// The effects of a project's files, as sentences: programs that run, the agents' runners, where they work, how work lands, and
// where a person decides. Two versions are compared sentence by sentence, so a gate that is gone shows as a sentence that is gone.

export const PROJECT_FILE_KINDS = ["settings", "flow", "agent", "prompt", "mcp", "program", "switches"] as const;
export type ProjectFileKind = (typeof PROJECT_FILE_KINDS)[number];

/** Effects that run programs come first: many harmless files must not push a dangerous one out of sight. */
const IMPORTANCE: readonly ProjectFileKind[] = ["settings", "switches", "program", "mcp", "flow", "agent", "prompt"];

export function byImportance(
  a: { readonly path: string; readonly kind: ProjectFileKind },
  b: { readonly path: string; readonly kind: ProjectFileKind },
): number {
  return IMPORTANCE.indexOf(a.kind) - IMPORTANCE.indexOf(b.kind) || (a.path < b.path ? -1 : 1);
}

/** `value` is the parsed content of a settings or flow file. */
export type EffectFile = { readonly path: string; readonly kind: ProjectFileKind; readonly value?: unknown };

export type EffectChange = { readonly change: "added" | "removed" | "same"; readonly text: string };

/** Settings whose value matters as a whole, with the words for them. */
const PLAIN_KEYS: readonly (readonly [string, string])[] = [
  ["runner", "runner of all agents"],
  ["model", "model of all agents"],
  ["workspace", "workspace of every run"],
  ["workspaces.sandbox", "sandbox"],
  ["workspaces.copy", "files that workspaces get"],
  ["workspaces.bubblewrap", "bubblewrap"],
  ["workspaces.docker", "container"],
  ["workspaces.daytona", "Daytona"],
  ["merge.mode", "merge mode"],
  ["merge.target", "merge target"],
  ["merge.remote", "merge remote"],
  ["merge.forge", "forge"],
  ["merge.delete_branch", "delete merged branches"],
  ["repository_settings", "hooks and settings of the repository for agents' programs"],
  ["environment.pass", "variables passed on to agents"],
  ["budgets", "budgets"],
  ["slots", "stages at once"],
  ["tickets.dispatch", "the daemon picks tickets"],
  ["tickets.folder", "ticket folder"],
  ["tickets.repos", "further repositories"],
  ["tickets.flow", "flow of tickets"],
  ["verdict_repair", "verdict repair"],
  ["test_files", "files that testers may change"],
];
const AGENT_KEYS = ["runner", "model", "permission", "mcp", "mcp_config", "tools", "session", "questions"] as const;
const HOOK_KEYS = ["tool_use", "session_end", "teammate_idle", "task_completed"] as const;
const MAX_TEXT = 200;

export function effectsOf(files: readonly EffectFile[]): readonly string[] {
  const found = files.toSorted(byImportance).flatMap(({ path, kind, value }) => {
    if (kind === "settings") return settingsEffects(value);
    if (kind === "flow") return flowEffects(path, value);
    if (kind === "program") return [`a script of the repository is run: ${path}`];
    if (kind === "mcp") return [`MCP servers from ${path}`];
    if (kind === "switches") return [`switches from ${path}`];
    return [`${kind} ${path}`];
  });
  return [...new Set(found)];
}

export function compareEffects(before: readonly string[], after: readonly string[]): readonly EffectChange[] {
  const [old, fresh] = [new Set(before), new Set(after)];
  const as = (change: EffectChange["change"], texts: readonly string[]): readonly EffectChange[] =>
    texts.map((text) => ({ change, text }));
  return [
    ...as(
      "removed",
      before.filter((text) => !fresh.has(text)),
    ),
    ...as(
      "added",
      after.filter((text) => !old.has(text)),
    ),
    ...as(
      "same",
      after.filter((text) => old.has(text)),
    ),
  ];
}

function settingsEffects(value: unknown): readonly string[] {
  if (!isMap(value)) return ["passrail.yaml cannot be read"];
  const commands = (key: string, words: string): readonly string[] =>
    listOf(at(value, key)).map((command) => `${words}: ${shown(command)}`);
  const notify = at(value, "notify.command");
  return [
    ...namedEffects(value["agents"], "agent", AGENT_KEYS),
    ...namedEffects(value["runners"], "program of", ["env", "pass", "models"]),
    ...commands("workspaces.setup", "runs in every fresh workspace"),
    ...commands("merge.checks", "runs before work lands"),
    ...checkEffects(value["checks"], "runs on finished work"),
    ...(notify === undefined ? [] : [`runs for every notice: ${shown(notify)}`]),
    ...HOOK_KEYS.flatMap((key) => commands(`hooks.${key}`, `runs at ${key.replace("_", " ")} of every agent`)),
    ...listOf(value["triggers"]).map((trigger) => `starts runs automatically: ${shown(trigger)}`),
    ...PLAIN_KEYS.flatMap(([key, words]) => {
      const set = at(value, key);
      return set === undefined ? [] : [`${words}: ${shown(set)}`];
    }),
  ];
}

function checkEffects(value: unknown, words: string): readonly string[] {
  return Object.entries(isMap(value) ? value : {}).map(([name, check]) => {
    const run = isMap(check) ? check["run"] : check;
    const more = isMap(check) && check["env"] !== undefined ? `, with ${shown(check["env"])}` : "";
    return `${words} (${name}): ${shown(run)}${more}`;
  });
}

function namedEffects(value: unknown, what: string, keys: readonly string[]): readonly string[] {
  return Object.entries(isMap(value) ? value : {}).flatMap(([name, each]) => {
    if (!isMap(each)) return [];
    const command = each["command"];
    return [
      ...(command === undefined ? [] : [`${what} ${name} runs: ${shown(command)}`]),
      ...keys.flatMap((key) => (each[key] === undefined ? [] : [`${what} ${name}: ${shown({ [key]: each[key] })}`])),
    ];
  });
}

function flowEffects(path: string, value: unknown): readonly string[] {
  if (!isMap(value)) return [`${path} cannot be read`];
  const flow = typeof value["flow"] === "string" ? value["flow"] : path;
  const places = [value, ...(isMap(value["defaults"]) ? [value["defaults"]] : [])];
  return [
    `flow ${flow}`,
    ...(value["allow_ungated"] === true ? [`flow ${flow} may end without a person's decision`] : []),
    ...places.flatMap((place) =>
      place["workspace"] === undefined ? [] : [`flow ${flow}: workspace ${shown(place["workspace"])}`],
    ),
    ...checkEffects(value["checks"], `flow ${flow}: runs on finished work`),
    ...(value["merge"] === undefined ? [] : [`flow ${flow}: merge ${shown(value["merge"])}`]),
    ...stagesIn(value).flatMap((stage) => stageEffects(flow, stage)),
  ];
}

function stageEffects(flow: string, stage: Readonly<Record<string, unknown>>): readonly string[] {
  const id = shown(stage["id"]);
  if (stage["kind"] === "gate") return [`flow ${flow}: a person decides at ${id}`];
  return [
    ...(stage["command"] === undefined ? [] : [`flow ${flow}: ${id} runs ${shown(stage["command"])}`]),
    ...["runner", "model", "permission", "mcp"].flatMap((key) =>
      stage[key] === undefined ? [] : [`flow ${flow}: ${id} has ${key} ${shown(stage[key])}`],
    ),
  ];
}

/** The stages of a flow at any depth: tracks, follow-ups and templates have stages of their own. */
function stagesIn(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (Array.isArray(value)) return value.flatMap(stagesIn);
  if (!isMap(value)) return [];
  const own = typeof value["id"] === "string" ? [value] : [];
  return [...own, ...Object.values(value).flatMap(stagesIn)];
}

function at(value: unknown, path: string): unknown {
  return path.split(".").reduce<unknown>((inner, key) => (isMap(inner) ? inner[key] : undefined), value);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** An argument list as one would type it; anything else as JSON, of variables and headers only the names. */
function shown(value: unknown): string {
  const isWords = Array.isArray(value) && value.every((word) => typeof word === "string");
  const text =
    typeof value === "string"
      ? value
      : isWords
        ? value.map((word) => (/^[\w./:@%+,-]+$/u.test(word) ? word : JSON.stringify(word))).join(" ")
        : (JSON.stringify(value, (key, inner: unknown) =>
            (key === "env" || key === "headers") && isMap(inner) ? Object.keys(inner) : inner,
          ) ?? "");
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
