import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { until } from "../../test/harness/until.ts";
import { carriersFolder, openSocketPaths, readCarrierNotes, socketName, writeCarrierNote } from "./places.ts";
import { openWire, type ToCarrier, toCarrierSchema, type ToEngine } from "./wire.ts";

let dir: string;
beforeEach(() => void (dir = mkdtempSync(join(tmpdir(), "passrail-wire-"))));
afterEach(() => rmSync(dir, { recursive: true, force: true }));

async function pair(path: string): Promise<readonly [Socket, Socket]> {
  const server = createServer();
  const taken = new Promise<Socket>((resolve) => void server.once("connection", resolve));
  await new Promise<void>((resolve) => void server.listen(path, resolve));
  const ours = connect(path);
  const theirs = await taken;
  server.close();
  return [ours, theirs];
}

test("messages arrive in order, however the bytes are cut, and lines that are none are skipped", async () => {
  const [ours, theirs] = await pair(join(dir, "s"));
  const got: ToCarrier[] = [];
  const wire = openWire<ToCarrier, ToEngine>(theirs, toCarrierSchema, {
    message: (message) => got.push(message),
    closed: () => undefined,
  });
  const said = [
    JSON.stringify({ type: "hello", id: "ä" }),
    "no JSON",
    JSON.stringify({ type: "steer", text: "of a later version" }),
    JSON.stringify({ type: "abort", reason: "x".repeat(100_000) }),
  ];
  const bytes = Buffer.from(`${said.join("\n")}\n`);
  for (let at = 0; at < bytes.length; at += 999) ours.write(bytes.subarray(at, at + 999));
  await until("both messages are there", () => (got.length === 2 ? true : undefined));
  expect(got.map(({ type }) => type)).toEqual(["hello", "abort"]);
  wire.destroy();
  ours.destroy();
});

test("events are dropped, and nothing else is, where the engine does not read", async () => {
  const [ours, theirs] = await pair(join(dir, "s"));
  const wire = openWire<ToCarrier, ToEngine>(theirs, toCarrierSchema, { message: () => {}, closed: () => {} });
  ours.pause();
  const event = { type: "message", text: "y".repeat(8 * 1024) } as const;
  for (let n = 0; n < 2000; n++) wire.sendIfFree({ type: "observed", event });
  expect(theirs.writableLength).toBeLessThan(2 * 1024 * 1024);
  wire.send({ type: "note", n: 1, facts: {} });
  let heard = "";
  ours.on("data", (chunk: Buffer) => (heard = heard.slice(-200) + chunk.toString())).resume();
  await until("the note is there", () => (heard.includes('"note"') ? true : undefined));
  wire.destroy();
  ours.destroy();
});

test("a state folder with a path that is too long for a socket is reached all the same", async () => {
  const home = join(dir, "h".repeat(60), "o".repeat(60));
  const id = "0123456789abcdef01234567";
  const folder = carriersFolder(home);
  const paths = openSocketPaths(home);
  expect(Buffer.byteLength(join(folder, socketName(id)))).toBeGreaterThan(103);
  expect(Buffer.byteLength(paths.of(id))).toBeLessThanOrEqual(103);
  const [ours, theirs] = await pair(paths.of(id));
  ours.destroy();
  theirs.destroy();
  paths.close();
});

test("a note names its carrier; anything else in the folder names nobody", () => {
  const identity = { id: "0123456789abcdef01234567", pid: 4711, startTime: "12" };
  carriersFolder(dir);
  writeCarrierNote(dir, identity);
  writeCarrierNote(dir, { ...identity, id: "f".repeat(24), pid: 1 });
  expect(readCarrierNotes(dir)).toEqual([identity]);
});
