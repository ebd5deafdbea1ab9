// Which files of a run's changes the person has viewed. The daemon keeps them by version, so a file that changes counts as not viewed, and they
// are the same on every device.

import { useMutation } from "@tanstack/react-query";
import { useMemo } from "react";
import { call } from "../base/api.ts";
import { queryClient } from "../base/queries.ts";
import { toast } from "../ui/toast.ts";
import type { FileDiff } from "./parse.ts";
import type { DiffText } from "./query.ts";
import { viewedKey } from "./rows.ts";

type Viewed = DiffText["viewed"];

export function useViewed(
  run: string,
  list: Viewed,
): { readonly viewed: ReadonlySet<string>; readonly look: (file: FileDiff, is: boolean) => void } {
  const viewed = useMemo(() => new Set(list.map(viewedKey)), [list]);
  const { mutate } = useMutation({
    mutationFn: ({ file: { path, version }, is }: { readonly file: FileDiff; readonly is: boolean }) =>
      call("markViewed", { params: { run }, body: { path, version, isViewed: is } }),
    onMutate: ({ file, is }) => mark(run, file, is),
    onError: (error, { file, is }) => {
      mark(run, file, !is);
      toast(error.message, "bad");
    },
  });
  return { viewed, look: (file, is) => mutate({ file, is }) };
}

function mark(run: string, { path, version }: FileDiff, is: boolean): void {
  queryClient.setQueriesData<DiffText>({ queryKey: ["diff", run] }, (known) => {
    if (known === undefined) return known;
    const others = known.viewed.filter((each) => each.path !== path);
    return { ...known, viewed: is ? [...others, { path, version }] : others };
  });
}
