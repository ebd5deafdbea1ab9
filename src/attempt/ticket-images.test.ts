import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { imagesText } from "../core/prompt/images.ts";
import { attemptFiles } from "./attempt-files.ts";
import type { AttemptJob } from "./job.ts";
import { ticketImages } from "./ticket-images.ts";

const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");

let dir: string;
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "passrail-images-")));
});
afterEach(() => rmSync(dir, { recursive: true }));

test("an image beside the ticket is copied for the agent; links, other files and text that calls itself an image are not", () => {
  const tickets = join(dir, "project", "feature_requests");
  const home = join(dir, "home");
  mkdirSync(join(tickets, "shots"), { recursive: true });
  mkdirSync(join(dir, "secrets"));
  writeFileSync(join(dir, "secrets", "key.png"), PNG);
  writeFileSync(join(tickets, "shots", "page.png"), PNG);
  writeFileSync(join(tickets, "text.png"), "no image");
  writeFileSync(join(tickets, "huge.png"), Buffer.concat([PNG, Buffer.alloc(11 * 1024 * 1024)]));
  symlinkSync(join(dir, "secrets", "key.png"), join(tickets, "linked.png"));
  symlinkSync(join(dir, "secrets"), join(tickets, "folder"));
  const links = ["shots/page.png", "text.png", "huge.png", "linked.png", "folder/key.png", "missing.png"];
  const body = links.map((link) => `![](${link})`).join("\n");
  const files = attemptFiles(home, "r1", "build", 1);
  mkdirSync(dirname(files.result), { recursive: true });
  const ticket = { file: join(tickets, "a.md"), project: join(dir, "project") };
  const job = { home, files, run: { id: "r1", subject: { id: "A", title: "A", body }, facts: { ticket } } };
  const { images, folders } = ticketImages(job as unknown as AttemptJob);
  expect(images.map(({ path }) => path !== null)).toEqual([true, false, false, false, false, false]);
  const [copy] = images;
  expect(readFileSync(copy?.path ?? "")).toEqual(PNG);
  expect(folders).toEqual([dirname(copy?.path ?? "")]);
  expect(imagesText(images)).toContain(`- "shots/page.png": ${copy?.path}\n- "text.png": not readable`);
  // Without a ticket file there is nothing to look for.
  const typed = { ...job, run: { ...job.run, facts: {} } };
  expect(ticketImages(typed as unknown as AttemptJob)).toEqual({ images: [], folders: [] });
});
