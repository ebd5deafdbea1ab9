// Secret × encoding × way out: whatever a program prints, writes, reports or commits, no key leaves by any door.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { attemptFacts } from "../../../src/core/attempt-facts.ts";
import { redactJson } from "../../../src/core/secrets/redact-json.ts";
import { createRedaction } from "../../../src/core/secrets/redaction.ts";
import { stripAnsi } from "../../../src/core/secrets/strip-ansi.ts";
import { secretsOf } from "../../../src/runner/process/environment.ts";
import { createStreamRedactor } from "../../../src/runner/process/redactor.ts";
import { describeWork } from "../../../src/ticket/land/describe.ts";
import { onlyStages } from "../../harness/custom-flow.ts";
import { serve, type Served } from "../http/served.ts";

/** By the name of a variable: with the shape of a key only where the name says so. */
const KNOWN = { REDACTION_DB_PASSWORD: "tr0ub4dor-and-3-words", REDACTION_VAULT_SECRET_ID: "5f2c1e9a-secret-id-4711" };
const SECRETS: Readonly<Record<string, string>> = {
  ...KNOWN,
  anthropic: `sk-ant-${"abC1".repeat(10)}`,
  github: `ghp_${"x9".repeat(18)}`,
  aws: "AKIAIOSFODNN7EXAMPLE",
  jwt: `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTYifQ.${"s1G-_n".repeat(8)}`,
  pem: `-----BEGIN PRIVATE KEY-----\n${`${"MIIEabc+/9".repeat(6)}\n`.repeat(6)}-----END PRIVATE KEY-----`,
};
const hex = (text: string, width: number): string => (text.codePointAt(0) ?? 0).toString(16).padStart(width, "0");
const escaped = (text: string): string => Array.from(text, (each) => `\\u${hex(each, 4)}`).join("");
const ENCODINGS: Readonly<Record<string, (secret: string) => string>> = {
  plain: (secret) => secret,
  "JSON escapes": escaped,
  "JSON escapes here and there": (secret) => secret.replaceAll(/[a-m]/gu, (each) => `\\u${hex(each, 4)}`),
  "JSON escapes inside of JSON": (secret) => escaped(secret).replaceAll("\\", "\\\\"),
  "percent signs": (secret) => Array.from(secret, (each) => `%${hex(each, 2)}`).join(""),
  base64: (secret) => Buffer.from(secret).toString("base64"),
  "base64 after a byte": (secret) => Buffer.from(`:${secret} end`).toString("base64"),
  "base64url after two bytes": (secret) => Buffer.from(`: ${secret} end`).toString("base64url"),
  "terminal codes": (secret) =>
    Array.from(secret, (each, at) => (at % 5 === 2 ? `\u001b[1;3${at % 8}m${each}` : each)).join(""),
};
const CELLS = Object.entries(SECRETS).flatMap(([name, secret]) =>
  Object.entries(ENCODINGS).map(([how, encode]) => ({ name: `${name} in ${how}`, secret, text: encode(secret) })),
);

/** Every spelling of which nothing may be left: the middle, because base64 shares its first and last character with its neighbours. */
function spellings({ secret, text }: (typeof CELLS)[number]): readonly string[] {
  const middle = (all: string): string => all.slice(Math.floor(all.length * 0.2), Math.ceil(all.length * 0.8));
  const json = (all: string): string => JSON.stringify(all).slice(1, -1);
  return [...new Set([secret, text, stripAnsi(text), json(secret), json(text), json(json(text))].map(middle))];
}

function leaksIn(out: string): readonly string[] {
  return CELLS.filter((cell) => spellings(cell).some((each) => out.includes(each))).map(({ name }) => name);
}

const redaction = createRedaction(secretsOf(KNOWN));
/** Through a stream in pieces of this many bytes. */
const streamed = (text: string, size: number): string => {
  const stream = createStreamRedactor(redaction);
  const bytes = Buffer.from(text);
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += size) pieces.push(stream.push(bytes.subarray(at, at + size)));
  return Buffer.concat([...pieces, stream.flush()]).toString();
};

describe("S09: the one redaction", () => {
  test.each(CELLS)(
    "takes out $name: as text, in a value, in a stream, and before or after its codes are stripped",
    (cell) => {
      const around = `before "${cell.text}" after\n`;
      for (const out of [
        redaction.text(around),
        redaction.text(stripAnsi(around)),
        redaction.text(JSON.stringify({ a: around })),
        JSON.stringify(redactJson({ deep: [{ [cell.text]: around }] }, redaction.text)),
        JSON.stringify(redactJson(JSON.parse(`{"a":${JSON.stringify(around)}}`), redaction.text)),
        ...[1, 7, 64].map((size) => streamed(around, size)),
      ])
        expect([out.length > 5, leaksIn(out)]).toEqual([true, []]);
    },
  );
});

describe("S09: every way out of a run", () => {
  let served: Served;
  let runId: string;
  const all = CELLS.map(({ text }) => text).join("\n");

  beforeAll(async () => {
    Object.assign(process.env, KNOWN);
    served = await serve();
    const { bench } = served;
    const files = {
      script: join(bench.dir, "leak.json"),
      lines: join(bench.dir, "leak.txt"),
      agent: join(bench.dir, "leak.mjs"),
    };
    writeFileSync(
      files.lines,
      `${CELLS.map(({ text }) => `{"said": "${text.replaceAll("\n", "\\n")}"}\n${text}`).join("\n")}\n`,
    );
    const said = { summary: all, reason: all, issues: [{ description: all }], [CELLS[9]?.text ?? ""]: all };
    writeFileSync(
      files.script,
      JSON.stringify({
        build: [{ via: "json-tail", verdict: "COMPLETE", ...said, write: { "leak.txt": all }, commit: true }],
        qa: [{ via: "json-tail", verdict: "SHIP", ...said }],
      }),
    );
    writeFileSync(
      files.agent,
      `import { readFileSync, writeFileSync } from "node:fs";
      const lines = readFileSync(${JSON.stringify(files.lines)});
      process.stdout.write(lines);
      process.stderr.write(lines);
      if (process.env.PASSRAIL_HANDOFF_FILE) writeFileSync(process.env.PASSRAIL_HANDOFF_FILE, lines);
      await import(${JSON.stringify(join(import.meta.dirname, "../../fixtures/player/play.mjs"))});`,
    );
    const runners = { "*": [process.execPath, files.agent, files.script] };
    const run = await bench.run(onlyStages("feature", ["build", "qa"]), {}, { facts: { runners } });
    runId = run.id;
  }, 60_000);
  afterAll(async () => {
    for (const name of Object.keys(KNOWN)) delete process.env[name];
    await served.close();
  });

  /** Where what the agent said or wrote is shown; without a mark nothing would be proven. */
  const SHOWS_WORK = /events$|diff|output$/u;

  test("the run went its way, so that there is something to leak", async () => {
    const finished = (await served.bench.events(runId)).filter(({ type }) => type === "stage.finished");
    expect(finished).toHaveLength(2);
    expect(JSON.stringify(finished)).toContain("[REDACTED:");
    expect(JSON.stringify(finished)).not.toContain("\\u001b");
  });

  test("the database, and every file of the attempts: prompts, output, events, diff, verdict, handoff", () => {
    const { home } = served.bench;
    // The database and its log: bytes as they are on disk.
    const names = readdirSync(home, { recursive: true, withFileTypes: true });
    const kept = names.filter((entry) => entry.isFile() && !/\/(?:worktrees|clones)(?:\/|$)/u.test(entry.parentPath));
    const leaks = kept.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [path.slice(home.length), leaksIn(readFileSync(path, "utf8"))] as const;
    });
    expect(leaks.length).toBeGreaterThan(8);
    expect(leaks.filter(([, found]) => found.length > 0)).toEqual([]);
  });

  test.each([
    "/api/runs/RUN",
    "/api/runs/RUN/events",
    "/api/runs/RUN/diff",
    "/api/runs/RUN/diff?of=run",
    ...["prompt", "output", "diff"].map((file) => `/api/runs/RUN/attempts/build/1/${file}`),
    "/api/inbox",
  ])("GET %s", async (path) => {
    const attempts = await served.bench.passrail.store.attempts(runId);
    served.commit = attempts.map(attemptFacts).find(({ to }) => to !== null)?.to ?? null;
    const { status, body } = await served.call("GET", path.replace("RUN", runId));
    const out = JSON.stringify(body);
    expect([status, leaksIn(out)]).toEqual([200, []]);
    if (SHOWS_WORK.test(path)) expect(out).toContain("[REDACTED:");
  });

  test("notices, and the text of a pull request", async () => {
    const { bench } = served;
    const run = await bench.load(runId);
    const attempts = await bench.passrail.store.attempts(runId);
    const text = describeWork(run, attempts, { checks: [], url: "", redact: bench.passrail.redact });
    expect(leaksIn(JSON.stringify([bench.notices, text]))).toEqual([]);
  });

  test("warnings and sentences of our own, such as those with the name of a branch", async () => {
    const { engine } = served.bench.passrail;
    const { id } = await served.bench.run("feature", {});
    const message = `The branch feat/${SECRETS["github"]} is not there.`;
    await engine.deliver(id, { type: "warning.noticed", code: "branch", message }, "engine");
    const warned = (await served.bench.events(id)).find(({ type }) => type === "warning.raised");
    expect(warned).toMatchObject({ message: "The branch feat/[REDACTED:github_token] is not there." });
  });
});
