// An upgrade in the middle of an attempt, with two builds of the program: the old one's files are gone when its carrier goes on, and the new
// one adopts it. A build that speaks another protocol lets it work on by itself.

import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../harness/build-once.ts";
import { openStored } from "../harness/test-store.ts";
import { CRASH_DRIVER, PROGRAM_FOLDER } from "../harness/program.ts";
import { closeStage, drive, openStage, readNotes, type Stage } from "./drive.ts";
import { scenarioOf } from "./seeds.ts";

/** Another build of the program; as deep below the root, so that it finds the shipped flows. */
function anotherBuild(name: string, change: (text: string) => string): string {
  const folder = join(ROOT, "dist", `${name}-${process.pid}`);
  cpSync(PROGRAM_FOLDER, folder, { recursive: true, filter: (path) => !path.endsWith(".map") });
  for (const file of readdirSync(folder).filter((each) => each.endsWith(".js"))) {
    const text = readFileSync(join(folder, file), "utf8");
    if (change(text) !== text) writeFileSync(join(folder, file), change(text));
  }
  return folder;
}

const isRemarked = (text: string): string => `// The build that was there before.\n${text}`;
/** The bundler puts the number where its name was. */
const speaksLater = (text: string): string =>
  text
    .replace(/welcome\.protocol === \w+/u, "welcome.protocol === 99")
    .replace(/this one speaks [^)]+\)/u, "this one speaks 99)");

/** The whole life: the old build starts the attempt and is killed, the new one sees it through. */
async function upgrade(stage: Stage, old: string, next: string): Promise<string> {
  const script = join(stage.dir, "script", "rheld");
  const started = await drive(stage, {
    own: true,
    driver: join(old, basename(CRASH_DRIVER)),
    watch: () => existsSync(join(script, "started")),
  });
  expect(started).toMatchObject({ end: "killed" });
  // The package manager has replaced the program.
  if (old !== PROGRAM_FOLDER) rmSync(old, { recursive: true });
  const upgraded = await drive(stage, {
    own: true,
    driver: join(next, basename(CRASH_DRIVER)),
    watch: (output) => {
      // Only when the new build has recovered: until then the agent waits.
      if (output.includes("ready\n")) writeFileSync(join(script, "go-on"), "");
      return false;
    },
  });
  expect(upgraded).toMatchObject({ end: "settled" });
  const store = await openStored(stage.home);
  const events = (await store?.events({ after: 0, runId: "rheld", limit: 1000 })) ?? [];
  store?.close();
  // The one program that ever ran, and the one attempt that the store knows.
  expect(readNotes(stage, "script", "rheld", "calls")).toBe("build/1\n");
  const types = events.map(({ event }) => event.type);
  expect(types.filter((type) => type === "stage.started")).toHaveLength(1);
  expect(types).not.toContain("stage.interrupted");
  expect(types).toContain("run.completed");
  return readNotes(stage, "errors");
}

test("R-X-05: an upgrade replaces the program while an agent works: the new build adopts its attempt, and nothing is repeated", async () => {
  const stage = openStage(scenarioOf("held"));
  const old = anotherBuild("old-build", isRemarked);
  try {
    expect(await upgrade(stage, old, PROGRAM_FOLDER)).toBe("");
  } finally {
    rmSync(old, { recursive: true, force: true });
    await closeStage(stage);
  }
});

test("R-X-05: a build with another protocol lets the attempt work on, says so, and takes its report", async () => {
  const stage = openStage(scenarioOf("held"));
  const next = anotherBuild("next-build", speaksLater);
  try {
    expect(await upgrade(stage, PROGRAM_FOLDER, next)).toContain(
      "is carried out by another version (protocol 1, this one speaks 99)",
    );
  } finally {
    rmSync(next, { recursive: true, force: true });
    await closeStage(stage);
  }
});
