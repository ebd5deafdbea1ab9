// `runs show --tape`: the requests of one attempt to its models, as its gateway recorded them.

import { existsSync, realpathSync } from "node:fs";
import { attemptFiles } from "../../../attempt/attempt-files.ts";
import { readNote } from "../../../app/retention/removed-note.ts";
import { removedText } from "../../../core/retention/retention.ts";
import type { TapedExchange } from "../../../core/replay/exchange.ts";
import { tokensOf } from "../../../core/budget/usage.ts";
import { modelApi } from "../../../gateway/model-request.ts";
import { readUsage } from "../../../gateway/read-usage.ts";
import { readTape } from "../../../gateway/tape.ts";
import type { AttemptRecord } from "../../../store/store.ts";
import { CliError } from "../../errors.ts";
import type { Io } from "../../terminal/io.ts";
import { type Column, printJson, printTable } from "../../terminal/output.ts";

export async function showTape(io: Io, runId: string, { stage, attempt }: AttemptRecord): Promise<void> {
  const home = realpathSync(io.home);
  const { tape } = attemptFiles(home, runId, stage, attempt);
  if (!existsSync(tape)) {
    const removed = readNote(home, runId);
    if (removed !== undefined) throw new CliError("files_removed", removedText(removed));
    throw new CliError(
      "file_not_there",
      `${stage}#${attempt} has no tape.`,
      "set `gateway: { mode: on }` (docs/gateway.md)",
    );
  }
  const { exchanges } = await readTape(tape);
  if (io.json) printJson(io, { stage, attempt, path: tape, exchanges });
  else printTable(io, exchanges.map(cellsOf));
}

function cellsOf(exchange: TapedExchange): readonly Column[] {
  const { number, at, status, route, path, request, response, ms } = exchange;
  const api = modelApi(path.split("?", 1)[0] ?? "");
  const read = api === undefined ? undefined : readUsage(api, response);
  const tokens = read === undefined || read.usage === null ? null : tokensOf(read.usage);
  const cells = {
    "#": String(number),
    Time: at,
    Status: String(status),
    Path: `${route}${path}`,
    Model: read?.model ?? "",
    Tokens: tokens === null ? "" : String(tokens),
    Bytes: String(Buffer.byteLength(request) + Buffer.byteLength(response)),
    Ms: String(ms),
  };
  return Object.entries(cells).map(([name, value]) => ({ name, value }));
}
