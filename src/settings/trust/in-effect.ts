// The version of a project's files that takes effect: the approved one. Everything that starts something reads it, never the working tree,
// so an agent, a merge or a pull changes nothing before a person has approved it.

import { err, ok, type Problem, type Result } from "../../core/result.ts";
import { findApproval, type TrustPlace } from "./approval.ts";
import { hasProjectFiles } from "./project-files.ts";

/** The folder with the approved copies; null if the project brings no such files and never did. */
export function filesInEffect(place: TrustPlace): Result<string | null> {
  const found = findApproval(place);
  if (found.type === "approved") return ok(found.dir);
  if (found.type === "damaged") return err(damaged(found.why));
  return hasProjectFiles(place.project) ? err(notTrusted(place.project)) : ok(null);
}

/** For commands that only show something: where nothing is approved yet, they show the working tree. */
export function filesToShow(place: TrustPlace): string | null {
  const inEffect = filesInEffect(place);
  return inEffect.ok ? inEffect.value : place.project;
}

function notTrusted(project: string): Problem {
  return {
    code: "project_not_trusted",
    message: `The files by which ${project} decides what runs are not approved (passrail.yaml, .passrail/, .claude/agents/).`,
    hint: "passrail trust         shows what they would run\npassrail trust --yes   approves them as they are now",
  };
}

function damaged(why: string): Problem {
  return {
    code: "trust_damaged",
    message: `The approval of this project cannot be used: ${why}.`,
    hint: "passrail trust --yes   approves the files as they are now",
  };
}
