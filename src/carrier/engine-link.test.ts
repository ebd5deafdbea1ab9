// What a carrier tells while no engine is there: kept before the attempt continues, and no longer when an engine has stored it.

import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { until } from "../../test/harness/until.ts";
import { connectCarrier } from "./connect.ts";
import { type EngineLink, openEngineLink } from "./engine-link.ts";
import { type KeptNews, readKept, writeKept } from "./kept-file.ts";
import { carriersFolder, forgetCarrier } from "./places.ts";

const ID = "cd".repeat(12);
const SPENT = { usage: { usd: 1, inputTokens: 2, outputTokens: 3, cachedTokens: null } } as KeptNews["spent"];

let home: string;
let socket: string;
let link: EngineLink;

beforeEach(async () => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "passrail-link-")));
  socket = join(carriersFolder(home), "c.sock");
  const keep = (news: KeptNews): void => writeKept(home, ID, "store-1", news);
  link = await openEngineLink({ id: ID, socket, at: () => null, keep, onCommand: () => undefined });
});
afterEach(async () => {
  await link.reported();
  rmSync(home, { recursive: true, force: true });
});

const kept = () => readKept(home, ID, "store-1");

test("R-X-05: facts and usage that no engine stores are on disk before the attempt continues", async () => {
  await link.note({ process: { pid: 7 } });
  expect(kept()).toEqual({ notes: [{ process: { pid: 7 } }], heard: [], spent: null });
  await link.heard({ number: 3, way: "now" });
  link.spent(SPENT as NonNullable<typeof SPENT>);
  expect(kept()).toEqual({ notes: [{ process: { pid: 7 } }], heard: [{ number: 3, way: "now" }], spent: SPENT });
  expect(readKept(home, ID, "another store")).toBeUndefined();
  forgetCarrier(home, ID);
  expect(kept()).toBeUndefined();
});

test("R-X-05: facts that were on their way when the engine died are on disk, and no longer when the next engine has stored them", async () => {
  const first = await connectCarrier(socket, ID);
  const noted = link.note({ session: { id: "s" } });
  // It dies with the fact unread.
  first?.wire.destroy();
  await noted;
  expect(kept()?.notes).toEqual([{ session: { id: "s" } }]);
  const next = await connectCarrier(socket, ID);
  next?.listen({
    message: (message) => {
      if (message.type === "note") next.wire.send({ type: "answer", n: message.n, value: null });
    },
    closed: () => undefined,
  });
  await until("the fact is stored", () => (kept()?.notes.length === 0 ? true : undefined));
  // With an engine there nothing is written to disk.
  await link.note({ session: { id: "t" } });
  expect(kept()?.notes).toEqual([]);
  next?.wire.destroy();
});
