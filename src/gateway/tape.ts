// The tape of an attempt: every request to a model and its answer, without secrets, as compressed lines of one file. All lines share one
// stream, because each request of a conversation repeats the one before. Each line is written when its answer is complete.

import { createHash } from "node:crypto";
import { closeSync, constants, openSync, readFileSync, writeSync } from "node:fs";
import { constants as zlib, createZstdCompress, createZstdDecompress } from "node:zlib";
import type { TapedExchange, TapePlaces } from "../core/replay/exchange.ts";
import { fields, list, parseLine, text } from "../runner/loose-json.ts";

export type NewExchange = Omit<TapedExchange, "number" | "requestHash" | "responseHash">;

export type Tape = {
  add(exchange: NewExchange): void;
  /** When everything is on disk. */
  close(): Promise<void>;
};

/** Level and window: a conversation's next request is found in the last one, of up to 8 MiB. */
const OPTIONS = { params: { [zlib.ZSTD_c_compressionLevel]: 6, [zlib.ZSTD_c_windowLog]: 23 } };

export type TapeOptions = {
  /** Removes known secrets. */
  readonly redact: (text: string) => string;
  readonly onError: (error: Error) => void;
  /** For a replay: the first line has them. */
  readonly places: TapePlaces;
};

/** The folder exists; the file must not. */
export function openTape(path: string, { redact, onError, places }: TapeOptions): Tape {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const file = openSync(path, flags, 0o600);
  const stream = createZstdCompress(OPTIONS);
  let number = 0;
  let isBroken = false;
  const fail = (error: Error): void => {
    if (!isBroken) onError(error);
    isBroken = true;
  };
  stream.on("error", fail);
  stream.on("data", (bytes: Buffer) => {
    try {
      if (!isBroken) writeSync(file, bytes);
    } catch (error) {
      // A full disk costs the tape, not the attempt.
      fail(error as Error);
    }
  });
  return {
    add(exchange) {
      if (number === 0) stream.write(`${JSON.stringify({ places })}\n`);
      number += 1;
      const [request, response] = [redact(exchange.request), redact(exchange.response)];
      const hashes = { requestHash: hashOf(request), responseHash: hashOf(response) };
      const taped: TapedExchange = { ...exchange, number, path: redact(exchange.path), request, response, ...hashes };
      stream.write(`${JSON.stringify(taped)}\n`);
      stream.flush();
    },
    close: () =>
      new Promise((resolve) => {
        stream.once("close", () => {
          closeSync(file);
          resolve();
        });
        if (number === 0) stream.destroy();
        else stream.end(() => stream.destroy());
      }),
  };
}

export type ReadTape = {
  /** Null on a tape of an earlier version. */
  readonly places: TapePlaces | null;
  readonly exchanges: readonly TapedExchange[];
};

/** All that is whole; what a crash cut off is left out. */
export async function readTape(path: string): Promise<ReadTape> {
  const stream = createZstdDecompress();
  const parts: Buffer[] = [];
  let size = 0;
  const done = new Promise<void>((resolve) => {
    stream.on("data", (bytes: Buffer) => {
      size += bytes.length;
      if (size > MAX_BYTES) stream.destroy();
      else parts.push(bytes);
    });
    // An unfinished stream ends with an error, after everything that it had.
    stream.once("error", () => resolve());
    stream.once("close", () => resolve());
    stream.once("end", () => resolve());
  });
  stream.end(readFileSync(path));
  await done;
  const lines = Buffer.concat(parts).toString("utf8").split("\n").slice(0, -1);
  return { places: placesIn(lines[0] ?? ""), exchanges: lines.flatMap((line) => exchangeOf(line) ?? []) };
}

function placesIn(line: string): TapePlaces | null {
  const { places } = fields(parseLine(line));
  if (places === undefined) return null;
  const known = Object.entries(fields(places)).flatMap(([name, value]) =>
    typeof value === "string" && /^[a-zA-Z]{1,40}$/u.test(name) ? [[name, value] as const] : [],
  );
  return Object.fromEntries(known);
}

/** Of a whole tape, unpacked. */
const MAX_BYTES = 1024 * 1024 * 1024;

function exchangeOf(line: string): TapedExchange | undefined {
  const found = fields(parseLine(line));
  const request = typeof found["request"] === "string" ? found["request"] : undefined;
  const response = typeof found["response"] === "string" ? found["response"] : undefined;
  if (request === undefined || response === undefined || text(found["route"]) === null) return undefined;
  // The file is in the state folder; a line that was changed there no longer has its hash.
  if (hashOf(request) !== found["requestHash"] || hashOf(response) !== found["responseHash"]) return undefined;
  if (list(found["headers"]).length > 0) return undefined;
  return found as unknown as TapedExchange;
}

function hashOf(written: string): string {
  return createHash("sha256").update(written).digest("hex");
}
