// Checks each stage on its own: its id, its kind, and the agents, prompts and builtins that it names.

import { TEAM_RUNNERS } from "../flow/agent-options.ts";
import type { FlowFile, StageFile } from "../flow/flow-file.ts";
import { MERGE_WAYS, mergeWay } from "../ticket/merge-rule.ts";
import { promptPartNames } from "../prompt/prompt.ts";
import type { CheckContext } from "./context.ts";
import { contractProblems } from "./contract.ts";
import type { StagePlace } from "./places.ts";
import { type FlowProblem, type Path, problem, warning } from "./problem.ts";
import { didYouMean } from "./suggest.ts";

/** Targets of routes; a stage with such a name could never be reached by it. */
export const TARGET_WORDS = ["next", "self", "prev", "first", "escalate", "stop", "end", "warn"];
const RESERVED = new Set([...TARGET_WORDS, "cancel", "again", "accept", "pipeline"]);

/** Keys that apply to one kind of stage only; on other kinds they would be silently ignored. */
const KIND_OF_KEY: Readonly<Partial<Record<keyof StageFile, StageFile["kind"]>>> = {
  who: "gate",
  do: "builtin",
  first_status: "builtin",
  fallback: "router",
  max_tokens: "router",
  from: "dynamic",
  templates: "dynamic",
  tracks: "parallel",
  join: "parallel",
  then_in_same_workspace: "agent",
};

export function stageProblems(
  file: FlowFile,
  places: readonly StagePlace[],
  context: CheckContext,
): readonly FlowProblem[] {
  return [
    ...idProblems(places),
    ...places.flatMap((place) => [...kindProblems(place), ...nameProblems(place, context)]),
    ...partProblems(file.defaults?.prompt, ["defaults"]),
    ...places.flatMap(({ written, path }) => partProblems(written.prompt, path)),
    ...joinProblems(places),
    ...modelProblems(file, places),
    ...mergeProblems(file, context),
    ...teamProblems(places, context),
    ...places.flatMap(optionProblems),
  ];
}

function idProblems(places: readonly StagePlace[]): readonly FlowProblem[] {
  const seen = new Map<string, Path>();
  return places.flatMap(({ stage, path, templateOf }) => {
    if (templateOf !== undefined) return [];
    const at = [...path, "id"];
    const first = seen.get(stage.id);
    seen.set(stage.id, first ?? path);
    if (RESERVED.has(stage.id))
      return [problem("reserved_id", at, `"${stage.id}" cannot be the id of a stage: it is a word of routes`)];
    if (first === undefined) return [];
    return [
      problem(
        "duplicate_stage",
        at,
        `two stages have the id "${stage.id}"`,
        `the first one is ${first.join(".")}; ids are unique over all tracks`,
      ),
    ];
  });
}

function kindProblems({ stage, path, written, templateOf }: StagePlace): readonly FlowProblem[] {
  const problems: FlowProblem[] = [];
  for (const [key, kind] of Object.entries(KIND_OF_KEY)) {
    if (!Object.hasOwn(written, key) || kind === stage.kind) continue;
    problems.push(
      problem(
        "key_not_for_kind",
        [...path, key],
        `"${key}" belongs to a stage of kind ${kind}; this is kind ${stage.kind}`,
      ),
    );
  }
  if (stage.kind === "agent" && written.agent === undefined && templateOf === undefined) {
    problems.push(
      problem(
        "agent_missing",
        path,
        `stage ${stage.id} names no agent`,
        `add "agent: <name>", or "kind: gate" if a person decides here`,
      ),
    );
  }
  if (stage.kind !== "agent" && stage.kind !== "router" && written.agent !== undefined) {
    problems.push(
      problem(
        "key_not_for_kind",
        [...path, "agent"],
        `"agent" belongs to a stage of kind agent; this is kind ${stage.kind}`,
      ),
    );
  }
  if (stage.kind === "builtin" && written.do === undefined) {
    problems.push(
      problem("builtin_missing", path, `stage ${stage.id} is a builtin and does not say which`, 'add "do: <builtin>"'),
    );
  }
  if (stage.kind === "dynamic" && (stage.from.length === 0 || Object.keys(stage.templates).length === 0)) {
    problems.push(problem("dynamic_incomplete", path, `the dynamic stage ${stage.id} needs "from" and "templates"`));
  }
  return problems;
}

function nameProblems({ stage, path, written }: StagePlace, context: CheckContext): readonly FlowProblem[] {
  const problems: FlowProblem[] = [];
  const isWildcard = path.at(-1) === "*";
  const named = written.agent ?? (path.at(-2) === "templates" && !isWildcard ? String(path.at(-1)) : undefined);
  if (named !== undefined && !context.agents.has(named.toLowerCase())) {
    const at = written.agent === undefined ? path : [...path, "agent"];
    problems.push(
      problem("unknown_agent", at, `there is no agent "${named}"`, didYouMean(named, context.agents, "agents")),
    );
  }
  if (written.do !== undefined && !context.builtins.has(written.do)) {
    const hint = didYouMean(written.do, context.builtins, "builtins");
    problems.push(problem("unknown_builtin", [...path, "do"], `there is no builtin "${written.do}"`, hint));
  }
  const wanted: [string, Path][] = [
    ...(written.prompt_file === undefined ? [] : [[written.prompt_file, [...path, "prompt_file"]] as [string, Path]]),
    ...(written.inline ?? []).map((name, index): [string, Path] => [
      `fragments/inline-${name}`,
      [...path, "inline", index],
    ]),
  ];
  for (const [name, at] of wanted) problems.push(...promptProblems(name, at, context));
  if (stage.kind === "agent") problems.push(...contractProblems(stage, path, context));
  return problems;
}

function promptProblems(name: string, at: Path, context: CheckContext): readonly FlowProblem[] {
  if (context.prompts.has(name)) return [];
  return [
    problem(
      "unknown_prompt",
      at,
      `there is no prompt prompts/${name}.md`,
      didYouMean(name, context.prompts, "prompts"),
    ),
  ];
}

/** A missing part would be silently left out of the prompt. */
function partProblems(parts: StageFile["prompt"], path: Path): readonly FlowProblem[] {
  if (!Array.isArray(parts)) return [];
  const known = promptPartNames();
  return parts.flatMap((name, index) => {
    if (known.includes(name)) return [];
    const at = [...path, "prompt", index];
    return [
      problem("unknown_prompt_part", at, `"${name}" is not a part of a prompt`, didYouMean(name, known, "parts")),
    ];
  });
}

function joinProblems(places: readonly StagePlace[]): readonly FlowProblem[] {
  const seen = new Set<string>();
  return places.flatMap(({ stage, path, written }) => {
    if (stage.kind !== "parallel") return [];
    const names = Object.keys(stage.tracks);
    const problems: FlowProblem[] = [];
    if (names.length === 0)
      problems.push(problem("invalid_join", path, `the parallel stage ${stage.id} has no tracks`, 'add "tracks"'));
    for (const name of names) {
      if (seen.has(name) || name === "main") {
        problems.push(
          problem("duplicate_track", [...path, "tracks", name], `the name "${name}" is taken by another track`),
        );
      }
      seen.add(name);
    }
    for (const [index, name] of stage.join.entries()) {
      if (names.includes(name)) continue;
      problems.push(
        problem(
          "invalid_join",
          [...path, "join", index],
          `${stage.id} joins "${name}", which is not one of its tracks`,
          didYouMean(name, names, "tracks"),
        ),
      );
    }
    const forgotten = names.filter((name) => !stage.join.includes(name));
    if (Array.isArray(written.join) && forgotten.length > 0) {
      problems.push(
        problem(
          "invalid_join",
          [...path, "join"],
          `${stage.id} never joins ${forgotten.join(", ")}`,
          "name every track, or write join: all-passed",
        ),
      );
    }
    return problems;
  });
}

/** A flow that picks models must do so for every agent; a forgotten one would run on the machine's default, at any price. */
function modelProblems(file: FlowFile, places: readonly StagePlace[]): readonly FlowProblem[] {
  const agents = places.filter(({ stage }) => stage.kind === "agent");
  const picks = file.defaults?.model === undefined && agents.some(({ written }) => written.model !== undefined);
  if (!picks) return [];
  return agents.flatMap(({ stage, path, written }) =>
    written.model === undefined
      ? [
          problem(
            "model_missing",
            path,
            `stage ${stage.id} names no model, the other stages do`,
            'add "model", or one under "defaults"',
          ),
        ]
      : [],
  );
}

function mergeProblems(file: FlowFile, context: CheckContext): readonly FlowProblem[] {
  const { merge } = file;
  if (merge === undefined) return [];
  const unknownDefault = Object.hasOwn(merge.modes, merge.default)
    ? []
    : [
        problem(
          "unknown_mode",
          ["merge", "default"],
          `"${merge.default}" is not one of the modes`,
          didYouMean(merge.default, Object.keys(merge.modes), "modes"),
        ),
      ];
  const fragments = Object.entries(merge.fragments).flatMap(([mode, name]) =>
    promptProblems(`fragments/${name}`, ["merge", "fragments", mode], context),
  );
  const rules = Object.entries(merge.modes).flatMap(([mode, rule]) =>
    mergeWay(rule, true) !== undefined && mergeWay(rule, false) !== undefined
      ? []
      : [
          problem(
            "unknown_mode",
            ["merge", "modes", mode],
            `"${rule}" does not say how work leaves`,
            `write ${MERGE_WAYS.join(", ")}, or: pr if terminal else push`,
          ),
        ],
  );
  return [...unknownDefault, ...rules, ...fragments];
}

/** Reports unsupported options of the named runner at check time, not in the middle of a run. */
function optionProblems({ stage, path }: StagePlace): readonly FlowProblem[] {
  if (stage.kind !== "agent" && stage.kind !== "router") return [];
  const runner = stage.options?.runner ?? (stage.command === undefined ? undefined : "command");
  const problems: FlowProblem[] = [];
  if (stage.teams && runner !== undefined && !TEAM_RUNNERS.includes(runner)) {
    const hint = `runners that can: ${TEAM_RUNNERS.join(", ")}`;
    problems.push(problem("teams_not_supported", path, `${runner} cannot lead a team of agents`, hint));
  }
  if (stage.options?.transport !== undefined && runner !== undefined && runner !== "gemini" && runner !== "opencode") {
    const message = `"transport" is for gemini and opencode; ${runner} has one way only`;
    problems.push(problem("key_not_for_runner", [...path, "transport"], message));
  }
  if ((runner === "acp" || stage.options?.runner === "command") && stage.command === undefined) {
    const hint = 'add "command: [program, argument]"';
    problems.push(problem("command_missing", path, `the runner ${runner ?? "command"} needs a program`, hint));
  }
  return problems;
}

function teamProblems(places: readonly StagePlace[], context: CheckContext): readonly FlowProblem[] {
  if (context.teams !== false) return [];
  return places.flatMap(({ stage, path }) =>
    stage.kind === "dynamic"
      ? [
          warning(
            "teams_not_supported",
            path,
            "the runner cannot work in teams; a stage that asks for a team is refused",
          ),
        ]
      : [],
  );
}
