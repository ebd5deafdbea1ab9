// The texts that a run was started with, from the copies that a person agreed to: never from the project's folder, where anybody may have
// changed them since. Runs of earlier versions have no copies and read the project's files.

import { runFacts } from "../core/run/facts.ts";
import { type BundleFile, type BundleSources, composeBundle, BUNDLE_ROLES } from "../core/input/bundle.ts";
import { pinnedOf } from "../core/run/pinned.ts";
import type { Run } from "../core/run/run.ts";
import { readInputFile } from "../file/input-file.ts";
import { readPinned } from "../file/pinned-copy.ts";
import { untampered } from "./tampered.ts";
import { optional } from "../core/optional.ts";

type Place = { readonly home: string; readonly project: string };

/** A copy that is damaged or gone fails the attempt. */
export function runInputs({ home, project }: Place, run: Run): BundleSources {
  const { inputs, rules } = pinnedOf(run);
  const copy = ({ path, sha256 }: { path: string; sha256: string }): BundleFile => ({
    path,
    sha256,
    text: untampered(readPinned(home, run.id, sha256)),
  });
  const named = new Map(inputs.map((input) => [input.name, copy(input)]));
  const isOld = run.facts["pinned"] === undefined;
  const one = (name: "spec" | "plan" | "task"): BundleFile | undefined =>
    isOld ? uncopied(project, runFacts(run).plan[name]) : named.get(`plan.${name}`);
  const [spec, plan, task] = [one("spec"), one("plan"), one("task")];
  return {
    rules: rules.map(copy),
    ticket: run.subject,
    ...optional({ spec }),
    ...optional({ plan }),
    ...optional({ task }),
  };
}

/** The bundles by file name. */
export function bundlesOf(sources: BundleSources): Readonly<Record<string, string>> {
  return Object.fromEntries(BUNDLE_ROLES.map((role) => [`${role}-bundle.md`, composeBundle(role, sources)]));
}

function uncopied(project: string, path: string | null): BundleFile | undefined {
  if (path === null) return undefined;
  const read = readInputFile(project, path);
  return read.ok ? read.value : undefined;
}
