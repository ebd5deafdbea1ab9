// A real PgBouncer in transaction mode in front of a test's Postgres: every transaction may get another session of the server. The program is
// Debian's `pgbouncer`; where it is missing the tests that need it are left out, and CI installs it.

import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "./until.ts";
import { freePort } from "./free-port.ts";

export type Pooler = { readonly port: number; stop(): Promise<void> };

const NOBODY = 65_534;

/** Undefined where it is not installed. */
export const pgbouncer: string | undefined = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"].find((path) =>
  existsSync(path),
);

/** `sessions`: so many of the server, for however many connections. */
export async function startPooler(server: {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly sessions: number;
}): Promise<Pooler> {
  if (pgbouncer === undefined) throw new Error("there is no pgbouncer here: apt-get install pgbouncer");
  const folder = mkdtempSync(join(tmpdir(), "passrail-pgbouncer-"));
  const file = join(folder, "pgbouncer.ini");
  const port = await freePort();
  const settings = {
    listen_addr: "127.0.0.1",
    listen_port: port,
    unix_socket_dir: "",
    pool_mode: "transaction",
    auth_type: "any",
    default_pool_size: server.sessions,
    // The next transaction gets the session that rested longest: never the one before, where there is another.
    server_round_robin: 1,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  const target = `* = host=${server.host} port=${server.port} user=${server.user}`;
  writeFileSync(file, ["[databases]", target, "[pgbouncer]", ...lines, ""].join("\n"));
  chmodSync(folder, 0o755);
  // It refuses to be root.
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const child = spawn(pgbouncer, ["-q", file], { ...user, cwd: "/", stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const stop = async (): Promise<void> => {
    child.kill("SIGKILL");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  await until(`pgbouncer listens: ${said}`, () => answers(port));
  return { port, stop };
}

function answers(port: number): Promise<true | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => (socket.destroy(), resolve(true)));
    socket.once("error", () => resolve(undefined));
  });
}
