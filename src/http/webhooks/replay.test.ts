import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { createMemoryReplays } from "../../../test/harness/memory-replays.ts";
import { DAY_MS, type Replays } from "./replay.ts";
import { openFileReplays } from "./replay-file.ts";

const folders: string[] = [];
function newFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "passrail-replay-"));
  folders.push(folder);
  return join(folder, "webhook-ids");
}
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

async function take(replays: Replays, ...keys: string[]): Promise<string> {
  const claim = await replays.claim("source", keys);
  if (claim.type === "new") claim.keep();
  return claim.type;
}

describe.each([
  ["in memory", (options: { now: () => number; capacity?: number }) => createMemoryReplays(options)],
  ["in a file", (options: { now: () => number; capacity?: number }) => openFileReplays(newFile(), options)],
])("%s", (_, create) => {
  test("S17: an id counts once, per source, for at least a day", async () => {
    let now = 0;
    const replays = create({ now: () => now });
    expect(await take(replays, "a")).toBe("new");
    now = DAY_MS;
    expect(await take(replays, "a")).toBe("seen");
    expect((await replays.claim("other", ["a"])).type).toBe("new");
    now = DAY_MS * 31;
    expect(await take(replays, "a")).toBe("new");
    replays.close();
  });

  test("either of two keys is enough to be known", async () => {
    const replays = create({ now: () => 0 });
    expect(await take(replays, "id", "body")).toBe("new");
    expect(await take(replays, "id", "other")).toBe("seen");
    expect(await take(replays, "other", "body")).toBe("seen");
    replays.close();
  });

  test("when it is full of what is younger than a day it takes nothing new, and forgets nothing", async () => {
    let now = 0;
    const replays = create({ now: () => now, capacity: 3 });
    for (const key of ["a", "b", "c"]) expect(await take(replays, key)).toBe("new");
    expect(await take(replays, "d")).toBe("full");
    expect(await take(replays, "a")).toBe("seen");
    now = DAY_MS + 1;
    expect(await take(replays, "d")).toBe("new");
    replays.close();
  });

  test("a second claim waits for the first: what that one decides counts", async () => {
    const replays = create({ now: () => 0 });
    const first = await replays.claim("source", ["a"]);
    const second = replays.claim("source", ["a"]);
    const third = replays.claim("source", ["a"]);
    if (first.type === "new") first.release();
    const winner = await second;
    expect(winner.type).toBe("new");
    if (winner.type === "new") winner.keep();
    expect((await third).type).toBe("seen");
    replays.close();
  });
});

describe("the file", () => {
  test("S25: is private and holds nothing of what a sender wrote", async () => {
    const path = newFile();
    writeFileSync(path, "", { mode: 0o644 });
    const replays = openFileReplays(path, { now: () => 0 });
    await take(replays, "msg_secret");
    replays.close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, "utf8")).not.toContain("msg_secret");
  });

  test("R-000-25: a restart does not forget, also after a line was cut off", async () => {
    const path = newFile();
    const now = () => 1000;
    const first = openFileReplays(path, { now });
    expect(await take(first, "a")).toBe("new");
    first.close();
    appendFileSync(path, "1000 abc");
    const second = openFileReplays(path, { now });
    expect(await take(second, "a")).toBe("seen");
    expect(await take(second, "b")).toBe("new");
    second.close();
    const third = openFileReplays(path, { now });
    expect(await take(third, "a")).toBe("seen");
    expect(await take(third, "b")).toBe("seen");
    third.close();
  });

  test("what was under way at a crash counts when it comes again", async () => {
    const path = newFile();
    const first = openFileReplays(path, { now: () => 0 });
    expect((await first.claim("source", ["a"])).type).toBe("new");
    first.close();
    const second = openFileReplays(path, { now: () => 0 });
    expect(await take(second, "a")).toBe("new");
    second.close();
  });

  test("a delivery that ends after the file was closed is not noted, and comes again", async () => {
    const path = newFile();
    const first = openFileReplays(path, { now: () => 0 });
    const claim = await first.claim("source", ["a"]);
    first.close();
    expect(() => claim.type === "new" && claim.keep()).toThrow(/is closed/);
    const second = openFileReplays(path, { now: () => 0 });
    expect(await take(second, "a")).toBe("new");
    second.close();
  });

  test("stays bounded over years", async () => {
    const path = newFile();
    let now = 0;
    const replays = openFileReplays(path, { now: () => now, capacity: 10 });
    for (let day = 0; day < 300; day++) {
      now = day * DAY_MS * 2;
      expect(await take(replays, `id ${day}`)).toBe("new");
    }
    expect(await take(replays, "id 299")).toBe("seen");
    replays.close();
    expect(statSync(path).size).toBeLessThan(130 * 62);
  });

  test("S13: a link is not followed", () => {
    const path = newFile();
    writeFileSync(`${path}.target`, "");
    symlinkSync(`${path}.target`, path);
    expect(() => openFileReplays(path, { now: () => 0 })).toThrow(/ELOOP/);
  });
});
