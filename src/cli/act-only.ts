// A command that acts and starts no stage, in whichever process the engine runs. It needs no approval of the project's files.

import type { Passrail } from "../compose.ts";
import { messageOf } from "../core/result.ts";
import { problemError } from "./errors.ts";
import type { Io } from "./terminal/io.ts";

export async function actOnly(io: Io, act: (passrail: Passrail) => Promise<number>): Promise<number> {
  const { openPassrail } = await import("../compose.ts");
  const opened = await openPassrail({
    home: io.home,
    project: io.cwd,
    environment: io.environment,
    flags: {},
    unapproved: "ignore",
    onError: (runId, error) => io.err(`! ${runId === null ? "" : `${runId}: `}${messageOf(error)}`),
  });
  if (!opened.ok) throw problemError(opened.error);
  try {
    return await act(opened.value);
  } finally {
    await opened.value.close();
  }
}
