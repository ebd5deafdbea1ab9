#!/usr/bin/env node
// Plays every agent of the chaos test: node agent.mjs WORLD. It commits real work, writes down each commit before anybody can lose it,
// notices when somebody else works on the same ticket, and behaves as WORLD/plan.json says: well, or by failing, hanging or asking.
import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [world] = process.argv.slice(2);
const { PASSRAIL_SUBJECT_ID: id, PASSRAIL_STAGE: stage, PASSRAIL_LOOP: loop } = process.env;
const prompt = readFileSync(0, "utf8");
const plan = JSON.parse(readFileSync(join(world, "plan.json"), "utf8"));
const how = plan[id] ?? "works";
const note = (file, line) => appendFileSync(join(world, file), `${line}\n`);
const git = (...args) =>
  execFileSync("git", ["-c", "user.name=agent", "-c", "user.email=agent@localhost", ...args], { encoding: "utf8" });

// A folder is made by one only. What a killed one left behind is told from a live one by its process.
const place = join(world, "busy", id);
for (;;) {
  try {
    mkdirSync(place);
    break;
  } catch {
    const owner = existsSync(join(place, "pid")) ? Number(readFileSync(join(place, "pid"), "utf8")) : 0;
    if (owner !== 0 && isAlive(owner)) {
      note("violations", `${id} ${stage}: ${owner} works on it already, and so does ${process.pid}`);
      process.exit(9);
    }
    break;
  }
}
writeFileSync(join(place, "pid"), String(process.pid));

note("started", `${id} ${stage}`);
if (how === "fails" && stage === "oneshot") {
  work("half");
  console.error("the build is broken");
  leave(3);
}
if (how === "hangs") {
  work("half");
  setInterval(() => {}, 1_000_000);
} else {
  if (how === "asks" && !prompt.includes("BLUE")) {
    work("question");
    console.log(`Thought about it.

WORK_RESULT:
  success: false
  nonce: ${/^ {2}nonce: (\S+)$/mu.exec(prompt)?.[1]}
  stage_completed: ${stage}
  next_status: Needs Human Decision
  error: |
    Which colour shall the button have?`);
    leave(0);
  }
  work("whole");
  if (how.startsWith("conflicts")) {
    // Neither ends before both have their workspace, or the second would simply build on the first.
    writeFileSync(join(world, `ready-${id}`), "");
    const other = join(world, `ready-${how.split(" with ")[1]}`);
    for (const deadline = Date.now() + 60_000; !existsSync(other) && Date.now() < deadline; ) {
      console.log("waiting for the other one");
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    writeFileSync("shared.txt", `${id} was here\n`);
    commit("takes the shared line");
  }
  await new Promise((resolve) => setTimeout(resolve, 60 + (Number(id.split("-")[1]) % 5) * 40));
  console.log(`${id} ${stage} ${loop}: done`);
  leave(0);
}

function work(what) {
  mkdirSync("work", { recursive: true });
  appendFileSync(join("work", `${id}.txt`), `${stage} ${what}\n`);
  commit(`${id} ${stage}: ${what}`);
}

function commit(message) {
  git("add", "-A");
  // One that was killed after it wrote the same may come again.
  git("commit", "-q", "--no-verify", "--allow-empty", "-m", message);
  note("commits", `${git("rev-parse", "HEAD").trim()} ${id} ${stage}`);
}

function leave(code) {
  rmSync(join(place, "pid"), { force: true });
  rmdirSync(place);
  process.exit(code);
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    // Another process may have got the number.
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("agent.mjs");
  } catch {
    return false;
  }
}
