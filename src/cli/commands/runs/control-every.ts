// `runs pause --all` and `runs resume --all`: everything is paused, also what is started later, until a person resumes it.

import { pauseText } from "../../../core/view/pause-text.ts";
import { actOnly } from "../../act-only.ts";
import { EXIT } from "../../errors.ts";
import type { Io } from "../../terminal/io.ts";
import { printJson } from "../../terminal/output.ts";
import { oneLine, plainText } from "../../terminal/plain-text.ts";

export async function controlEvery(io: Io, verb: "pause" | "resume", reason: string): Promise<number> {
  return actOnly(io, async ({ app, performedBy, person }) => {
    const action = verb === "pause" ? { type: verb, reason } : { type: verb };
    const { changed, refused } = await app.controlAll(action, { actor: person });
    const paused = await app.lookAtPause();
    if (io.json) {
      printJson(io, { changed, refused, paused });
      return EXIT.ok;
    }
    for (const number of changed) io.out(`#${number} ${verb === "pause" ? "paused" : "resumed"}`);
    for (const { number, why } of refused) io.err(oneLine(`! #${number}: ${why}`, 400));
    io.err(plainText(paused === null ? "Nothing is paused any more." : `${capital(pauseText(paused))}.`));
    if (paused !== null) io.err("Next: passrail runs resume --all");
    else if (changed.length > 0 && performedBy === null)
      io.err(`Next: passrail up --detach   or   passrail runs watch ${changed[0]}`);
    return EXIT.ok;
  });
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
