// `key create|list|revoke`: API tokens for other people and programs. Only a token's hash is stored, so the token is printed once. Works
// with and without a daemon, because both read the same file.

import { userInfo } from "node:os";
import { mkdirSync } from "node:fs";
import { createAudit } from "../../../http/server/audit.ts";
import { createKeys, type KeyKind, type Keys } from "../../../http/server/keys.ts";
import { CliError, EXIT, usageError } from "../../errors.ts";
import type { Io } from "../../terminal/io.ts";
import { requireOperator } from "../../operator.ts";
import { age, printJson, printTable } from "../../terminal/output.ts";

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,47}$/u;

export async function keyCreate(io: Io, name: string, kind: KeyKind): Promise<number> {
  requireOperator(io, "key create");
  if (!NAME.test(name))
    throw usageError("name_invalid", "A key's name has 1 to 48 letters, digits, dots, dashes or underscores.");
  const keys = await openKeys(io);
  const { token, ...info } = await keys.create({ name, kind });
  note(io, `key ${info.id} created: ${name}, ${kind}`);
  if (io.json) printJson(io, { ...info, token });
  else {
    io.out(token);
    if (!io.quiet) io.err(`Key ${info.id} (${name}, ${kind}). The token is shown once; only its hash is kept.`);
  }
  return EXIT.ok;
}

export async function keyList(io: Io): Promise<number> {
  requireOperator(io, "key list");
  const found = (await openKeys(io)).list();
  if (io.json) printJson(io, { keys: found });
  else if (io.quiet) for (const { id } of found) io.out(id);
  else if (found.length === 0) io.out("No keys. The operator's own token is in the state folder.");
  else
    printTable(
      io,
      found.map(({ id, name, kind, createdAt }) => [
        { name: "id", value: id },
        { name: "kind", value: kind },
        { name: "name", value: name },
        { name: "created", value: io.plain ? createdAt : age(createdAt) },
      ]),
    );
  return EXIT.ok;
}

export async function keyRevoke(io: Io, id: string): Promise<number> {
  requireOperator(io, "key revoke");
  if (!(await (await openKeys(io)).revoke(id)))
    throw new CliError("key_not_found", `There is no key ${id}.`, "passrail key list");
  note(io, `key ${id} revoked`);
  if (io.json) printJson(io, { revoked: id });
  else if (!io.quiet) io.out(`Revoked ${id}: its token no longer works.`);
  return EXIT.ok;
}

/** The audit record holds every change of keys, with or without a daemon. */
function note(io: Io, what: string): void {
  const audit = createAudit(io.home, { now: () => new Date().toISOString(), onProblem: (text) => io.err(`! ${text}`) });
  audit.record({
    type: "request.made",
    principal: null,
    who: `human:${userInfo().username}`,
    from: `process ${process.pid}`,
    what,
    status: null,
    code: null,
    requestId: null,
  });
  audit.close();
}

async function openKeys(io: Io): Promise<Keys> {
  mkdirSync(io.home, { recursive: true, mode: 0o700 });
  return createKeys(io.home, { person: `human:${userInfo().username}`, now: () => new Date().toISOString() });
}
