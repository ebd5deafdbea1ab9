// The mark beside the database: how far its last owner got. A backup that is copied over the database does not bring its mark along, so the
// mark is ahead of it, and the next owner knows. One small write per transaction; without a sync, because it only has to survive the process.

import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from "node:fs";

export type OwnerMark = {
  readonly incarnation: string;
  readonly epoch: number;
  /** The last event of the last transaction. */
  readonly seq: number;
};

export type MarkFile = {
  /** Undefined where there is none, or where it cannot be read. */
  readonly found: OwnerMark | undefined;
  write(mark: OwnerMark): void;
  close(): void;
};

/** Every mark has this length, so that a shorter one never leaves the end of a longer one behind. */
const LENGTH = 80;
const FORM = /^([0-9a-f]{16}) ([0-9]{1,16}) ([0-9]{1,16}) *\n$/;

export function openMark(database: string): MarkFile {
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW;
  const file = openSync(`${database}.mark`, flags, 0o600);
  return {
    found: readMark(file),
    write: ({ incarnation, epoch, seq }) =>
      void writeSync(file, `${`${incarnation} ${epoch} ${seq}`.padEnd(LENGTH - 1)}\n`, 0),
    close: () => closeSync(file),
  };
}

/** For a process that only reads. */
export function lookAtMark(database: string): OwnerMark | undefined {
  try {
    const file = openSync(`${database}.mark`, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      return readMark(file);
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
}

function readMark(file: number): OwnerMark | undefined {
  if (!fstatSync(file).isFile()) return undefined;
  const bytes = Buffer.alloc(LENGTH);
  const length = readSync(file, bytes, 0, LENGTH, 0);
  const [, incarnation = "", epoch, seq] = FORM.exec(bytes.toString("latin1", 0, length)) ?? [];
  return epoch === undefined ? undefined : { incarnation, epoch: Number(epoch), seq: Number(seq) };
}
