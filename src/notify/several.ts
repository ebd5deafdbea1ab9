// Tells through several ways at once: a command and webhooks, say. One that fails does not keep the others from telling.

import type { Notifier } from "./notify.ts";

/** Throws only when every way did: then the notice stays with whoever wanted it told. */
export function createSeveralNotifier(notifiers: readonly Notifier[]): Notifier {
  return {
    async notify(notice) {
      const told = await Promise.allSettled(notifiers.map((notifier) => notifier.notify(notice)));
      const failed = told.filter((one) => one.status === "rejected");
      if (told.length > 0 && failed.length === told.length) throw failed[0]?.reason;
      return told.some((one) => one.status === "fulfilled" && one.value);
    },
  };
}
