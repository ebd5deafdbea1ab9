// `open`: opens the dashboard in a browser, logged in. The address holds a code that is valid for one login and one minute; the token
// itself goes to the daemon only.

import { spawn } from "node:child_process";
import { join } from "node:path";
import { createClient } from "../../../http/client/client.ts";
import { findDaemon } from "../../../daemon/note.ts";
import { readPrivate } from "../../../http/server/token-file.ts";
import { CliError, EXIT, usageError } from "../../errors.ts";
import type { Io } from "../../terminal/io.ts";
import { requireOperator } from "../../operator.ts";
import { printJson } from "../../terminal/output.ts";

const PAGE = /^\/[A-Za-z0-9._~/?=&%:@,+-]*$/u;

export type OpenOptions = { readonly print: boolean; readonly path: string };

export async function open(io: Io, { print, path }: OpenOptions): Promise<number> {
  requireOperator(io, "open");
  if (!PAGE.test(path)) throw usageError("page_invalid", "A page begins with a slash, such as /runs/12.");
  const daemon = findDaemon(io.home);
  if (daemon === undefined) throw new CliError("daemon_not_running", "No daemon is running.", "passrail up --detach");
  const address = await loginAddress(io.home, daemon.url, path);
  if (io.json) printJson(io, { url: address });
  else io.out(address);
  if (!print && io.tty && !io.json) openBrowser(io, address);
  return EXIT.ok;
}

/** An address that logs a browser in; it is valid for one minute. */
export async function loginAddress(home: string, url: string, path: string = "/"): Promise<string> {
  const token = readPrivate(join(home, "operator.token"))?.trim() ?? "";
  const made = await createClient({ url, token }).call("createLoginCode", { body: {} });
  if (!made.ok) throw new CliError(made.error.code, made.error.detail, made.error.hint ?? "");
  return `${url}${path}#login=${made.value.code}`;
}

/** Does not check that the browser opened: the person sees it, and the address is printed anyway. */
export function openBrowser(io: Pick<Io, "err">, address: string): void {
  const program = process.platform === "darwin" ? "open" : "xdg-open";
  const child = spawn(program, [address], { stdio: "ignore", detached: true });
  child.once("error", () => io.err(`No browser could be opened (${program}); open the address yourself.`));
  child.unref();
}
