// Shared by all demo agents: the contract of every command agent. The prompt comes on standard input, the workspace is the working
// directory. The prompt names the file for the verdict and the nonce that signs it.

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

export const attempt = Number(process.env.PASSRAIL_ATTEMPT);
let prompt = "";

/** Reads the prompt, then pauses as a model would. The first argument of the program is the pause in milliseconds. */
export async function readPrompt() {
  const chunks = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  await pause(Number(process.argv[2] ?? 0));
  prompt = Buffer.concat(chunks).toString("utf8");
  return prompt;
}

export function report(verdict) {
  const [, file, nonce] = /`([^`\n]*\/verdict\.json)`[^]*?"nonce": "([^"]*)"/u.exec(prompt);
  writeFileSync(file, JSON.stringify({ ...verdict, nonce }));
  console.log(verdict.summary ?? verdict.verdict ?? verdict.health);
}

export function commit(message) {
  execFileSync("git", ["add", "--all"], { stdio: "ignore" });
  execFileSync("git", ["commit", "--quiet", "--no-verify", "--message", message], { stdio: "ignore" });
}

/** The lines of the prompt's block with this title: a person's answer or note. */
export function blockOf(prompt, title) {
  const start = prompt.indexOf(title);
  return start === -1 ? "" : prompt.slice(start + title.length);
}
