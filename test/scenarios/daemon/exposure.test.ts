// Other machines reach the daemon only with TLS, by the names of its certificate or behind a proxy; a device is paired with a code.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../../harness/until.ts";
import { readCompose, readWorkloads } from "../../harness/deploy-files.ts";
import { makeCertificate, type MadeCertificate } from "../../harness/certificate.ts";
import { CLI } from "../cli/bench.ts";
import { type Running, startDaemon } from "./running.ts";

let folder: string;
let daemon: Running;
let files: MadeCertificate;
let publicUrl: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "passrail-exposed-"));
  files = makeCertificate(folder, "DNS:box.test", "IP:127.0.0.1");
  daemon = await startDaemon(...nodeArgs());
  const status = JSON.parse((await daemon.passrail(["status", "--json"])).out) as { publicUrl: string };
  publicUrl = status.publicUrl;
}, 120_000);

afterAll(async () => {
  await daemon.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The command of the Kubernetes example, at places of this machine. */
function nodeArgs(): readonly string[] {
  const node = readWorkloads().find(({ metadata }) => metadata.name === "passrail-node");
  const [up, ...args] = node?.spec.template.spec.containers[0]?.args ?? [];
  expect(up).toBe("up");
  const places: Readonly<Record<string, string>> = {
    "0.0.0.0:7443": "127.0.0.1:0",
    "/certs/tls.crt": files.cert,
    "/certs/tls.key": files.key,
  };
  return args.map((word) => places[word] ?? word);
}

type Sent = {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly token?: string;
  readonly body?: unknown;
};

/** Over TLS, by the name of the certificate, from the address that it is at. */
function ask(path: string, { method = "GET", headers = {}, token, body }: Sent = {}) {
  const url = new URL(path, publicUrl);
  return new Promise<{ status: number; body: Record<string, unknown> }>((resolve, reject) => {
    const sent = request(url, {
      method,
      servername: "box.test",
      ca: readFileSync(files.cert),
      lookup: (_name, options, found) =>
        options.all === true ? found(null, [{ address: "127.0.0.1", family: 4 }]) : found(null, "127.0.0.1", 4),
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
    });
    sent.once("error", reject);
    sent.once("response", (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (part: string) => (text += part));
      answer.once("end", () =>
        resolve({ status: answer.statusCode ?? 0, body: text.startsWith("{") ? JSON.parse(text) : {} }),
      );
    });
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

test("the names of the certificate are those of the daemon; others, and pages that are not its own, are refused", async () => {
  expect(publicUrl).toMatch(/^https:\/\/box\.test:\d+$/);
  expect(await ask("/api/health")).toMatchObject({ status: 401 });
  expect(await ask("/api/health", { token: daemon.token })).toMatchObject({ status: 200 });
  const other = { host: "other.test" };
  expect(await ask("/api/health", { token: daemon.token, headers: other })).toMatchObject({
    body: { code: "host_not_allowed" },
  });
  const from = (origin: string) => ask("/api/health", { token: daemon.token, headers: { origin } });
  expect(await from(publicUrl)).toMatchObject({ status: 200 });
  for (const origin of [publicUrl.replace("https:", "http:"), "https://box.test", "https://other.test"])
    expect(await from(origin)).toMatchObject({ body: { code: "origin_not_allowed" } });
});

test("a device is paired with a code that is good once; its key is listed, and logging out or revoking ends it", async () => {
  const pair = async (...more: readonly string[]): Promise<string> => {
    const { out } = await daemon.passrail(["key", "pair", "anna-phone", "--json", ...more]);
    const { url } = JSON.parse(out) as { url: string };
    expect(url.startsWith(`${publicUrl}/#login=`)).toBe(true);
    return url.split("#login=")[1] ?? "";
  };
  const login = (code: string) => ask("/api/sessions", { method: "POST", token: code, body: {} });
  const code = await pair();
  const { status, body } = await login(code);
  expect({ status, ...body }).toMatchObject({ status: 201, lasts: true });
  expect(await login(code)).toMatchObject({ status: 401 });
  const token = String(body["token"]);
  expect(await ask("/api/whoami", { token })).toMatchObject({ body: { name: "human:anna-phone", isSession: true } });
  expect(await daemon.passrail(["key", "list"])).toMatchObject({ out: expect.stringContaining("anna-phone") });
  expect(await ask("/api/sessions/current", { method: "DELETE", token })).toMatchObject({ status: 200 });
  expect(await ask("/api/whoami", { token })).toMatchObject({ status: 401 });

  const second = String((await login(await pair("--scope", "viewer", "--days", "2"))).body["token"]);
  expect(await ask("/api/whoami", { token: second })).toMatchObject({ body: { kind: "viewer" } });
  expect(await ask("/api/runs/pause", { method: "POST", token: second, body: {} })).not.toMatchObject({ status: 200 });
  const [key] = (JSON.parse((await daemon.passrail(["key", "list", "--json"])).out) as { keys: { id: string }[] }).keys;
  expect(await daemon.passrail(["key", "revoke", key?.id ?? ""])).toMatchObject({ code: 0 });
  expect(await ask("/api/whoami", { token: second })).toMatchObject({ status: 401 });
});

test("a worker joins over TLS with the command of the compose file", async () => {
  const made = await daemon.passrail(["key", "create", "box-2", "--scope", "worker"]);
  const home = join(folder, "worker");
  mkdirSync(home, { mode: 0o700 });
  writeFileSync(join(folder, "secret"), made.out);
  const [script = ""] = readCompose().services["worker"]?.command ?? [];
  const here = script
    .replaceAll("/run/secrets/worker", join(folder, "secret"))
    .replaceAll("/var/lib/passrail", home)
    .replace("https://node:7443", publicUrl.replace("box.test", "127.0.0.1"))
    .replace("exec passrail", `exec ${process.execPath} ${CLI}`);
  const env = { ...process.env, PASSRAIL_HOME: home, NODE_EXTRA_CA_CERTS: files.cert };
  const worker = spawn("sh", ["-c", `${here.trim()} --name box-2`], { env, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  worker.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
  const ended = once(worker, "exit");
  try {
    const isThere = async () =>
      JSON.stringify((await daemon.call("GET", "/api/workers")).body).includes("box-2") ? true : undefined;
    await until(`the worker has joined: ${said}`, isThere, 60_000);
  } finally {
    worker.kill("SIGTERM");
  }
  expect(await ended).toEqual([0, null]);
  expect(JSON.stringify((await daemon.call("GET", "/api/workers")).body)).not.toContain("box-2");
}, 120_000);

test("what cannot be listened on safely is refused before the start", async () => {
  const refused = async (...args: readonly string[]) =>
    (await daemon.passrail(["--home", join(folder, "other"), "up", ...args])).err;
  expect(await refused("--listen", "0.0.0.0")).toContain("certificate_missing");
  expect(await refused("--listen", "box.test", "--tls-cert", files.cert, "--tls-key", files.key)).toContain(
    "host_invalid",
  );
  const broken = join(folder, "broken.pem");
  writeFileSync(broken, "no certificate");
  expect(await refused("--listen", "127.0.0.1", "--tls-cert", broken, "--tls-key", files.key)).toContain(
    "certificate_invalid",
  );
  expect(await refused("--tls-cert", files.cert)).toContain("listen_missing");
});
