// The images of a ticket file, where the agent can look at them: copies beside the attempt's channel. The ticket's author is not trusted: an
// image is a plain file in the folder of the ticket, no link leads to it, and its first bytes are those of an image.

import { dirname, extname, isAbsolute, join } from "node:path";
import { imageLinks } from "../core/ticket/image-links.ts";
import type { TicketImage } from "../core/prompt/images.ts";
import { runFacts, ticketProject } from "../core/run/facts.ts";
import { makeFolders, readConfinedBytes, writeConfined } from "../file/confined.ts";
import type { AttemptJob } from "./job.ts";
import { untampered } from "./tampered.ts";

export type TicketImages = {
  readonly images: readonly TicketImage[];
  /** The folder of the copies; none without an image. */
  readonly folders: readonly string[];
};

const MAX_BYTES = 10 * 1024 * 1024;
const NONE: TicketImages = { images: [], folders: [] };

export function ticketImages({ run, home, files }: AttemptJob): TicketImages {
  const links = imageLinks(run.subject.body);
  const from = links.length === 0 ? undefined : ticketFolder(run);
  if (from === undefined) return NONE;
  const folder = join(dirname(files.result), "images");
  const images = links.map((link, index): TicketImage => {
    const read = readConfinedBytes(from, join(from, link), MAX_BYTES);
    const bytes = read.ok ? read.value : undefined;
    if (bytes === undefined || !isImage(bytes)) return { link, path: null };
    untampered(makeFolders(home, folder, 0o700));
    const path = join(folder, `${index + 1}${extname(link).toLowerCase()}`);
    untampered(writeConfined(home, path, bytes, 0o400));
    return { link, path };
  });
  return { images, folders: images.some(({ path }) => path !== null) ? [folder] : [] };
}

function ticketFolder(run: AttemptJob["run"]): string | undefined {
  const { file } = runFacts(run).ticket;
  const project = ticketProject(run);
  if (file === null) return undefined;
  if (isAbsolute(file)) return dirname(file);
  return project === null ? undefined : dirname(join(project, file));
}

function isImage(bytes: Buffer): boolean {
  const head = bytes.subarray(0, 12).toString("latin1");
  return (
    head.startsWith("\u0089PNG\r\n") ||
    head.startsWith("\u00ff\u00d8\u00ff") ||
    head.startsWith("GIF8") ||
    (head.startsWith("RIFF") && head.endsWith("WEBP"))
  );
}
