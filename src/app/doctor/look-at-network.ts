// The network for `doctor`: whether the vendors of the agents that are ready answer, and whether their clock is ours. It sends no key and
// no text: one HEAD request each.

import { Agent as HttpAgent, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { messageOf } from "../../core/result.ts";
import { vendorAddress } from "../../runner/vendor-address.ts";
import type { Detected } from "../../runner/detect.ts";
import { readyRunners } from "../../runner/ready.ts";
import type { Environment } from "../../settings/site.ts";
import { type Checkup, doubtful, good } from "./checkup.ts";

const TIMEOUT_MS = 4000;
/** Logins and signatures allow about five minutes. */
const MOST_APART_MS = 60_000;

type Answer = { readonly address: string } & (
  | { readonly ok: true; readonly apartMs: number | undefined }
  | { readonly ok: false; readonly why: string }
);

export async function lookAtNetwork(
  agents: readonly Detected[],
  environment: Environment,
): Promise<readonly Checkup[]> {
  const found = readyRunners(agents).flatMap(({ runner }) => vendorAddress(runner, environment) ?? []);
  const answers = await Promise.all([...new Set(found)].map((address) => ask(address, environment)));
  return [...answers.map(networkLine), ...clockLine(answers)];
}

function networkLine(answer: Answer): Checkup {
  const name = `network ${URL.parse(answer.address)?.host ?? answer.address}`;
  if (answer.ok) return good(name, "answers");
  return doubtful(name, answer.why, "Look at the connection, a firewall between, and HTTPS_PROXY");
}

/** By the first that says its time. */
function clockLine(answers: readonly Answer[]): readonly Checkup[] {
  const apartMs = answers.map((answer) => (answer.ok ? answer.apartMs : undefined)).find((ms) => ms !== undefined);
  if (apartMs === undefined) return [];
  if (Math.abs(apartMs) <= MOST_APART_MS) return [good("clock", "as the vendors' clocks")];
  const minutes = Math.ceil(Math.abs(apartMs) / 60_000);
  const found = `${minutes} minutes ${apartMs > 0 ? "ahead of" : "behind"} the vendors' clocks; logins may be refused`;
  return [doubtful("clock", found, "timedatectl set-ntp true   on Linux; the date settings on macOS")];
}

function ask(address: string, environment: Environment): Promise<Answer> {
  const url = new URL(address);
  const isSafe = url.protocol === "https:";
  // Node takes the proxy from 24.5 on; an older one ignores the option.
  const options = { proxyEnv: environment as Record<string, string> };
  const agent = isSafe ? new HttpsAgent(options) : new HttpAgent(options);
  return new Promise((resolve) => {
    const fail = (why: string): void => resolve({ address, ok: false, why });
    const outgoing = (isSafe ? httpsRequest : httpRequest)(
      url,
      { method: "HEAD", agent, signal: AbortSignal.timeout(TIMEOUT_MS), headers: { "user-agent": "passrail" } },
      (incoming) => {
        incoming.resume();
        const theirs = Date.parse(incoming.headers.date ?? "");
        resolve({ address, ok: true, apartMs: Number.isNaN(theirs) ? undefined : Date.now() - theirs });
      },
    );
    outgoing.once("error", (error) =>
      fail(error.name === "AbortError" || error.name === "TimeoutError" ? "no answer in 4 s" : messageOf(error)),
    );
    outgoing.once("close", () => agent.destroy());
    outgoing.end();
  });
}
