// `mcp`: the daemon's API for a person's own agent, as an MCP server on standard input and output. Its token decides what it may do.
// Without a token of its own it may only read, unless the user passes --operator.

import { join } from "node:path";
import type { ApiProblem } from "../../../http/client/answer.ts";
import { type Caller, createClient } from "../../../http/client/client.ts";
import { err, ok, type Result } from "../../../core/result.ts";
import { findDaemon } from "../../../daemon/note.ts";
import { serveStdio } from "../../../http/mcp/stdio.ts";
import { createOperatorTools } from "../../../http/mcp/tools.ts";
import { readPrivate } from "../../../http/server/token-file.ts";
import { CliError, EXIT, usageError } from "../../errors.ts";
import type { Io } from "../../terminal/io.ts";
import { isAgent, requireOperator } from "../../operator.ts";

export type McpOptions = { readonly operator: boolean; readonly tokenFile?: string; readonly url?: string };

export async function mcp(io: Io, options: McpOptions): Promise<number> {
  const rights = rightsOf(io, options);
  const { client, readOnly } =
    rights.type === "own"
      ? { client: clientOfHome(io, rights.file), readOnly: !options.operator }
      : { client: clientOf(io, options, rights.token), readOnly: false };
  const tools = createOperatorTools({ client, readOnly, onProblem: (text) => io.err(text) });
  await serveStdio({ input: process.stdin, output: process.stdout, tools });
  return EXIT.ok;
}

/** A token that was given for this, or the operator's own. */
type Rights = { readonly type: "given"; readonly token: string } | { readonly type: "own"; readonly file: string };

function rightsOf(io: Io, { operator, tokenFile, url }: McpOptions): Rights {
  if (operator) requireOperator(io, "mcp --operator");
  if (tokenFile !== undefined) return { type: "given", token: tokenIn(tokenFile) };
  const named = operator ? "" : (io.environment["PASSRAIL_TOKEN"] ?? "");
  if (named !== "") return { type: "given", token: checked(named, "PASSRAIL_TOKEN") };
  // The operator's token goes only to the operator's daemon, which its lock identifies.
  if (url !== undefined) throw usageError("token_missing", "--url needs a token for that daemon.", "--token-file FILE");
  if (isAgent(io))
    throw new CliError(
      "operator_only",
      'An attempt has a token of its own; "passrail mcp" does not lend it the operator\'s.',
      "PASSRAIL_TOKEN holds the attempt's token where it has one.",
    );
  return { type: "own", file: join(io.home, "operator.token") };
}

function tokenIn(file: string): string {
  const text = readPrivate(file)?.trim();
  if (text === undefined) throw new CliError("token_file_missing", `There is no file ${file}.`, "passrail key create");
  return checked(text, file);
}

function checked(token: string, from: string): string {
  if (!/^[A-Za-z0-9_-]{1,200}$/u.test(token)) throw new CliError("token_invalid", `${from} does not hold a token.`);
  return token;
}

function clientOf(io: Io, { url = io.environment["PASSRAIL_URL"] ?? "" }: McpOptions, token: string): Caller {
  if (url === "")
    return found(() => {
      const daemon = findDaemon(io.home);
      return daemon === undefined ? err(noDaemon(io)) : ok(createClient({ url: daemon.url, token }));
    });
  if (!isSafe(url))
    throw usageError("url_invalid", `A token is not sent to ${url}.`, "https://…, or http://127.0.0.1:PORT");
  return createClient({ url, token });
}

/** Finds the daemon at every call: it may start after this program, or restart meanwhile. */
function clientOfHome(io: Io, tokenFile: string): Caller {
  return found(() => {
    const daemon = findDaemon(io.home);
    const token = readPrivate(tokenFile)?.trim();
    return daemon === undefined || token === undefined
      ? err(noDaemon(io))
      : ok(createClient({ url: daemon.url, token }));
  });
}

function found(find: () => Result<Caller, ApiProblem>): Caller {
  return {
    async call(name, ...rest) {
      const client = find();
      return client.ok ? client.value.call(name, ...rest) : client;
    },
  };
}

function noDaemon({ home }: Io): ApiProblem {
  return {
    code: "daemon_unreachable",
    detail: `No daemon is running on ${home}.`,
    hint: "Start it with: passrail up",
    status: 0,
  };
}

/** Encrypted, or local to this machine. */
function isSafe(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  return protocol === "https:" || (protocol === "http:" && ["127.0.0.1", "localhost", "[::1]"].includes(hostname));
}
