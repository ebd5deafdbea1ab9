// Many clients in a process of their own: `node crowd.ts URL READERS SILENT`. Says "open" when all have their answer; when it is told
// the last sequence number on stdin, waits until every reader has seen it and prints what each of them saw wrongly.
// It stays until it is killed. With CROWD_TOKEN they show that token.

import { get } from "node:http";
import { connect } from "node:net";

const [url = "", readers = "0", silent = "0"] = process.argv.slice(2);
const target = new URL(url);
const token = process.env["CROWD_TOKEN"];
const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };

let left = Number(readers) + Number(silent);
const states = Array.from({ length: Number(readers) }, openReader);
for (let index = 0; index < Number(silent); index += 1) openSilent();

process.stdin.setEncoding("utf8").on("data", (text: string) => {
  const last = Number(text);
  const checking = setInterval(() => {
    if (states.some((state) => state.seq < last && state.wrong === "")) return;
    clearInterval(checking);
    console.log(JSON.stringify(states.filter(({ wrong }) => wrong !== "").map(({ wrong }) => wrong)));
  }, 10);
});

type State = { seq: number; wrong: string };

/** Sees to it that each sequence number follows the one before. */
function openReader(): State {
  const state: State = { seq: -1, wrong: "" };
  let rest = "";
  get(url, { agent: false, headers }, (response) => {
    response.setEncoding("latin1").on("close", () => fail("closed"));
    response.on("data", (chunk: string) => {
      const text = rest + chunk;
      let from = 0;
      for (let end = text.indexOf("\n\n"); end !== -1; end = text.indexOf("\n\n", from)) {
        const id = /id: (\d+)/.exec(text.slice(from, from + 40))?.[1];
        from = end + 2;
        if (state.seq === -1) opened();
        // A ping tells the position once more.
        else if (text.slice(end - 6, end) === ": ping") continue;
        else if (Number(id) !== state.seq + 1) fail(`${String(id)} came after ${state.seq}`);
        state.seq = Number(id);
      }
      rest = text.slice(from);
    });
  }).on("error", (error) => fail(error.message));
  return state;

  function fail(what: string): void {
    state.wrong ||= what;
  }
}

/** Asks and never reads the answer. */
function openSilent(): void {
  const socket = connect({ host: target.hostname, port: Number(target.port) });
  socket.on("error", () => {});
  const lines = Object.entries({ host: target.host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`GET ${target.pathname} HTTP/1.1\r\n${lines.join("")}\r\n`, opened);
  socket.pause();
}

function opened(): void {
  left -= 1;
  if (left === 0) console.log("open");
}
