// Writes an act of a person at the command line into the audit log, with or without a daemon.

import { userInfo } from "node:os";
import { createAudit } from "../http/server/audit.ts";
import type { Io } from "./terminal/io.ts";

export function auditNote(io: Pick<Io, "home" | "err">, what: string): void {
  const audit = createAudit(io.home, { now: () => new Date().toISOString(), onProblem: (text) => io.err(`! ${text}`) });
  audit.record({
    type: "request.made",
    principal: null,
    who: `human:${userInfo().username}`,
    from: `process ${process.pid}`,
    what,
    status: null,
    code: null,
    requestId: null,
  });
  audit.close();
}
