// The files of an intake: as the writing stage reported them, the last report if it ran again.

import type { AttemptRecord } from "../../store/store.ts";

export function createdPaths(attempts: readonly Pick<AttemptRecord, "outcome" | "status">[]): readonly string[] {
  const reported = attempts
    .filter(({ status }) => status === "done")
    .flatMap(({ outcome }) => {
      const payload = outcome?.["payload"];
      if (payload === null || typeof payload !== "object" || Array.isArray(payload)) return [];
      const paths = (payload as { readonly paths?: unknown }).paths;
      return Array.isArray(paths) ? [paths.filter((path): path is string => typeof path === "string")] : [];
    });
  return reported.at(-1) ?? [];
}
