// `key pair`: logs in a phone or another computer. The address holds a code that is good for one login; what the device gets is a key,
// which `key list` shows and `key revoke` ends.

import { join } from "node:path";
import { renderUnicodeCompact } from "uqr";
import { findDaemon } from "../../../daemon/note.ts";
import { createClient } from "../../../http/client/client.ts";
import { readPrivate } from "../../../http/server/token-file.ts";
import { CliError, EXIT, usageError } from "../../errors.ts";
import { requireOperator } from "../../operator.ts";
import type { Io } from "../../terminal/io.ts";
import { printJson } from "../../terminal/output.ts";

export type PairFlags = { readonly scope: "operator" | "viewer"; readonly days: string };

export async function keyPair(io: Io, name: string, { scope, days }: PairFlags): Promise<number> {
  requireOperator(io, "key pair");
  if (!/^[1-9][0-9]{0,2}$/u.test(days) || Number(days) > 366)
    throw usageError("days_invalid", `${days} is no number of days.`, "--days 90; at most 366");
  const daemon = findDaemon(io.home);
  if (daemon === undefined) throw new CliError("daemon_not_running", "No daemon is running.", "passrail up --detach");
  if (daemon.publicUrl === null)
    throw new CliError(
      "not_reachable",
      "No other device reaches this daemon: it listens on this machine only.",
      "passrail up --listen 0.0.0.0:7443 --tls-cert F --tls-key F, or a proxy with TLS and the setting public_url",
    );
  const token = readPrivate(join(io.home, "operator.token"))?.trim() ?? "";
  const device = { name, kind: scope, days: Number(days) };
  const made = await createClient({ url: daemon.url, token }).call("createLoginCode", { body: { device } });
  if (!made.ok) throw new CliError(made.error.code, made.error.detail, made.error.hint ?? "");
  const url = `${daemon.publicUrl}/#login=${made.value.code}`;
  if (io.json) printJson(io, { url, expiresAt: made.value.expiresAt });
  else if (io.quiet || io.plain) io.out(url);
  else {
    // Light on dark, as cameras expect it the other way round from most terminals.
    io.out(renderUnicodeCompact(url, { ecc: "L", border: 2, invert: true }));
    io.out(url);
    io.err(`Open it on the device within five minutes, once. It stays logged in for ${days} days as ${name}.`);
    io.err("passrail key list   shows it, passrail key revoke ID   ends it");
  }
  return EXIT.ok;
}
