// How much of a request to the vendor a later iteration of the same role repeats: a build plan played by a real agent CLI whose reviewer
// sends the work back twice, against scripted models with a cache.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { JsonObject } from "../../src/core/json.ts";
import { anthropicPieces, commonPrefix, responsesPieces } from "../fixtures/models/cache.ts";
import type { Script } from "../fixtures/models/scenario.ts";
import { type FakeModels, type ModelRequest, startFakeModels } from "../fixtures/models/server.ts";
import { handoffText, type HandoffDeps } from "../harness/handoff-text.ts";
import { openWorkbench, type Workbench } from "../harness/workbench.ts";
import { cliPath } from "./installed.ts";
import type { Vendor } from "./vendors.ts";

const API_KEY = "sk-ant-api03-repeated0000000000000000000000000000000";
const ROUNDS = 3;

export type Repeated = {
  /** `review 1→2` */
  readonly name: string;
  /** The standing part of the prompt: of its bytes, those that both requests have at the same place after the same beginning. */
  readonly standing: number;
  /** Of the whole first request of an attempt. */
  readonly request: number;
  /** Whether the standing part ends before a mark for the cache; null for vendors without marks. */
  readonly inCachedBlock: boolean | null;
  /** Of the later request, what the cache had; its answer tells it as tokens. */
  readonly cacheRead: number;
};

export type Played = {
  readonly repeated: readonly Repeated[];
  /** The first request of every attempt of the roles that were compared. */
  readonly requests: readonly ModelRequest[];
  /** prompt.md of every attempt, by `review-2`. */
  readonly prompts: Readonly<Record<string, string>>;
  /** Cached tokens that the run's usage records, by attempt. */
  readonly recorded: readonly (number | null)[];
};

export async function playIterations(vendor: Vendor): Promise<Played> {
  const models = await startFakeModels({ scenario: { rules: [] }, cache: true });
  const bench = await openWorkbench({
    settings: (dir) => ({ runners: { [vendor.cli]: { command: [cliPath(vendor.cli)], env: environment(dir) } } }),
  });
  try {
    return await play(bench, models, vendor);
  } finally {
    await bench.close();
    await models.close();
  }

  function environment(dir: string): JsonObject {
    const home = join(dir, `home-of-${vendor.cli}`);
    mkdirSync(home);
    const path = `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`;
    return { HOME: home, PATH: path, ...vendor.setUp(home, models.url, API_KEY) };
  }
}

async function play(bench: Workbench, models: FakeModels, vendor: Vendor): Promise<Played> {
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(bench.project, `${name}.md`), text);
  models.play({
    rules: [
      { id: "dev", match: { prompt: "# Developer\n" }, visits: [worker("one"), worker("two"), worker("three")] },
      { id: "dod", match: { prompt: "# DoD checker\n" }, visits: [hands({ verdict: "APPROVED", dod: ROWS })] },
      {
        id: "review",
        match: { prompt: "# Reviewer\n" },
        visits: [
          hands({ verdict: "REQUEST_CHANGES", findings: ["src/a.ts:1 adds where it should subtract"] }),
          hands({ verdict: "REQUEST_CHANGES", findings: ["F1: fixed — it subtracts", "src/a.ts:2 is never called"] }),
          hands({ verdict: "APPROVED", findings: ["F2: fixed — it is called"] }),
        ],
      },
    ],
    fallback: { text: "The measurement ends here." },
  });
  const run = await bench.run(
    "build-plan-standard",
    {},
    {
      facts: {
        plan: { spec: "spec.md", plan: "plan.md", task: "task.md" },
        runners: { "*": [], ...playedBy(vendor) },
      },
    },
  );
  await bench.answer(run, "gate", "approve");
  const requests = models.requests.filter(({ turn, rule }) => turn === 0 && ROLES.some((role) => role === rule));
  const attempts = (await bench.passrail.store.attempts(run.id)).filter(({ stage }) =>
    ROLES.some((role) => role === stage),
  );
  const prompts = Object.fromEntries(
    attempts.map(({ stage, attempt }) => {
      const name = `${stage}-${attempt}`;
      return [name, readFileSync(join(bench.home, "runs", run.id, name, "prompt.md"), "utf8")];
    }),
  );
  const recorded = (await bench.events(run.id)).flatMap((event) =>
    event.type === "usage.recorded" && ROLES.some((role) => role === event.stage) ? [event.usage.cachedTokens] : [],
  );
  return { repeated: ROLES.flatMap((role) => compare(role, requests, prompts)), requests, prompts, recorded };
}

const ROLES = ["dev", "dod", "review"] as const;

const ROW = "the route exists";
const ROWS = [`✓ ${ROW} — src/a.ts:1`];

/** As long as those of a small project: the part that the cache is for. */
const FILES = {
  spec: `# Accounts\n\n${"Every account has one owner, and only the owner may close it.\n".repeat(120)}`,
  plan: "# Plan\n\nComplexity: standard\n",
  task: `# Task\n\n## Definition of Done\n\n- [ ] ${ROW}\n\n${"Close accounts by a request.\n".repeat(60)}`,
};

function playedBy({ cli, model }: Vendor): JsonObject {
  return Object.fromEntries(ROLES.map((role) => [role, { runner: cli, model }]));
}

/** `F1: fixed — …`: what became of a finding of an earlier review. */
function isAnswer(finding: string): boolean {
  return /^F\d+: fixed/u.test(finding);
}

function hands(parts: HandoffDeps): Script {
  const text = `${handoffText({ ...parts, iteration: "{{iteration}}" })}\n\nNonce: {{nonce}}\n`;
  const { verdict = "n/a" } = parts;
  const answers = (parts.findings ?? []).filter(isAnswer);
  const issues = (parts.findings ?? []).filter((text) => !isAnswer(text)).map((description) => ({ description }));
  const findings = answers.map((text) => ({ id: text.split(":", 1)[0] ?? "", state: "fixed", reason: text }));
  const dod = (parts.dod ?? []).map(() => ({ criterion: ROW, met: true, evidence: "seen" }));
  const args =
    verdict === "n/a"
      ? { summary: "done" }
      : {
          verdict,
          summary: "done",
          issues,
          ...(findings.length > 0 ? { findings } : {}),
          ...(dod.length > 0 ? { dod } : {}),
        };
  return [
    { do: [{ handoff: text }] },
    { do: [{ mcp: { server: "passrail", tool: "submit_verdict", args } }] },
    { text: "Done." },
  ];
}

function worker(text: string): Script {
  const [handoff, submit, end = { text: "Done." }] = hands({ gates: ["Tests: 3 passed"], dod: ROWS });
  if (submit === undefined) throw new Error("no script");
  return [{ do: [{ bash: `mkdir -p src && echo ${text} >> src/a.ts` }] }, handoff, submit, end];
}

function compare(role: string, requests: readonly ModelRequest[], prompts: Played["prompts"]): readonly Repeated[] {
  const own = requests.filter(({ rule }) => rule === role);
  const standing = standingOf(prompts[`${role}-2`] ?? "");
  return own.slice(1, ROUNDS).map((later, index) => {
    const [one, other] = [viewOf(own[index], standing), viewOf(later, standing)];
    const common = commonPrefix(one.text, other.text);
    const [from, to] = [other.at, other.at + other.length];
    return {
      name: `${role} ${index + 1}→${index + 2}`,
      standing: other.at < 0 ? 0 : Math.max(0, Math.min(common, to) - from) / other.length,
      request: common / other.text.length,
      inCachedBlock:
        other.marks.length === 0 ? null : other.marks.slice(0, -1).some((mark) => other.at >= 0 && mark >= to),
      cacheRead: later.cached / other.text.length,
    };
  });
}

/** What stands before the first part that changes, as the record shows it. */
export function standingOf(prompt: string): string {
  return prompt.slice(0, prompt.search(/\n\n## (?:Handoff from |Where you stand)/u));
}

/** A request as the model reads it, where our standing part is in it, and where the client set its marks. */
function viewOf(request: ModelRequest | undefined, standing: string) {
  const { conversation, body } = request ?? { conversation: { protocol: "" }, body: {} };
  const { pieces, marks } = conversation.protocol === "anthropic" ? anthropicPieces(body) : responsesPieces(body);
  const text = pieces.join("");
  const quoted = JSON.stringify(standing).slice(1, -1);
  const ends = marks.map((mark) => pieces.slice(0, mark + 1).join("").length);
  return { text, at: text.indexOf(quoted), length: quoted.length, marks: ends };
}
