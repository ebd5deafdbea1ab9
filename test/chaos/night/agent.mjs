#!/usr/bin/env node
// Plays every agent of the night: node agent.mjs WORLD. WORLD/plan.json says how each ticket's agent behaves. With the arguments of Claude
// Code behind it, it talks like Claude Code: a metered agent that costs 40 cents.
import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [world, ...more] = process.argv.slice(2);
const { PASSRAIL_SUBJECT_ID: id, PASSRAIL_STAGE: stage } = process.env;
const isClaude = more.length > 0;
const prompt = readFileSync(0, "utf8");
const how = JSON.parse(readFileSync(join(world, "plan.json"), "utf8"))[id] ?? "works";
const git = (...args) =>
  execFileSync("git", ["-c", "user.name=agent", "-c", "user.email=agent@localhost", ...args], { encoding: "utf8" });
appendFileSync(join(world, "started"), `${id} ${stage}\n`);

if (how === "fails") {
  work("half");
  console.error("the build is broken");
  process.exit(3);
}
if (how === "is killed") {
  work("half");
  process.kill(process.pid, "SIGKILL");
}
if (how === "is silent") {
  console.log("begun");
  work("half");
  setInterval(() => {}, 1_000_000);
} else {
  if (how === "asks" && !prompt.includes("BLUE")) result("Needs Human Decision", "Which colour shall the button have?");
  if (how === "rejects") result("Needs Human Review", "The request contradicts itself.");
  if (how === "holds")
    // It talks meanwhile, or it would be taken for silent.
    while (!existsSync(join(world, "release", id))) {
      console.log("still at it");
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  const asked = join(world, "quota", id);
  if (how.startsWith("quota ") && !existsSync(asked)) {
    mkdirSync(join(world, "quota"), { recursive: true });
    writeFileSync(asked, "");
    claude({
      is_error: true,
      api_error_status: 429,
      result: `Claude AI usage limit reached|${how.slice(6)}`,
      total_cost_usd: 0,
    });
    process.exit(1);
  }
  if (how === "removes the validator") rmSync(join(world, "validator"), { force: true });
  work("whole");
  if (isClaude) claude({ result: `${id}: done`, total_cost_usd: 0.4 });
  else console.log(`${id} ${stage}: done`);
}

function work(what) {
  mkdirSync("work", { recursive: true });
  appendFileSync(join("work", `${id}.txt`), `${stage} ${what}\n`);
  git("add", "-A");
  git("commit", "-q", "--no-verify", "-m", `${id} ${stage}: ${what}`);
  appendFileSync(join(world, "commits"), `${git("rev-parse", "HEAD").trim()} ${id} ${stage}\n`);
}

function result(status, error) {
  work("question");
  console.log(`WORK_RESULT:
  success: false
  nonce: ${/^ {2}nonce: (\S+)$/mu.exec(prompt)?.[1]}
  stage_completed: ${stage}
  next_status: ${status}
  error: |
    ${error}`);
  process.exit(0);
}

function claude(fields) {
  const session = more.find((word) => word.startsWith("--session-id="))?.slice(13) ?? "s";
  const print = (line) => process.stdout.write(`${JSON.stringify({ ...line, session_id: session })}\n`);
  print({
    type: "system",
    subtype: "init",
    model: "scripted",
    claude_code_version: "0.0.0",
    tools: [],
    mcp_servers: [],
  });
  const usage = { input_tokens: 100, output_tokens: 20, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };
  print({ type: "result", subtype: "success", is_error: false, usage, num_turns: 1, ...fields });
}
