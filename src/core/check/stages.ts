// Checks each stage on its own: its id, its kind, and the agents, prompts and builtins that it names.

import { rungsIn } from "../flow/ladder.ts";
import type { WorkStage } from "../flow/flow.ts";
import { TEAM_RUNNERS } from "../flow/runner-names.ts";
import { isWildcard } from "../flow/flow.ts";
import type { FlowFile, StageFile } from "../flow/flow-file.ts";
import { MERGE_WAYS, mergeWay } from "../ticket/merge-rule.ts";
import { promptPartNames } from "../prompt/prompt.ts";
import { JOIN } from "../run/track-branch.ts";
import type { CheckContext } from "./context.ts";
import { contractProblems } from "./contract.ts";
import { handoffPathProblems } from "./handoff-path.ts";
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
  in: "foreach",
  last: "foreach",
  max: "foreach",
  then_in_same_workspace: "agent",
  findings: "agent",
  notes: "agent",
  retires: "agent",
  memo: "agent",
  covers: "agent",
  verifies: "agent",
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
    ...foreachProblems(file, places),
    ...handoffPathProblems(file, places),
    ...mergeJoinProblems(places),
    ...modelProblems(file, places),
    ...mergeProblems(file, context),
    ...teamProblems(places, context),
    ...places.flatMap(optionProblems),
    ...places.flatMap(findingProblems),
    ...places.flatMap((place) => verifiesProblems(place, places)),
    ...places.flatMap((place) => checkProblems(file, place, context)),
  ];
}

/** An undefined check, and checks of a stage that leaves no work. */
function checkProblems(
  file: FlowFile,
  { stage, path, written }: StagePlace,
  { checks }: CheckContext,
): readonly FlowProblem[] {
  if (written.checks === undefined) return [];
  const at = [...path, "checks"];
  if (stage.kind !== "agent")
    return [problem("key_not_for_kind", at, `"checks" belongs to a stage of kind agent; this is kind ${stage.kind}`)];
  if (checks === undefined || !Array.isArray(written.checks)) return [];
  const known = [...Object.keys(file.checks ?? {}), ...checks];
  return written.checks.flatMap((name, index) =>
    known.includes(name)
      ? []
      : [
          problem(
            "unknown_check",
            [...at, index],
            `there is no check "${name}"`,
            known.length === 0
              ? `define it in passrail.yaml: checks: { ${name}: [npm, test] }`
              : didYouMean(name, known, "checks"),
          ),
        ],
  );
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
    if (!Object.hasOwn(written, key) || kind === (written.kind ?? stage.kind)) continue;
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
  if (stage.kind === "builtin" && written.do === undefined && written.kind !== "foreach") {
    problems.push(
      problem("builtin_missing", path, `stage ${stage.id} is a builtin and does not say which`, 'add "do: <builtin>"'),
    );
  }
  if (stage.kind === "dynamic" && (stage.from.length === 0 || Object.keys(stage.templates).length === 0)) {
    problems.push(problem("dynamic_incomplete", path, `the dynamic stage ${stage.id} needs "from" and "templates"`));
  }
  return problems;
}

/** Findings matter where work can be sent back. */
function findingProblems({ stage, path, written }: StagePlace): readonly FlowProblem[] {
  if (written.findings === undefined || stage.kind !== "agent") return [];
  if ("revise" in stage.route || "redesign" in stage.route) return [];
  const message = `stage ${stage.id} has "findings" but cannot send work back`;
  return [
    problem("findings_unused", [...path, "findings"], message, 'give it a route for "revise", or remove the key'),
  ];
}

/** The rows of a stage that comes later, or that has none, are never there to be checked. */
function verifiesProblems(
  { written, path, sequence }: StagePlace,
  places: readonly StagePlace[],
): readonly FlowProblem[] {
  const { verifies } = written;
  if (verifies === undefined) return [];
  const own = places.findIndex((place) => place.path === path);
  const before = places.slice(0, own).filter((place) => place.sequence === sequence || place.sequence === "");
  const known = before.filter(({ stage }) => stage.kind === "agent").map(({ stage }) => stage.id);
  if (known.includes(verifies)) return [];
  const message = `no agent works as stage "${verifies}" before this one`;
  return [problem("unknown_stage", [...path, "verifies"], message, didYouMean(verifies, known, "stages"))];
}

function nameProblems({ stage, path, written }: StagePlace, context: CheckContext): readonly FlowProblem[] {
  const problems: FlowProblem[] = [];
  const isAny = isWildcard(String(path.at(-1)));
  const named = written.agent ?? (path.at(-2) === "templates" && !isAny ? String(path.at(-1)) : undefined);
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

/** A round needs its file and its last stage, which passes on to the next round and nowhere else. */
function foreachProblems(file: FlowFile, places: readonly StagePlace[]): readonly FlowProblem[] {
  return file.stages.flatMap((stage, index) => {
    if (stage.kind !== "foreach") return [];
    const path: Path = ["stages", index];
    if (stage.in === undefined || stage.last === undefined)
      return [problem("foreach_incomplete", path, `the foreach stage ${stage.id} needs "in" and "last"`)];
    if (stage.in.startsWith("/") || stage.in.split("/").includes(".."))
      return [problem("foreach_incomplete", [...path, "in"], `"${stage.in}" is not a file inside the workspace`)];
    if (Object.hasOwn(file.counters ?? {}, stage.id))
      return [problem("foreach_incomplete", [...path, "id"], `a counter has the name "${stage.id}" already`)];
    const later = file.stages.slice(index + 1);
    const last = later.find(({ id }) => id === stage.last);
    if (last === undefined || (last.kind ?? "agent") !== "agent") {
      const known = later.filter(({ kind = "agent" }) => kind === "agent").map(({ id }) => id);
      const message = `"${stage.last}" is not an agent's stage after ${stage.id}`;
      return [problem("foreach_incomplete", [...path, "last"], message, didYouMean(stage.last, known, "stages"))];
    }
    const at = places.find((place) => place.stage.id === last.id)?.path ?? path;
    return last.route?.["pass"] === undefined
      ? []
      : [
          problem(
            "foreach_incomplete",
            [...at, "route", "pass"],
            `${last.id} passes on to the next round of ${stage.id}`,
          ),
        ];
  });
}

/** A join merges the tracks of the stage before it; tracks without one share a workspace and may overwrite each other. */
function mergeJoinProblems(places: readonly StagePlace[]): readonly FlowProblem[] {
  const main = places.filter(({ sequence, templateOf }) => sequence === "" && templateOf === undefined);
  const isJoin = ({ stage }: StagePlace): boolean => stage.kind === "builtin" && stage.agent === JOIN;
  const lost = places.filter((place) => isJoin(place) && main[main.indexOf(place) - 1]?.stage.kind !== "parallel");
  const shared = main.filter((place, index) => {
    const next = main[index + 1];
    if (place.stage.kind !== "parallel" || (next !== undefined && isJoin(next))) return false;
    const tracks = Object.values(place.stage.tracks);
    return tracks.length > 1 && tracks.some(({ workspace }) => workspace?.dir === undefined);
  });
  const hint = "add a stage behind it: { id: join, kind: builtin, do: join }";
  return [
    ...lost.map(({ stage, path }) =>
      problem("join_without_tracks", path, `${stage.id} joins nothing`, "put it right behind the parallel stage"),
    ),
    ...shared.map(({ stage, path }) =>
      warning("tracks_share_workspace", path, `the tracks of ${stage.id} work in one folder and on one branch`, hint),
    ),
  ];
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
  const agents = places.filter(({ stage, written }) => stage.kind === "agent" && written.runner !== "outside");
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
  const rungs = rungsIn(stage.options?.runner).map((rung) => rung.runner);
  const runner = rungs[0] ?? (stage.command === undefined ? undefined : "command");
  const problems: FlowProblem[] = [];
  const alone = (rungs.length === 0 && runner !== undefined ? [runner] : rungs).find(
    (name) => !TEAM_RUNNERS.includes(name),
  );
  if (stage.teams && alone !== undefined) {
    const hint = `runners that can: ${TEAM_RUNNERS.join(", ")}`;
    problems.push(problem("teams_not_supported", path, `${alone} cannot lead a team of agents`, hint));
  }
  problems.push(...ladderProblems(stage, path));
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

/** A rung that can never be taken, and keys that no rung can use. */
function ladderProblems({ options, command }: WorkStage, path: StagePlace["path"]): readonly FlowProblem[] {
  if (options?.runner === undefined || typeof options.runner === "string") return [];
  const seen = new Set<string>();
  const twice = rungsIn(options.runner).filter(({ runner }) => seen.size === seen.add(runner).size);
  const at = [...path, "runner"];
  const commandProblem = problem(
    "key_not_for_runner",
    [...path, "command"],
    `"command" is for one program; a ladder names several`,
    "name the programs under runners in passrail.yaml",
  );
  return [
    ...twice.map(({ runner }) =>
      problem(
        "rung_twice",
        at,
        `${runner} is on the ladder twice; a limit is its account's, whichever the model`,
        `name each runner once`,
      ),
    ),
    ...(command === undefined ? [] : [commandProblem]),
  ];
}

/** With the runners that the settings choose: a stage that leads a team must have one that can; a router's wish for a team is optional. */
function teamProblems(places: readonly StagePlace[], { runnerOf }: CheckContext): readonly FlowProblem[] {
  if (runnerOf === undefined) return [];
  return places.flatMap(({ stage, path, templateOf }) => {
    if (stage.kind !== "agent" || stage.options?.runner !== undefined || stage.command !== undefined) return [];
    const runner = runnerOf(stage);
    if (runner === undefined || TEAM_RUNNERS.includes(runner)) return [];
    if (stage.teams) {
      const hint = `runners that can: ${TEAM_RUNNERS.join(", ")}`;
      return [problem("teams_not_supported", path, `${runner} cannot lead a team of agents`, hint)];
    }
    if (templateOf === undefined) return [];
    const message = `${runner} cannot lead a team of agents; where the router asks for one, the agent works alone`;
    return [warning("teams_not_supported", path, message)];
  });
}
