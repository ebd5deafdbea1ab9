// An engine and carriers of other versions. The other side is written here by hand, as version 0.1 spoke, so that no change of the wire
// changes it along.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { until } from "../../test/harness/until.ts";
import { attemptFiles } from "../attempt/attempt-files.ts";
import type { CarriedPorts, CarrierIdentity, Carriers } from "../attempt/carriers.ts";
import { createMailbox } from "../attempt/mailbox.ts";
import { identify, isAlive } from "../runner/process/process-table.ts";
import { createCarriers, type CarriersOptions } from "./open.ts";
import { carriersFolder, socketName } from "./places.ts";

const PLACE = { runId: "r1", stage: "build", attempt: 1 };
const INCARNATION = "store-1";

let home: string;
let body: ChildProcess;
let server: Server | undefined;
let carriers: Carriers;
const errors: string[] = [];
const heard: unknown[] = [];

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "passrail-versions-")));
  errors.length = heard.length = 0;
  body = spawn("sleep", ["300"], { stdio: "ignore", detached: true });
  const settings = { programs: {}, passEnvironment: [], workspaces: {} } as unknown as CarriersOptions["settings"];
  const onError = (error: unknown) => void errors.push(String(error));
  carriers = createCarriers({
    home,
    environment: {},
    settings,
    process: "own",
    incarnation: () => INCARNATION,
    onError,
  });
});
afterEach(() => {
  carriers.close();
  server?.close();
  body.kill("SIGKILL");
  rmSync(home, { recursive: true, force: true });
});

/** A carrier at work, from its socket to its messages; its process is another one, so that ending it would be seen. */
async function carrier(protocol: number, onWelcomed: (socket: Socket) => void): Promise<CarrierIdentity> {
  const id = "ab".repeat(12);
  server = createServer((socket) => {
    socket.on("error", () => undefined);
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk.toString();
      for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n")) {
        const message = JSON.parse(text.slice(0, end)) as { type: string; id?: string };
        text = text.slice(end + 1);
        // What the other version does not know, it skips.
        if (message.type !== "room") heard.push(message);
        if (message.type !== "hello" || message.id !== id) continue;
        const at = { ...PLACE, incarnation: INCARNATION, token: "t", channel: join(home, "channels/x/result") };
        say(socket, { type: "welcome", protocol, at });
        onWelcomed(socket);
      }
    });
  });
  const listening = server;
  await new Promise<void>((resolve) => void listening.listen(join(carriersFolder(home), socketName(id)), resolve));
  return { id, pid: body.pid ?? 0, startTime: identify(body.pid ?? 0) ?? "" };
}

const say = (socket: Socket, message: object): boolean => socket.write(`${JSON.stringify(message)}\n`);

/** As version 0.1 wrote it: strays have no start time. */
function report(id: string): void {
  const { dir } = attemptFiles(home, PLACE.runId, PLACE.stage, PLACE.attempt);
  mkdirSync(dir, { recursive: true });
  const strays = [{ pid: 7, name: "sleep" }];
  const said = { verdict: "pass", structured: true };
  const file = {
    id,
    incarnation: INCARNATION,
    report: said,
    aborted: null,
    notes: [{ model: "m" }],
    spent: null,
    strays,
  };
  writeFileSync(join(dir, "report.json"), JSON.stringify(file));
}

function ports(noted: unknown[]): CarriedPorts {
  const partial: Partial<CarriedPorts> = {
    note: async (facts) => void noted.push(facts),
    messages: createMailbox([], async () => {}),
    room: () => [],
    watchRoom: () => undefined,
    spent: () => undefined,
    offerLeave: () => undefined,
    offerCheck: () => undefined,
    signal: new AbortController().signal,
  };
  return partial as CarriedPorts;
}

async function found(identity: CarrierIdentity) {
  const adopted = await carriers.find(identity, PLACE);
  if (adopted.type !== "living") throw new Error(`it is ${adopted.type}`);
  return adopted;
}

test("R-X-05: a carrier of an older build is adopted; messages that are unknown here are skipped, and questions get an answer", async () => {
  let line: Socket | undefined;
  const identity = await carrier(1, (socket) => {
    line = socket;
    say(socket, { type: "boast", of: "something that no version knows" });
    say(socket, { type: "note", n: 1, facts: { session: { id: "s" } }, since: "a field of another version" });
    say(socket, { type: "ask", n: 2, question: { about: "weather" } });
  });
  const noted: unknown[] = [];
  const carried = (await found(identity)).carryOn(ports(noted));
  await until("both are answered", () => (heard.length >= 3 ? true : undefined));
  expect(heard).toEqual([
    { type: "hello", id: identity.id },
    { type: "answer", n: 1, value: null },
    { type: "answer", n: 2, value: null, error: expect.stringContaining("does not know this question") },
  ]);
  report(identity.id);
  line?.end();
  expect(await carried).toMatchObject({ type: "reported", report: { verdict: "pass" }, strays: [{ pid: 7 }] });
  expect(noted).toEqual([{ session: { id: "s" } }, { model: "m" }]);
  expect(errors).toEqual([]);
});

test("R-X-05: a carrier of a newer protocol is left at work and said to be; nothing is sent to it, and its report counts", async () => {
  const identity = await carrier(2, () => undefined);
  const carried = (await found(identity)).carryOn(ports([]));
  await until("it is said", () => (errors.length > 0 ? true : undefined));
  expect(errors).toEqual([expect.stringContaining("protocol 2, this one speaks 1")]);
  expect(isAlive(identity)).toBe(true);
  report(identity.id);
  expect(await carried).toMatchObject({ type: "reported", report: { verdict: "pass" } });
  expect(heard).toEqual([{ type: "hello", id: identity.id }]);
});
