// One act that settles a loose end: prepared when the person confirms it, sent when it can no longer be taken back.

import { useMutation } from "@tanstack/react-query";
import { useLiveState } from "../base/live/live.ts";
import { queryClient } from "../base/queries.ts";
import { undoSeconds } from "../base/undo-time.ts";
import { toast } from "../ui/toast.ts";
import { type About, type Doing, heldId } from "./acts.ts";
import { hold, type HeldPlace } from "./held.ts";
import { prepareSettling, type SettleInput, type SendSettled } from "./settle.ts";

/** The words of acts that could not be sent, so that the person need not write them again. */
const unsent = new Map<string, SettleInput>();

type Settled = {
  readonly about: About;
  readonly title: string;
  readonly act: Doing;
  /** As on the button. */
  readonly name: string;
};

export function useSettling({ about, title, act, name }: Settled, close: () => void) {
  const isLive = useLiveState().is === "live";
  const id = heldId(about);
  return useMutation({
    mutationFn: async (said: SettleInput) => {
      const send = await prepareSettling(act, about, said);
      const seconds = undoSeconds();
      // Without a connection an act fails at once. A look for a merge only finds what is already true.
      if (seconds === 0 || !isLive || act.do === "confirm-merge") return send(false);
      unsent.set(id, said);
      const later = { id, title, done: name, place: placeOf(about) };
      hold({ ...later, send: (isLeaving) => void sendLater(id, title, send, isLeaving) }, seconds * 1000);
      return null;
    },
    onSuccess: (happened) => {
      if (happened !== null) toast(happened);
      close();
    },
    // A refusal means that something else is true by now.
    onSettled: refresh,
  });
}

/** The text for an act that was not sent. */
export function unsentOf(about: About): SettleInput {
  return unsent.get(heldId(about)) ?? { text: "", runner: "" };
}

async function sendLater(id: string, title: string, send: SendSettled, isLeaving: boolean): Promise<void> {
  try {
    toast(await send(isLeaving));
    unsent.delete(id);
  } catch (error) {
    toast(`Not sent: ${title}. ${error instanceof Error ? error.message : "Something went wrong."}`, "bad");
  }
  await refresh();
}

function placeOf({ run, ticket }: About): HeldPlace {
  return run === null ? { is: "ticket", ticket: ticket ?? "" } : { is: "run", run: String(run.number) };
}

const TOUCHED: ReadonlySet<unknown> = new Set(["inbox", "run", "runs", "acts", "ticket", "tickets"]);

function refresh(): Promise<void> {
  return queryClient.invalidateQueries({ predicate: ({ queryKey: [kind] }) => TOUCHED.has(kind) });
}
