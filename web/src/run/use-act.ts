// One act on a run. Until it is sent, a person can take back an act that cannot be undone afterwards.

import { useMutation } from "@tanstack/react-query";
import { useLiveState } from "../base/live/live.ts";
import { queryClient } from "../base/queries.ts";
import { SHOWN, shownOfStatus } from "../base/status.ts";
import { undoSeconds } from "../base/undo-time.ts";
import { hold } from "../settle/held.ts";
import { toast } from "../ui/toast.ts";
import { type Act, actName, type Extras, type Verb } from "./acts.ts";
import { performAct } from "./perform-act.ts";
import type { RunDetail } from "./types.ts";

/** The others stop something at once, or a second click takes them back. */
const TAKEN_BACK: ReadonlySet<Verb> = new Set(["retry", "rerun", "skip", "undo", "cancel"]);

type Said = { readonly said: string; readonly extras: Extras };

export function useAct({ id, number }: Pick<RunDetail, "id" | "number">, act: Act, close: () => void) {
  const isLive = useLiveState().is === "live";
  const name = actName(act);
  const send = async ({ said, extras }: Said, isLeaving: boolean): Promise<void> => {
    const { run: after } = await performAct(id, act, said, extras, { keepalive: isLeaving });
    toast(`${name}: done. Run #${number}: ${SHOWN[shownOfStatus(after.status)].word.toLowerCase()}.`);
    void queryClient.invalidateQueries({ predicate: ({ queryKey: [kind] }) => kind === "run" || kind === "acts" });
  };
  return useMutation({
    mutationFn: async (said: Said) => {
      const seconds = undoSeconds();
      if (!TAKEN_BACK.has(act.act) || seconds === 0 || !isLive) return send(said, false);
      const later = (isLeaving: boolean): void =>
        void send(said, isLeaving).catch((error: Error) =>
          toast(`Not sent: ${name}, run #${number}. ${error.message}`, "bad"),
        );
      const place = { is: "run", run: String(number) } as const;
      hold({ id: `run ${id}`, title: `run #${number}`, done: name, place, send: later }, seconds * 1000);
    },
    onSuccess: close,
  });
}
