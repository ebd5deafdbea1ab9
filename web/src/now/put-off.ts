// Hides an entry from this person until a time. The daemon keeps it, so it is the same on every device.

import { useMutation } from "@tanstack/react-query";
import type { AnswerTo } from "../../../src/http/client/input.ts";
import { call } from "../base/api.ts";
import { queryClient } from "../base/queries.ts";
import { clock } from "../ui/time.tsx";
import { toast } from "../ui/toast.ts";

export type PutOff = { readonly id: string; readonly until: string | null };

export function usePutOff() {
  return useMutation({
    mutationFn: ({ id, until }: PutOff) => call("snoozeEntry", { body: { id, until } }),
    onSuccess: ({ snoozed }, { until }) => {
      queryClient.setQueryData<AnswerTo<"showNow">>(["now"], (now) => now && { ...now, snoozed });
      toast(until === null ? "It is in the list again." : `Hidden until ${clock(until)}. It is under Later.`);
    },
    onError: (error) => toast(error.message, "bad"),
  });
}

export const LATER = [
  { name: "In an hour", at: (now: Date) => new Date(now.getTime() + 3_600_000) },
  { name: "Tomorrow at 8", at: (now: Date) => morning(now, 1) },
  { name: "In a week", at: (now: Date) => morning(now, 7) },
] as const;

/** Eight o'clock here, this number of days from now. */
export function morning(now: Date, days: number): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, 8);
}
