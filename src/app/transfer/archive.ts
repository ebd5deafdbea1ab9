// The file that carries a run to another machine: a compressed stream of one line of JSON, which lists what follows with sizes and hashes,
// and then these contents, one behind the other. It names no place to write to: a reader decides by the kind of each entry.

import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { join } from "node:path";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { z } from "zod";
import { err, messageOf, ok, type Problem, type Result } from "../../core/result.ts";

/** Grows when an older Passrail could no longer read the file. */
const ARCHIVE_VERSION = 1;

const HEADER_BYTES = 8 * 1024 * 1024;
const MOST_ENTRIES = 20_000;
/** Of everything in it, unpacked. */
const MOST_BYTES = 2 * 1024 * 1024 * 1024;

const sha256 = z.string().regex(/^[0-9a-f]{64}$/u);
const commit = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/u);
const runId = z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/u);
/** Names alone, of letters that mean nothing to a file system, never `.` or `..`. */
const path = z.string().regex(/^[a-zA-Z0-9_-][a-zA-Z0-9._-]{0,127}(?:\/[a-zA-Z0-9_-][a-zA-Z0-9._-]{0,127}){0,3}$/u);

const headerSchema = z.strictObject({
  passrail: z.literal("run"),
  version: z.literal(ARCHIVE_VERSION),
  by: z.string().min(1).max(40),
  at: z.iso.datetime(),
  run: runId,
  /** The hash of its last event. */
  head: z.string().regex(/^[\w-]{43}$/u),
  commits: z
    .strictObject({
      branch: z.string().min(1).max(250),
      /** Where the branch is; null if it is gone. */
      tip: commit.nullable(),
      /** Everything that the pack has is reached from these. */
      tips: z.array(commit).min(1).max(2000),
      /** The history before these is not in the pack. */
      shallow: z.array(commit).max(2000),
      format: z.enum(["sha1", "sha256"]),
    })
    .nullable(),
  entries: z.array(z.strictObject({ path, bytes: z.int().min(0).max(MOST_BYTES), sha256 })).max(MOST_ENTRIES),
});

export type ArchiveHeader = z.infer<typeof headerSchema>;
export type ArchiveEntry = ArchiveHeader["entries"][number];

/** A file that goes into the archive under a path. */
export type Packed = { readonly path: string; readonly file: string };

/** Writes a new file; one that is there stays, and is a problem. */
export async function writeArchive(
  file: string,
  header: Omit<ArchiveHeader, "passrail" | "version" | "entries">,
  packed: readonly Packed[],
): Promise<Result<{ readonly bytes: number }>> {
  const entries: ArchiveEntry[] = [];
  for (const each of packed) {
    const { size } = await stat(each.file);
    entries.push({ path: each.path, bytes: size, sha256: await hashOfFile(each.file) });
  }
  const whole = headerSchema.safeParse({ passrail: "run", version: ARCHIVE_VERSION, ...header, entries });
  const sum = entries.reduce((bytes, entry) => bytes + entry.bytes, 0);
  if (!whole.success || sum > MOST_BYTES)
    return err({
      code: "export_too_large",
      message: `The run does not fit into a file: ${whole.success ? `it has ${sum} bytes of ${MOST_BYTES}` : whole.error.issues[0]?.message}.`,
    });
  async function* parts(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(`${JSON.stringify(whole.data)}\n`);
    for (const each of packed) yield* createReadStream(each.file);
  }
  try {
    await pipeline(Readable.from(parts()), createGzip(), createWriteStream(file, { flags: "wx", mode: 0o600 }));
  } catch (error) {
    return err({ code: "export_not_written", message: `${file} was not written: ${messageOf(error)}.` });
  }
  return ok({ bytes: (await stat(file)).size });
}

/** Unpacks into a folder that exists and is empty: entry 0 as the file `0`, and so on. An entry that does not match its hash is a problem. */
export async function readArchive(file: string, folder: string): Promise<Result<ArchiveHeader>> {
  const reading = createReading(folder);
  try {
    await pipeline(createReadStream(file), createGunzip(), bounded(), async (source: AsyncIterable<Buffer>) => {
      for await (const bytes of source) await reading.take(bytes);
    });
    return ok(reading.end());
  } catch (error) {
    if (error instanceof Refused) return err(error.problem);
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return err({ code: "import_file_missing", message: `There is no file ${file}.` });
    return err(broken(`${file} cannot be read: ${messageOf(error)}`));
  } finally {
    await reading.close();
  }
}

class Refused extends Error {
  readonly problem: Problem;
  constructor(problem: Problem) {
    super(problem.message);
    this.problem = problem;
  }
}

const broken = (why: string): Problem => ({
  code: "import_broken",
  message: `The file is damaged or no export of a run: ${why}.`,
});

/** A few bytes can be made to unpack into any number. */
function bounded(): Transform {
  let seen = 0;
  return new Transform({
    transform(bytes: Buffer, _encoding, done) {
      seen += bytes.length;
      const tooMuch: Problem = {
        code: "import_too_large",
        message: `The file unpacks to more than ${MOST_BYTES} bytes, which no export does.`,
      };
      done(seen > MOST_BYTES + HEADER_BYTES ? new Refused(tooMuch) : null, bytes);
    },
  });
}

type Open = { readonly entry: ArchiveEntry; readonly handle: FileHandle; readonly hash: ReturnType<typeof createHash> };

function createReading(folder: string) {
  let head: Buffer = Buffer.alloc(0);
  let header: ArchiveHeader | undefined;
  let next = 0;
  let left = 0;
  let at: Open | undefined;

  async function begin(): Promise<void> {
    for (;;) {
      const entry = header?.entries[next];
      if (at !== undefined || entry === undefined) return;
      const handle = await open(join(folder, String(next)), "wx", 0o600);
      at = { entry, handle, hash: createHash("sha256") };
      left = entry.bytes;
      next += 1;
      if (left === 0) await finish();
    }
  }

  async function finish(): Promise<void> {
    if (at === undefined) return;
    const { entry, handle, hash } = at;
    at = undefined;
    await handle.close();
    if (hash.digest("hex") !== entry.sha256) throw new Refused(broken(`${entry.path} does not have its hash`));
  }

  async function takeBody(bytes: Buffer): Promise<void> {
    let rest = bytes;
    await begin();
    while (rest.length > 0) {
      if (at === undefined) throw new Refused(broken("it is longer than it says"));
      const part = rest.subarray(0, left);
      at.hash.update(part);
      await at.handle.writeFile(part);
      left -= part.length;
      rest = rest.subarray(part.length);
      if (left === 0) await finish();
      await begin();
    }
  }

  return {
    async take(bytes: Buffer): Promise<void> {
      if (header !== undefined) return takeBody(bytes);
      head = Buffer.concat([head, bytes]);
      const end = head.indexOf(0x0a);
      if (end === -1 && head.length > HEADER_BYTES) throw new Refused(broken("its list is too long"));
      if (end === -1) return;
      header = headerIn(head.subarray(0, end).toString("utf8"));
      await takeBody(head.subarray(end + 1));
    },
    end(): ArchiveHeader {
      if (header === undefined || at !== undefined || next < header.entries.length)
        throw new Refused(broken("it ends too early"));
      return header;
    },
    close: async (): Promise<void> => at?.handle.close(),
  };
}

function headerIn(line: string): ArchiveHeader {
  let written: unknown;
  try {
    written = JSON.parse(line);
  } catch {
    throw new Refused(broken("it does not begin with a list"));
  }
  const { passrail, version } = z.looseObject({}).catch({}).parse(written);
  if (passrail === "run" && version !== ARCHIVE_VERSION)
    throw new Refused({
      code: "import_version",
      message: `The file has version ${JSON.stringify(version)?.slice(0, 20)}; this Passrail reads version ${ARCHIVE_VERSION}.`,
      hint: "Export it with the same version of Passrail, or update this one.",
    });
  const read = headerSchema.safeParse(written);
  if (!read.success) {
    const [issue] = read.error.issues;
    throw new Refused(broken(`${issue?.path.join("/") || "its list"}: ${issue?.message ?? "not as expected"}`));
  }
  const { entries } = read.data;
  if (new Set(entries.map((each) => each.path.toLowerCase())).size < entries.length)
    throw new Refused(broken("it has two contents of one name"));
  if (entries.reduce((sum, { bytes }) => sum + bytes, 0) > MOST_BYTES)
    throw new Refused({ code: "import_too_large", message: `The file lists more than ${MOST_BYTES} bytes.` });
  return read.data;
}

async function hashOfFile(file: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const bytes of createReadStream(file)) hash.update(bytes as Buffer);
  return hash.digest("hex");
}
