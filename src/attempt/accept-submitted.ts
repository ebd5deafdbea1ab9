// What the desk does with a call of the agent: it accepts a verdict that can be read and that no file of the attempt contradicts. An accepted
// verdict is final.

import type { Report } from "../core/flow/outcome.ts";
import { err, type Result } from "../core/result.ts";
import { agrees } from "../core/verdict/ledger.ts";
import { verdictFileOf } from "./candidates.ts";
import { writeForAgent } from "./flow-file.ts";
import type { ReadContext } from "./read-context.ts";
import { readSubmitted } from "./read-submitted.ts";
import { TamperedError } from "./tampered.ts";

/** A path that leads elsewhere is refused like a verdict that cannot be read; the reading at the end looks at it again. */
export async function acceptSubmitted(context: ReadContext, text: string): Promise<Result<Report, string>> {
  try {
    const submitted = await readSubmitted(context, text);
    if (!submitted.ok) return submitted;
    if (!(await isContradicted(context, submitted.value))) {
      await writeForAgent(context, submitted.value);
      return submitted;
    }
    return err(
      `${context.files.verdict} says something else. Delete it, or make both say the same, then submit again.`,
    );
  } catch (error) {
    if (error instanceof TamperedError) return err(error.message);
    throw error;
  }
}

async function isContradicted(context: ReadContext, submitted: Report): Promise<boolean> {
  const { flow, stage, nonceRule } = context;
  const written = await verdictFileOf(context);
  return written.some(
    ({ reading }) => reading.ok && !agrees({ flow, stage, nonce: nonceRule }, submitted, reading.value),
  );
}
