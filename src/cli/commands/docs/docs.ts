// `docs`: the documentation in the package, as pages in a browser. The daemon serves the same pages at /guide.

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { didYouMean } from "../../../core/check/suggest.ts";
import { shippedDir } from "../../../settings/site.ts";
import { CliError, EXIT, usageError } from "../../errors.ts";
import type { Io } from "../../terminal/io.ts";
import { printJson } from "../../terminal/output.ts";
import { openBrowser } from "../daemon/open.ts";

/** A checkout that was not built has the texts themselves. */
const FOLDERS = [
  { folder: join(shippedDir, "dist", "guide"), ending: ".html", first: "index" },
  { folder: join(shippedDir, "docs"), ending: ".md", first: "tutorial" },
] as const;

export async function docs(io: Io, page: string | undefined, { print }: { readonly print: boolean }): Promise<number> {
  const found = FOLDERS.find(({ folder: each }) => existsSync(each));
  if (found === undefined)
    throw new CliError("docs_missing", `The installation in ${shippedDir} has no documentation.`);
  const { ending, first, folder } = found;
  const pages = readdirSync(folder).flatMap((file) => (file.endsWith(ending) ? [file.slice(0, -ending.length)] : []));
  const wanted = (page ?? first).toLowerCase();
  const name = pages.find((each) => each.toLowerCase() === wanted);
  if (name === undefined)
    throw usageError("unknown_page", `There is no page "${wanted.slice(0, 80)}".`, didYouMean(wanted, pages, "pages"));
  const address = pathToFileURL(join(folder, `${name}${ending}`)).href;
  if (io.json) printJson(io, { url: address });
  else io.out(address);
  if (!print && io.tty && !io.json) openBrowser(io, address);
  return EXIT.ok;
}
