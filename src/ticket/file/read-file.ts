// Reads one untrusted ticket file: a regular file, no link, of limited size, UTF-8 text. read-ticket.ts interprets it.

import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { err, ok, type Problem, type Result } from "../../core/result.ts";

export type TicketFile = {
  /** With its byte order mark and line ends unchanged. */
  readonly text: string;
  readonly hash: string;
  readonly mode: number;
  readonly ino: bigint;
};

const MAX_TICKET_BYTES = 256 * 1024;

export function readTicketFile(file: string): Result<TicketFile> {
  let descriptor: number | undefined;
  try {
    // A pipe would block for ever, a link could lead anywhere.
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    const stat = fstatSync(descriptor, { bigint: true });
    if (!stat.isFile()) return err({ code: "ticket_not_a_file", message: "this is not a regular file" });
    if (stat.size > MAX_TICKET_BYTES) return err(tooLarge(Number(stat.size)));
    const bytes = readUpTo(descriptor, Number(stat.size));
    if (bytes.length > MAX_TICKET_BYTES) return err(tooLarge(bytes.length));
    const text = decode(bytes);
    if (text === undefined || text.includes("\0"))
      return err({ code: "ticket_not_text", message: "the file is not UTF-8 text" });
    const hash = createHash("sha256").update(bytes).digest("hex");
    return ok({ text, hash, mode: Number(stat.mode & 0o777n), ino: stat.ino });
  } catch (cause) {
    return err(unreadable((cause as NodeJS.ErrnoException).code));
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** The file may grow while it is read: one byte over the limit is enough to know. */
function readUpTo(descriptor: number, expected: number): Buffer {
  const buffer = Buffer.allocUnsafe(Math.min(expected, MAX_TICKET_BYTES) + 1);
  let length = 0;
  for (;;) {
    const read = readSync(descriptor, buffer, length, buffer.length - length, null);
    length += read;
    if (read === 0 || length === buffer.length) break;
  }
  return buffer.subarray(0, length);
}

function decode(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function tooLarge(size: number): Problem {
  const message = `the file has ${Math.ceil(size / 1024)} KiB; ${MAX_TICKET_BYTES / 1024} KiB are allowed`;
  return {
    code: "ticket_too_large",
    message,
    hint: "put long material into a separate file and name it in the ticket",
  };
}

function unreadable(code: string | undefined): Problem {
  if (code === "ENOENT" || code === "ENOTDIR")
    return { code: "ticket_file_missing", message: "there is no such file", hint: "passrail ticket list" };
  if (code === "ELOOP" || code === "EMLINK")
    return { code: "ticket_is_link", message: "this is a link", hint: "put the file itself there" };
  if (code === "EISDIR") return { code: "ticket_not_a_file", message: "this is a folder" };
  // The error for a socket or a device without its driver.
  if (code === "ENXIO" || code === "ENODEV")
    return { code: "ticket_not_a_file", message: "this is not a regular file" };
  return { code: "ticket_unreadable", message: `the file cannot be read (${code ?? "unknown"})` };
}
