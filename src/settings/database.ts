// Which database holds the store: SQLite in the state folder, unless PASSRAIL_DATABASE_URL or the user's own settings name a Postgres. A
// project's file cannot name one. An address that cannot be read is an error and never means SQLite.

import { existsSync, readFileSync } from "node:fs";
import { err, ok, type Problem, type Result } from "../core/result.ts";
import { type Environment, userSettingsFile } from "./site.ts";

export type DatabaseAddress = {
  /** The whole address, with its password. Never print it. */
  readonly url: string;
  /** Without the password. */
  readonly shown: string;
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  readonly password: string | undefined;
  /** "verified": encrypted, and the server's certificate must fit. "unverified": encrypted only. */
  readonly tls: "off" | "verified" | "unverified";
  /** A file with the certificates to trust instead of the system's. */
  readonly rootCertificate: string | undefined;
};

const VARIABLE = "PASSRAIL_DATABASE_URL";
const EXAMPLE = "postgres://user:password@host:5432/database";
const PARAMETERS = new Set(["sslmode", "sslrootcert", "host", "application_name", "pgbouncer", "connect_timeout"]);

/** Null: SQLite. */
export async function databaseOf(environment: Environment): Promise<Result<DatabaseAddress | null>> {
  const told = environment[VARIABLE];
  if (told !== undefined && told !== "") return readAddress(told, VARIABLE, environment);
  const file = userSettingsFile(environment);
  // Most users have no such setting, and commands that only look must load neither YAML nor schemas for it.
  if (!existsSync(file) || !/^["']?database["']?\s*:/m.test(readFileSync(file, "utf8"))) return ok(null);
  const { loadUserDatabase } = await import("./load.ts");
  const own = await loadUserDatabase(environment);
  if (!own.ok || own.value === null) return own.ok ? ok(null) : own;
  return readAddress(own.value, `database in ${file}`, environment);
}

/** The environment that may be passed on: programs that Passrail starts need no access to its database. */
export function withoutDatabase(environment: Environment): Environment {
  const { [VARIABLE]: _, ...rest } = environment;
  return rest;
}

/** `named` says where the address was written. */
export function readAddress(text: string, named: string, environment: Environment = {}): Result<DatabaseAddress> {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) return err(wrong(named, "this is not an address"));
  if (url.protocol !== "postgres:" && url.protocol !== "postgresql:")
    return err(wrong(named, `it begins with ${url.protocol}//, not with postgres://`));
  const unknown = [...url.searchParams.keys()].find((name) => !PARAMETERS.has(name));
  if (unknown !== undefined) return err(wrong(named, `the parameter ${unknown} is not known`));
  const parts = decoded(url);
  if (parts === undefined) return err(wrong(named, "a part of it has a % that encodes nothing"));
  const { user, password = environment["PGPASSWORD"], database } = parts;
  const host = url.searchParams.get("host") ?? url.hostname.replace(/^\[(.*)\]$/, "$1");
  if (host === "") return err(wrong(named, "the host is missing"));
  if (user === "") return err(wrong(named, "the user is missing"));
  if (database === "") return err(wrong(named, "the name of the database is missing"));
  const rootCertificate = url.searchParams.get("sslrootcert") ?? undefined;
  const tls = tlsOf(url.searchParams.get("sslmode"), host, rootCertificate);
  if (tls === undefined)
    return err(
      wrong(named, `sslmode is ${url.searchParams.get("sslmode")}; it can be disable, require or verify-full`),
    );
  if (rootCertificate !== undefined && !existsSync(rootCertificate))
    return err(wrong(named, `the file of sslrootcert, ${rootCertificate}, is not there`));
  const port = url.port === "" ? 5432 : Number(url.port);
  const shown = `postgres://${user}@${host.includes(":") ? `[${host}]` : host}:${port}/${database}`;
  return ok({ url: text, shown, host, port, database, user, password, tls, rootCertificate });
}

function decoded(url: URL): { user: string; password: string | undefined; database: string } | undefined {
  try {
    return {
      user: decodeURIComponent(url.username),
      password: url.password === "" ? undefined : decodeURIComponent(url.password),
      database: decodeURIComponent(url.pathname.slice(1)),
    };
  } catch {
    return undefined;
  }
}

/** By default a connection that leaves the machine is encrypted and verified. */
function tlsOf(
  mode: string | null,
  host: string,
  rootCertificate: string | undefined,
): DatabaseAddress["tls"] | undefined {
  const isLocal = host.startsWith("/") || host === "localhost" || host === "127.0.0.1" || host === "::1";
  switch (mode) {
    case null:
      return isLocal && rootCertificate === undefined ? "off" : "verified";
    case "disable":
      return "off";
    case "require":
      return rootCertificate === undefined ? "unverified" : "verified";
    case "verify-full":
      return "verified";
    default:
      return undefined;
  }
}

/** Never repeats the address: it may hold a password. */
function wrong(named: string, why: string): Problem {
  return {
    code: "database_invalid",
    message: `${named}: ${why}.`,
    hint: `An address looks like this: ${EXAMPLE}`,
  };
}
