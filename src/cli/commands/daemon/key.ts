// `key create|list|revoke`: API tokens for other people and programs. Only a token's hash is stored, so the token is printed once. Works
// with and without a daemon, because both read the same file.

import { userInfo } from "node:os";
import { mkdirSync } from "node:fs";
import { durationMs } from "../../../core/flow/duration.ts";
import { optional } from "../../../core/optional.ts";
import { createKeys, type KeyKind, type KeyLimits, type Keys } from "../../../http/server/keys.ts";
import { auditNote } from "../../audit-note.ts";
import { labelsIn } from "../worker/labels.ts";
import { CliError, EXIT, usageError } from "../../errors.ts";
import type { Io } from "../../terminal/io.ts";
import { requireOperator } from "../../operator.ts";
import { age, printJson, printTable } from "../../terminal/output.ts";

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,47}$/u;

export type KeyFlags = {
  readonly scope: KeyKind;
  readonly agent?: string;
  readonly story?: string;
  readonly labels?: string;
  readonly expires?: string;
};

/** Without a name, the key of an agent has the agent's. */
export async function keyCreate(io: Io, given: string | undefined, flags: KeyFlags): Promise<number> {
  requireOperator(io, "key create");
  const { scope: kind } = flags;
  const limits = limitsOf(flags);
  const name = given ?? limits.agent;
  if (name === undefined) throw usageError("name_missing", "Name the owner of the key.", "passrail key create NAME");
  if (!NAME.test(name))
    throw usageError("name_invalid", "A key's name has 1 to 48 letters, digits, dots, dashes or underscores.");
  const keys = await openKeys(io);
  const { token, ...info } = await keys.create({ name, kind, ...limits });
  auditNote(io, `key ${info.id} created: ${[name, kind, ...shownLimits(info)].join(", ")}`);
  if (io.json) printJson(io, { ...info, token });
  else {
    io.out(token);
    const about = [name, kind, ...shownLimits(info)].join(", ");
    if (!io.quiet) io.err(`Key ${info.id} (${about}). The token is shown once; only its hash is kept.`);
  }
  return EXIT.ok;
}

/** For how long a key may be made; it can be revoked before. */
const EXPIRES = /^[1-9][0-9]{0,3}[mhd]$/u;

function limitsOf({ scope, agent, story, labels: listed, expires }: KeyFlags): KeyLimits {
  if (scope === "agent" && (agent === undefined || agent.trim() === ""))
    throw usageError("agent_missing", "A key of the scope agent speaks for one agent.", "--agent implementer");
  if (scope !== "agent" && (agent !== undefined || story !== undefined))
    throw usageError("agent_not_allowed", "--agent and --story belong to --scope agent.");
  if (scope !== "worker" && listed !== undefined)
    throw usageError("labels_not_allowed", "--labels belongs to --scope worker.");
  const labels = listed === undefined ? undefined : labelsIn(listed);
  if (expires !== undefined && !EXPIRES.test(expires))
    throw usageError("expires_invalid", `${expires} is no time that a key lasts.`, "--expires 30m, 12h or 30d");
  const expiresAt = expires === undefined ? undefined : new Date(Date.now() + durationMs(expires)).toISOString();
  return optional({ agent, story, labels, expiresAt });
}

function shownLimits({ agent, story, labels, expiresAt }: KeyLimits): readonly string[] {
  return [
    ...(agent === undefined ? [] : [`for ${agent}`]),
    ...(story === undefined ? [] : [`story ${story}`]),
    ...(labels === undefined ? [] : [`labels ${labels.join(",")}`]),
    ...(expiresAt === undefined ? [] : [`until ${expiresAt}`]),
  ];
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
      found.map(({ id, name, kind, createdAt, ...limits }) => [
        { name: "id", value: id },
        { name: "kind", value: kind },
        { name: "name", value: name },
        { name: "created", value: io.plain ? createdAt : age(createdAt) },
        { name: "limits", value: shownLimits(limits).join(", ") },
      ]),
    );
  return EXIT.ok;
}

export async function keyRevoke(io: Io, id: string): Promise<number> {
  requireOperator(io, "key revoke");
  if (!(await (await openKeys(io)).revoke(id)))
    throw new CliError("key_not_found", `There is no key ${id}.`, "passrail key list");
  auditNote(io, `key ${id} revoked`);
  if (io.json) printJson(io, { revoked: id });
  else if (!io.quiet) io.out(`Revoked ${id}: its token no longer works.`);
  return EXIT.ok;
}

async function openKeys(io: Io): Promise<Keys> {
  mkdirSync(io.home, { recursive: true, mode: 0o700 });
  return createKeys(io.home, { person: `human:${userInfo().username}`, now: () => new Date().toISOString() });
}
