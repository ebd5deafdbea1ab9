// `verify`: checks that the stored history and the audit record are unchanged.

import { lookAtDatabase } from "../../../store/look-at-database.ts";
import { verifyAudit } from "../../../http/server/audit.ts";
import { EXIT } from "../../errors.ts";
import type { Io } from "../../terminal/io.ts";
import { printJson, printTable } from "../../terminal/output.ts";
import { withReader } from "../../reader.ts";

export async function verify(io: Io): Promise<number> {
  return withReader(io, async (store) => {
    const record = store === undefined ? [] : verifyAudit(io.home);
    const damages = [
      ...((await store?.verify()) ?? []),
      ...record.map(({ seq, what }) => ({ seq, runId: null, what: `audit record: ${what}` })),
    ];
    const events = (await store?.lastSeq()) ?? 0;
    if (io.json) printJson(io, { ok: damages.length === 0, file: (await lookAtDatabase(io)).where, events, damages });
    else if (store === undefined) io.out("There is no store yet; nothing to verify.");
    else if (damages.length === 0) io.out(`ok\t${events} events, every one as it was written`);
    else
      for (const { seq, runId, what } of damages)
        printTable(io, [[String(seq ?? ""), runId ?? "", what].map((value) => ({ name: "", value }))]);
    return damages.length === 0 ? EXIT.ok : EXIT.error;
  });
}
