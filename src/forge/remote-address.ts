// The address of a project's remote. Agents can write the repository's configuration, so Passrail checks the address and keeps the first
// one it saw: a change is noticed before anything is sent.

import { randomUUID } from "node:crypto";
import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { err, ok, type Result } from "../core/result.ts";
import { git } from "../git/git.ts";

/** Null if the repository has no such remote. */
export async function remoteAddress(project: string, remote: string): Promise<Result<string | null>> {
  const listed = await git(project, ["config", "--null", "--get-all", `remote.${remote}.url`]);
  // git reports a missing remote by its exit code.
  if (!listed.ok) return listed.error.code === "git_failed" ? ok(null) : listed;
  const [address, ...others] = listed.value.split("\0").filter((value) => value !== "");
  if (address === undefined) return ok(null);
  if (others.length > 0)
    return refuse("remote_unclear", remote, "it has several addresses", `git config --unset-all remote.${remote}.url`);
  if (!isUsable(address))
    return refuse(
      "remote_unusable",
      remote,
      `its address ${JSON.stringify(address.slice(0, 200))} is not https, ssh or a folder`,
    );
  return ok(address);
}

/** Keeps the first address of this repository; refuses another one until a person has checked it. */
export async function keepAddress(folder: string, address: string): Promise<Result<null>> {
  const file = join(folder, "address");
  const read = () => readFile(file, "utf8").catch(() => undefined);
  const known = (await read()) ?? (await keepFirst(folder, file, address).then(read)) ?? "";
  if (known.trim() === address) return ok(null);
  return err({
    code: "remote_changed",
    message: `The remote of this repository was ${known.trim()} and is now ${address}; nothing was sent.`,
    hint: `If you changed it yourself: rm ${file}`,
  });
}

/** Another process may do the same: a link is made whole or not at all, and never over an existing file. */
async function keepFirst(folder: string, file: string, address: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomUUID()}`;
  try {
    await writeFile(draft, `${address}\n`, { mode: 0o600, flag: "wx", flush: true });
    await link(draft, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
  } finally {
    await rm(draft, { force: true });
  }
}

/** owner/name on GitHub or a self-hosted GitHub server, or undefined. */
export function gitHubName(address: string, host: string): string | undefined {
  const path =
    /^https:\/\/(?:[^/@]{1,200}@)?([A-Za-z0-9.-]{1,200})(?::[0-9]{1,5})?\/(.{1,300})$/u.exec(address) ??
    /^ssh:\/\/(?:[^/@]{1,200}@)?([A-Za-z0-9.-]{1,200})(?::[0-9]{1,5})?\/(.{1,300})$/u.exec(address) ??
    /^(?:[A-Za-z0-9._-]{1,100}@)?([A-Za-z0-9.-]{1,200}):([^/].{0,300})$/u.exec(address);
  if (path === null || path[1]?.toLowerCase() !== host) return undefined;
  const name = (path[2] ?? "").replace(/\/$/u, "").replace(/\.git$/u, "");
  return /^[A-Za-z0-9-]{1,40}\/[A-Za-z0-9._-]{1,100}$/u.test(name) && !name.endsWith("/..") ? name : undefined;
}

function isUsable(address: string): boolean {
  if (address.length > 1000 || /[\p{Cc}\s]/u.test(address) || address.startsWith("-")) return false;
  if (/^(https|ssh|file):\/\/[^-]/u.test(address) || /^\/[^:]*$/u.test(address)) return true;
  // user@host:path; a double colon would name a git helper program.
  return /^[A-Za-z0-9._-]{1,100}@[A-Za-z0-9.-]{1,200}:[^:-][^:]*$/u.test(address);
}

function refuse(
  code: string,
  remote: string,
  why: string,
  hint = `git remote set-url ${remote} <address>`,
): Result<never> {
  return err({ code, message: `The remote ${remote} cannot be used: ${why}.`, hint });
}
