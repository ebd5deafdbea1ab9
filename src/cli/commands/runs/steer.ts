// `runs steer`: a person says something to the agent at work. The message is stored; the process that performs the run delivers it.

import type { Controlled } from "../../../app/control-run.ts";
import type { AppProblem } from "../../../app/problem.ts";
import { optional } from "../../../core/optional.ts";
import type { Result } from "../../../core/result.ts";
import { messageRows } from "../../../core/view/messages.ts";
import { flowOf } from "../../../store/flow-of.ts";
import { CliError, EXIT } from "../../errors.ts";
import { requireRun } from "../../find-run.ts";
import { requireOperator } from "../../operator.ts";
import { withReader } from "../../reader.ts";
import { workOn } from "../../session.ts";
import type { Io } from "../../terminal/io.ts";

export type SteerOptions = { readonly stage?: string };

export async function steer(io: Io, reference: string, text: string, { stage }: SteerOptions): Promise<number> {
  requireOperator(io, "runs steer");
  const { run, summary } = await withReader(io, (store) => requireRun(store, reference));
  let sent: Result<Controlled, AppProblem> | undefined;
  await workOn(io, {
    runId: run.id,
    flags: {},
    follow: false,
    stops: true,
    stream: false,
    lines: "err",
    act: async ({ app, person }) => {
      sent = await app.controlRun(run.id, { type: "steer", text, ...optional({ stage }) }, { actor: person });
      return false;
    },
  });
  if (sent?.ok === false) {
    const { code, message, hint = `passrail runs show ${summary.number}` } = sent.error;
    throw new CliError(code === "action_refused" ? "steer_refused" : code, message, hint);
  }
  const after = await withReader(io, async (store) => {
    const { run: now } = await requireRun(store, run.id);
    return store === undefined ? undefined : messageRows(await flowOf(store, now), now).at(-1);
  });
  if (io.json) io.out(JSON.stringify({ run: run.id, message: after ?? null }));
  else if (after !== undefined) io.out(`#${summary.number} ${after.stage}: message ${after.number} ${after.became}.`);
  return EXIT.ok;
}
