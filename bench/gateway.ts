// What a gateway adds to a request: a vendor in a process of its own answers at once, or streams; asked directly and through the gateway,
// by turns. A request has the size of an agent's, so that copying it counts.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, statSync } from "node:fs";
import { Agent, type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { openGateway } from "../src/gateway/server.ts";
import { openTape } from "../src/gateway/tape.ts";
import { inFolder, median, type Row } from "./measure.ts";

const ROUNDS = 300;
const WARM = 50;
const BODY = JSON.stringify({ model: "m", messages: [{ role: "user", content: "x".repeat(120_000) }] });

/** Streams the first event at once, and the end a moment later. */
const VENDOR = `
const { createServer } = require("node:http");
const server = createServer((asked, response) => {
  asked.resume().once("end", () => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write('event: message_start\\ndata: {"type":"message_start","message":{"model":"m","usage":{"input_tokens":1,"output_tokens":1}}}\\n\\n');
    setTimeout(() => response.end('event: message_delta\\ndata: {"type":"message_delta","usage":{"output_tokens":2}}\\n\\n'), 2);
  });
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
`;

export async function measureGateway(dir: string): Promise<readonly Row[]> {
  const vendor = spawn(process.execPath, ["-e", VENDOR], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const [said] = (await once(vendor.stdout, "data")) as [Buffer];
    const upstream = `http://127.0.0.1:${Number(String(said))}`;
    const gateway = await openGateway({
      routes: [{ name: "anthropic", upstream, headers: { "x-api-key": "key" } }],
      egress: null,
      proxyEnv: {},
      admit: () => undefined,
      onNews: () => {},
      record: null,
    });
    const { url, token } = gateway.address;
    const agent = new Agent({ keepAlive: true });
    const added = { first: [] as number[], whole: [] as number[] };
    for (let round = 0; round < ROUNDS + WARM; round += 1) {
      const direct = await ask(`${upstream}/v1/messages`, "key", agent);
      const through = await ask(`${url}/anthropic/v1/messages`, token, agent);
      if (round < WARM) continue;
      added.first.push(through.firstMs - direct.firstMs);
      added.whole.push(through.wholeMs - direct.wholeMs);
    }
    agent.destroy();
    await gateway.close();
    const note = `${ROUNDS} pairs of requests of ${Math.round(BODY.length / 1000)} kB`;
    return [
      await tapeRow(dir),
      row("gateway: added to a request, p50", median(added.whole), 3, note),
      row("gateway: added to the first byte, p50", median(added.first), 5, note),
    ];
  } finally {
    vendor.kill();
  }
}

/** Forty requests of a conversation that reads this repository's pages: each repeats all that was said before. */
async function tapeRow(base: string): Promise<Row> {
  const value = await inFolder(base, async (dir) => {
    const path = join(dir, "tape");
    const tape = openTape(path, { redact: (text) => text, onError: raise, places: {} });
    const pages = readFileSync(join(import.meta.dirname, "../CHANGELOG.md"), "utf8");
    const messages: { readonly role: string; readonly content: string }[] = [];
    let raw = 0;
    for (let turn = 0; turn < 40; turn += 1) {
      messages.push({ role: "user", content: pages.slice(turn * 2000, (turn + 1) * 2000) });
      const request = JSON.stringify({ model: "m", messages });
      const response = pages.slice(turn * 500, (turn + 1) * 500);
      raw += request.length + response.length;
      const at = { at: "", ms: 0, route: "anthropic", method: "POST", path: "/v1/messages", status: 200, headers: {} };
      tape.add({ ...at, request, response });
    }
    await tape.close();
    return statSync(path).size / raw;
  });
  return { name: "gateway: bytes of the tape against raw", value, unit: "x", limit: { is: "at most", value: 0.3 } };
}

function raise(error: Error): void {
  throw error;
}

function row(name: string, value: number, most: number, note: string): Row {
  return { name, value: Math.max(0, value), unit: "ms", limit: { is: "at most", value: most }, note };
}

async function ask(
  url: string,
  key: string,
  agent: Agent,
): Promise<{ readonly firstMs: number; readonly wholeMs: number }> {
  const since = performance.now();
  const headers = { "x-api-key": key, "content-type": "application/json", "content-length": Buffer.byteLength(BODY) };
  const asked = request(url, { method: "POST", agent, headers });
  asked.end(BODY);
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  let firstMs = 0;
  response.on("data", () => void (firstMs ||= performance.now() - since));
  await once(response, "end");
  return { firstMs, wholeMs: performance.now() - since };
}
