// Checks the words of a flow: verdicts, scores, the texts that contain a report, and the names of placeholders.

import type { Flow } from "../flow/flow.ts";
import type { FlowFile } from "../flow/flow-file.ts";
import { badFactPlaces } from "../flow/template.ts";
import { type StagePlace, routesOf } from "./places.ts";
import { type FlowProblem, type Path, problem, warning } from "./problem.ts";
import { didYouMean } from "./suggest.ts";

export function wordProblems(file: FlowFile, flow: Flow, places: readonly StagePlace[]): readonly FlowProblem[] {
  return [
    ...scoreProblems(flow),
    ...places.flatMap((place) => [
      ...verdictProblems(place, flow),
      ...judgeProblems(place, flow),
      ...resultProblems(place, flow),
      ...envProblems(place),
    ]),
    ...textProblems(file, places),
  ];
}

function scoreProblems(flow: Flow): readonly FlowProblem[] {
  const ranges = Object.entries(flow.words.score);
  return ranges.flatMap(([verdict, [low, high]], index) => {
    const path: Path = ["words", "score", verdict];
    if (low > high)
      return [
        problem(
          "invalid_number",
          path,
          `the range of ${verdict} goes from ${low} to ${high}`,
          "write the smaller number first",
        ),
      ];
    const clash = ranges.slice(0, index).find(([, [otherLow, otherHigh]]) => low <= otherHigh && otherLow <= high);
    return clash === undefined
      ? []
      : [problem("score_ranges_overlap", path, `the ranges of ${clash[0]} and ${verdict} overlap`)];
  });
}

/** Words of a role that gives no verdict. They mean pass for such a role, and must not for a judge. */
const NO_JUDGEMENT: ReadonlySet<string> = new Set(["n/a", "na", "none", "-", "not applicable", "no verdict", "skip"]);

/** A stage that can send work back is a judge: it concludes with a word that judges. */
function judgeProblems({ stage, path }: StagePlace, flow: Flow): readonly FlowProblem[] {
  if (stage.kind !== "agent" || !stage.expectsVerdict) return [];
  const allowed = stage.verdicts ?? Object.keys(flow.words.verdict);
  const open = allowed.find((word) => flow.words.verdict[word] === "pass" && NO_JUDGEMENT.has(word.toLowerCase()));
  if (open === undefined) return [];
  const words = Object.keys(flow.words.verdict).filter((word) => !NO_JUDGEMENT.has(word.toLowerCase()));
  return [
    problem(
      "judge_without_verdict",
      stage.verdicts === undefined ? path : [...path, "verdicts"],
      `stage ${stage.id} judges, and "${open}" would pass the work without a judgement`,
      `name its words: verdicts: [${words.join(", ")}]`,
    ),
  ];
}

function verdictProblems(place: StagePlace, flow: Flow): readonly FlowProblem[] {
  const { stage, path } = place;
  if (stage.kind !== "agent" && stage.kind !== "builtin" && stage.kind !== "router") return [];
  const known = Object.keys(flow.words.verdict);
  const problems = (stage.verdicts ?? []).flatMap((word, index) => {
    const at = [...path, "verdicts", index];
    const meaning = Object.hasOwn(flow.words.verdict, word) ? flow.words.verdict[word] : undefined;
    if (meaning === undefined) {
      return [
        problem("unknown_verdict_word", at, `"${word}" is not in words.verdict`, didYouMean(word, known, "words")),
      ];
    }
    if (meaning === "pass" || Object.hasOwn(stage.route, meaning)) return [];
    return [
      warning(
        "verdict_not_routed",
        at,
        `${word} means ${meaning}, and stage ${stage.id} has no way for it: the run stops then`,
      ),
    ];
  });
  if (flow.words.unknownVerdict === "pass" && stage.expectsVerdict) {
    const hint = "use failed or revise; pass is only for flows whose stages give no verdict";
    problems.push(
      problem(
        "unknown_verdict_passes",
        ["words", "unknown_verdict"],
        `stage ${stage.id} gives a verdict, so a missing one cannot count as pass`,
        hint,
      ),
    );
  }
  return problems;
}

function resultProblems({ stage, path, written }: StagePlace, flow: Flow): readonly FlowProblem[] {
  if (stage.kind !== "agent") return [];
  const { result } = stage;
  const at: Path = written.result === undefined ? ["defaults", "result"] : [...path, "result"];
  if (result.from === "file-verdict" && result.path === undefined) {
    return [problem("result_incomplete", at, `${stage.id}: a file-verdict needs the path of its file`, 'add "path"')];
  }
  if (result.from !== "prefix") return [];
  const prefixes = Object.entries(result.prefixes ?? {});
  if (prefixes.length === 0)
    return [problem("result_incomplete", at, `${stage.id}: a prefix result needs its prefixes`, 'add "prefixes"')];
  const known = [...Object.keys(flow.words.verdict), ...Object.keys(flow.words.health)];
  return prefixes.flatMap(([prefix, word]) =>
    known.includes(word)
      ? []
      : [
          problem(
            "unknown_verdict_word",
            [...at, "prefixes", prefix],
            `"${word}" is neither in words.verdict nor in words.health`,
            didYouMean(word, known, "words"),
          ),
        ],
  );
}

const ENV_NAME = /\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))/g;

/** A command runs without a shell, so `$NAME` would reach the program as text unless the flow declares the name. */
function envProblems({ stage, path, written }: StagePlace): readonly FlowProblem[] {
  if (stage.kind !== "agent" || stage.command === undefined) return [];
  const base: Path = written.command === undefined ? ["defaults", "command"] : [...path, "command"];
  return stage.command.flatMap((word, index) =>
    [...word.matchAll(ENV_NAME)].flatMap(([, braced, bare]) => {
      const name = braced ?? bare ?? "";
      if (name.startsWith("PASSRAIL_") || stage.vars.includes(name)) return [];
      return [
        problem(
          "unknown_env",
          [...base, index],
          `the command refers to ${name}, which the stage does not declare`,
          `add ${name} to "vars"; declared: ${stage.vars.join(", ") || "none"}`,
        ),
      ];
    }),
  );
}

/** Checks texts with `{facts}`, folders that must stay inside the workspace, and branches that git must not read as an option. */
function textProblems(file: FlowFile, places: readonly StagePlace[]): readonly FlowProblem[] {
  const templates: [string | undefined, Path][] = [
    [file.defaults?.branch, ["defaults", "branch"]],
    [file.log?.start, ["log", "start"]],
    [file.log?.end, ["log", "end"]],
    [file.log?.done, ["log", "done"]],
  ];
  const folders: [string | undefined, Path][] = [];
  const branches: [string | undefined, Path][] = [[file.defaults?.branch, ["defaults", "branch"]]];
  const spaces: [FlowFile["workspace"], Path][] = [
    [file.workspace, ["workspace"]],
    [file.defaults?.workspace, ["defaults", "workspace"]],
  ];
  if (file.defaults?.result?.path !== undefined)
    folders.push([file.defaults.result.path, ["defaults", "result", "path"]]);
  for (const { written, path } of places) {
    spaces.push([written.workspace, [...path, "workspace"]]);
    for (const [track, plan] of Object.entries(written.tracks ?? {}))
      spaces.push([plan.workspace, [...path, "tracks", track, "workspace"]]);
    folders.push([written.result?.path, [...path, "result", "path"]]);
    templates.push([written.notes?.file, [...path, "notes", "file"]]);
    folders.push([written.notes?.file, [...path, "notes", "file"]]);
    for (const [index, file] of (written.retires?.files ?? []).entries()) {
      templates.push([file, [...path, "retires", "files", index]]);
      folders.push([file, [...path, "retires", "files", index]]);
    }
  }
  for (const [space, path] of spaces) {
    templates.push([space?.dir, [...path, "dir"]], [space?.branch, [...path, "branch"]]);
    folders.push([space?.dir, [...path, "dir"]], [space?.memory, [...path, "memory"]]);
    branches.push([space?.branch, [...path, "branch"]], [space?.base, [...path, "base"]]);
  }
  return [
    ...templates.flatMap(([text, path]) =>
      badFactPlaces(text ?? "").map((place) =>
        problem(
          "invalid_template",
          path,
          `${place} is not a fact`,
          "write {plan.backend_dir}, or {ticket.group or ticket.id}",
        ),
      ),
    ),
    ...folders.flatMap(([text, path]) =>
      text === undefined || isInside(text)
        ? []
        : [
            problem(
              "unsafe_path",
              path,
              `"${text.slice(0, 80)}" leads out of the workspace`,
              "write a relative path without ..",
            ),
          ],
    ),
    ...branches.flatMap(([text, path]) =>
      text === undefined || /^[A-Za-z0-9{][^\s~^:?*[\\]*$/.test(text.replaceAll(" or ", "|"))
        ? []
        : [problem("invalid_branch", path, `"${text.slice(0, 80)}" cannot be a branch`)],
    ),
  ];
}

function isInside(path: string): boolean {
  return (
    !path.startsWith("/") &&
    !path.startsWith("~") &&
    !path.includes("\\") &&
    !/^[A-Za-z]:/.test(path) &&
    !path.split("/").includes("..")
  );
}

/** Conditions of the routes of a place, for the check of facts. */
export function routeConditions(place: StagePlace): readonly { readonly text: string; readonly path: Path }[] {
  return routesOf(place).flatMap(({ route, path }) =>
    typeof route.status === "object" ? [{ text: route.status.when, path: [...path, "status", "when"] }] : [],
  );
}
