// A server in another process, as a client sees it: started, asked over a socket, ended.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Agent, get, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";

export type Served = {
  readonly url: string;
  /** The operator's token. */
  readonly token: string;
  /** From the start of the process until a list of runs was answered. */
  readonly firstMs: number;
  /** Milliseconds until the whole answer was there. */
  ask(path: string): Promise<number>;
  /** Writes a line to it and gives the next line that it prints. */
  tell(line: string): Promise<string>;
  send(line: string): void;
  /** Resident memory now. */
  megabytes(): number;
  end(signal: "SIGTERM" | "SIGKILL"): Promise<void>;
};

/** `home`: the folder of its token. `args`: of node; it prints its address in its first line. */
export async function startServed(home: string, cwd: string, args: readonly string[]): Promise<Served> {
  const { PASSRAIL_MARKER: _marker, ...environment } = process.env;
  const since = performance.now();
  const child = spawn(process.execPath, args, {
    cwd,
    env: { ...environment, PASSRAIL_HOME: home, XDG_CONFIG_HOME: join(home, "config") },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const ended = once(child, "exit");
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said = `${said}${text}`.slice(-2000)));
  const lines = createInterface({ input: child.stdout });
  const nextLine = async () => {
    const [line] = (await Promise.race([once(lines, "line"), ended.then(() => [])])) as [string?];
    if (line === undefined) throw new Error(`${args.join(" ")} has ended: ${said}`);
    return line;
  };
  const url = /http:\S+/.exec(await nextLine())?.[0] ?? "";
  const token = readFileSync(join(home, "operator.token"), "utf8").trim();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });

  async function ask(path: string): Promise<number> {
    const asked = performance.now();
    const options = { agent, headers: { authorization: `Bearer ${token}` } };
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get(`${url}${path}`, options, resolve).on("error", reject);
    });
    for await (const _chunk of response);
    if (response.statusCode !== 200) throw new Error(`${path} was answered with ${String(response.statusCode)}`);
    return performance.now() - asked;
  }

  await ask("/api/runs");
  return {
    url,
    token,
    firstMs: performance.now() - since,
    ask,
    send: (line) => void child.stdin.write(`${line}\n`),
    tell(line) {
      const answer = nextLine();
      child.stdin.write(`${line}\n`);
      return answer;
    },
    megabytes: () => Number(execFileSync("ps", ["-o", "rss=", "-p", String(child.pid)], { encoding: "utf8" })) / 1024,
    async end(signal) {
      agent.destroy();
      child.kill(signal);
      await ended;
    },
  };
}
