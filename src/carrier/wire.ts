// The messages between an engine and a carrier: one line of JSON each, over a socket in the state folder. Both are the same program, perhaps
// of different versions: a line that this version does not know is skipped.

import type { Socket } from "node:net";
import { z } from "zod";
import type { ReportedUsage } from "../core/budget/budget.ts";
import type { AttemptRoom } from "../core/budget/room.ts";
import type { CachedCheck } from "../core/flow/check-result.ts";
import type { Report } from "../core/flow/outcome.ts";
import type { JsonObject } from "../core/json.ts";
import type { PersonMessage } from "../core/run/message.ts";
import type { EarlierAttempt } from "../attempt/earlier-attempt.ts";
import type { AttemptJob, ObservedEvent } from "../attempt/job.ts";
import type { LiveQuestion, PermissionQuestion } from "../core/run/signal.ts";
import type { RunnerSettings } from "../runner/open.ts";
import type { Settings } from "../settings/settings.ts";

/** Grows with every change that an older version would misunderstand. */
export const PROTOCOL = 1;

/** Far more than any job; a longer line is no message of ours. */
const LINE_BYTES = 128 * 1024 * 1024;
/** Events are shown, not stored: where the engine does not keep up they are dropped, not queued. */
const QUEUED_BYTES = 1024 * 1024;

/** Everything that a carrier needs besides its own program. It goes over the socket only: the environment holds secrets. */
export type StartOrder = {
  readonly incarnation: string;
  readonly job: AttemptJob;
  readonly earlier: readonly EarlierAttempt[];
  /** What budgets leave to the attempt at its start; absent from engines of older versions. */
  readonly room?: AttemptRoom;
  /** It ends its agent unless a `lease` comes within this time, again and again; absent: it works on without anybody. */
  readonly leaseMs?: number;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly settings: RunnerSettings & Pick<Settings, "workspaces">;
};

/** The other side is the same program: an object is taken for what its sender says it is. */
function trusted<T>() {
  return z.custom<T>((value) => typeof value === "object" && value !== null && !Array.isArray(value));
}

export const toCarrierSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("hello"), id: z.string() }),
  z.object({ type: z.literal("start"), order: trusted<StartOrder>() }),
  z.object({ type: z.literal("abort"), reason: z.string() }),
  /** It may work on for another lease. */
  z.object({ type: z.literal("lease") }),
  /** The room has changed. A carrier of an older version skips it. */
  z.object({ type: z.literal("room"), room: z.custom<AttemptRoom>((value) => Array.isArray(value)) }),
  z.object({ type: z.literal("check"), n: z.int(), report: trusted<Report>() }),
  /** Perhaps not for the first time: the carrier knows which it has. */
  z.object({ type: z.literal("message"), message: trusted<PersonMessage>() }),
  /** To a note or a question of the carrier. `error`: it could not be stored. */
  z.object({ type: z.literal("answer"), n: z.int(), value: z.unknown(), error: z.string().optional() }),
]);

const questionSchema = z.discriminatedUnion("about", [
  z.object({ about: z.literal("settled") }),
  z.object({ about: z.literal("cached-check"), key: z.string(), now: z.string() }),
  /** A person answers: it may take long, and holds nothing else up. */
  z.object({ about: z.literal("permission"), question: trusted<PermissionQuestion>() }),
  z.object({ about: z.literal("permission-expired"), request: z.string() }),
  /** The same for a question of the agent. */
  z.object({ about: z.literal("question"), question: trusted<LiveQuestion>() }),
  z.object({ about: z.literal("question-expired"), request: z.string() }),
  /** Of a later version: whoever asks must not wait for ever. */
  z.object({ about: z.literal("unknown") }),
]);

export const toEngineSchema = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("welcome"),
    protocol: z.int(),
    /** Null while it waits for its job. */
    at: z
      .object({
        incarnation: z.string(),
        runId: z.string(),
        stage: z.string(),
        attempt: z.int(),
        token: z.string(),
        channel: z.string(),
      })
      .nullable(),
  }),
  z.object({ type: z.literal("note"), n: z.int(), facts: trusted<JsonObject>() }),
  z.object({ type: z.literal("heard"), n: z.int(), number: z.int(), way: z.enum(["now", "turn", "attempt"]) }),
  z.object({ type: z.literal("ask"), n: z.int(), question: questionSchema.catch({ about: "unknown" }) }),
  z.object({ type: z.literal("save-check"), check: trusted<CachedCheck>() }),
  z.object({ type: z.literal("check-offered") }),
  z.object({ type: z.literal("checked"), n: z.int(), report: trusted<Report>() }),
  z.object({ type: z.literal("spent"), reported: trusted<ReportedUsage>() }),
  z.object({ type: z.literal("observed"), event: trusted<ObservedEvent>() }),
  /** The report is on disk. */
  z.object({ type: z.literal("reported") }),
  /** Another engine has taken over. */
  z.object({ type: z.literal("replaced") }),
]);

export type ToCarrier = z.infer<typeof toCarrierSchema>;
export type ToEngine = z.infer<typeof toEngineSchema>;
export type Question = z.infer<typeof questionSchema>;

export type CarrierWire<Out> = {
  send(message: Out): void;
  /** Only if the other side keeps up. */
  sendIfFree(message: Out): void;
  /** Sends what is queued, then closes. */
  end(): void;
  destroy(): void;
};

export function openWire<In, Out>(
  socket: Socket,
  schema: z.ZodType<In>,
  on: { readonly message: (message: In) => void; readonly closed: () => void },
): CarrierWire<Out> {
  readLines(socket, (line) => {
    const message = parse(schema, line);
    if (message !== undefined) on.message(message);
  });
  socket.on("error", () => socket.destroy());
  socket.once("close", on.closed);
  const send = (message: Out): void => {
    if (socket.writable) socket.write(`${JSON.stringify(message)}\n`);
  };
  return {
    send,
    sendIfFree: (message) => {
      if (socket.writableLength < QUEUED_BYTES) send(message);
    },
    end: () => void socket.end(),
    destroy: () => void socket.destroy(),
  };
}

function readLines(socket: Socket, onLine: (line: string) => void): void {
  let parts: Buffer[] = [];
  let bytes = 0;
  socket.on("data", (chunk: Buffer) => {
    let rest = chunk;
    for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
      onLine(Buffer.concat([...parts, rest.subarray(0, end)]).toString("utf8"));
      parts = [];
      bytes = 0;
      rest = rest.subarray(end + 1);
    }
    bytes += rest.length;
    if (bytes > LINE_BYTES) socket.destroy();
    else if (rest.length > 0) parts.push(rest);
  });
}

function parse<In>(schema: z.ZodType<In>, line: string): In | undefined {
  try {
    const read = schema.safeParse(JSON.parse(line));
    return read.success ? read.data : undefined;
  } catch {
    return undefined;
  }
}
