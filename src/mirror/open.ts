// A status mirror as the user's settings describe it. A setting that cannot be used is an error before anything starts.

import { err, ok, type Problem, type Result } from "../core/result.ts";
import { readAddress } from "../settings/database.ts";
import { readSecrets } from "../settings/secrets.ts";
import type { Environment } from "../settings/site.ts";
import type { StatusMirrorSettings } from "../settings/status-mirror.ts";
import { openPostgresTable } from "./postgres-table.ts";
import { openRestTable } from "./rest-table.ts";
import type { StatusTable, TableNames } from "./status-table.ts";

const DEFAULT_HANDOFFS = "agent_handoffs";

export function tableNames({ schema, features, handoffs }: StatusMirrorSettings): TableNames {
  return { schema, features, handoffs: handoffs ?? DEFAULT_HANDOFFS };
}

/** Opens no connection yet. */
export function openStatusTable(settings: StatusMirrorSettings, environment: Environment): Result<StatusTable> {
  const text = addressText(settings, environment);
  if (!text.ok) return err(wrong(text.error.message));
  const names = tableNames(settings);
  if (/^postgres(?:ql)?:/u.test(text.value)) {
    const address = readAddress(text.value, "status_mirror", environment);
    return address.ok ? ok(openPostgresTable(address.value, names)) : address;
  }
  const url = URL.parse(text.value);
  if (url === null) return err(wrong("its address cannot be read"));
  if (url.username !== "" || url.password !== "") return err(wrong("its address holds a user or a password"));
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback(url.hostname)))
    return err(wrong("its address begins neither with postgres:// nor with https://"));
  const { key_file: file, key_env: variable } = settings;
  if (file === undefined && variable === undefined)
    return err(wrong("key_file or key_env is missing; the REST API needs the project's key"));
  const key = (): Result<string> => {
    const read = readSecrets(file, variable, environment);
    return read.ok ? ok(read.value[0] ?? "") : read;
  };
  return ok(openRestTable({ url, names, key }));
}

function addressText({ url, url_file, url_env }: StatusMirrorSettings, environment: Environment): Result<string> {
  if (url !== undefined) return ok(url);
  const read = readSecrets(url_file, url_env, environment);
  return read.ok ? ok(read.value[0] ?? "") : read;
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "127.0.0.1" || host === "[::1]";
}

function wrong(why: string): Problem {
  return {
    code: "invalid_setting",
    message: `status_mirror: ${why}.`,
    hint: "docs/databases.md shows the setting for Supabase and for a Postgres",
  };
}
