// The two requests of the form that starts a run: the preview, and the start itself.

import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { InputTo } from "../../../src/http/client/input.ts";
import { ApiError, call } from "../base/api.ts";
import { queryClient } from "../base/queries.ts";
import { toast } from "../ui/toast.ts";
import { useSettled } from "../ui/use-settled.ts";

const PAUSE_MS = 400;

/** Asks when a person stops typing; the daemon makes the checks of a real start and stores nothing. */
export function usePreview(body: InputTo<"previewRun">["body"], isWhole: boolean) {
  const text = JSON.stringify(body);
  const asked = useSettled(text, PAUSE_MS);
  return useQuery({
    queryKey: ["preview", asked],
    queryFn: ({ signal }) => call("previewRun", { body: JSON.parse(asked) as typeof body }, { signal }),
    enabled: isWhole && asked === text,
    // The fields beside it say what the last one found until the next one is there.
    placeholderData: (before) => before,
    // The files and the repository change without an event of ours.
    staleTime: 0,
    gcTime: 0,
  });
}

export function useStart(body: InputTo<"startRun">["body"], close: () => void) {
  const navigate = useNavigate();
  return useMutation({
    mutationFn: () => call("startRun", { body }),
    onSuccess: ({ run }) => {
      toast(`Run #${run.number} started.`);
      void queryClient.invalidateQueries({ queryKey: ["runs"] });
      close();
      void navigate({ to: "/runs/$run", params: { run: String(run.number) } });
    },
  });
}

/** Refusals by their place in the request; the rest is for the foot of the form. */
export function refusedFields(
  errors: readonly unknown[],
  shown: (place: string) => boolean,
): { readonly fields: Readonly<Record<string, string>>; readonly rest: unknown } {
  const found = errors.filter((error) => error !== null && error !== undefined);
  const fields: Record<string, string> = {};
  for (const error of found) {
    const place = placeOf(error);
    if (place !== undefined && shown(place)) fields[place] = error instanceof Error ? error.message : "";
  }
  return { fields, rest: found.find((error) => !shown(placeOf(error) ?? "")) ?? null };
}

function placeOf(error: unknown): string | undefined {
  return error instanceof ApiError ? error.problem.pointer : undefined;
}
