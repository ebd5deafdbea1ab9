// Reads what `claude -p --output-format=stream-json` prints. Several beginnings and several results can come in one run, because agents
// in the background give the lead another turn: the last result counts. What sub-agents say is theirs; what they use is counted.

import type { Json } from "../../core/json.ts";
import { UNKNOWN_USAGE } from "../../core/budget/usage.ts";
import {
  count,
  eventText,
  type Fields,
  fields,
  finalText,
  growingText,
  isFields,
  list,
  parseLine,
  text,
  toolText,
} from "../loose-json.ts";
import type { AgentEvent, Failure, Session } from "../runner.ts";
import type { ProgramEnd, StreamReader } from "../process/stream.ts";
import { entry, failureOf, failureWithoutResult, resetInText, type Trouble, toIsoTime } from "./failure.ts";
import { createUsageCount } from "./usage.ts";

/** `resumed` is the session that is gone on with, and what had been counted for it. */
export function createClaudeReader(resumed?: Session): StreamReader {
  let sessionId: string | null = null;
  let model: string | null = null;
  let version: string | null = null;
  let turns: number | null = null;
  let toolCalls = 0;
  let result: Fields | null = null;
  /** A result was the last thing that belongs to the conversation. */
  let rests = false;
  /** The message that stands for a request that failed. */
  let failedRequest: Fields = {};
  /** The last thing that was told is a request that is made again. */
  let retry: Fields | null = null;
  let resetsAt: string | null = null;
  let lastText = { messageId: "", text: "" };
  const used = createUsageCount(resumed?.totals ?? null);
  const background = new Set<string>();
  const calls = new Map<string, string>();
  const denials = new Map<string, string>();
  const complained = new Set<string>();

  const readers: Readonly<Record<string, (event: Fields) => readonly AgentEvent[]>> = {
    system: (event) => entry(SYSTEM, event["subtype"])?.(event) ?? [unknown(event)],

    assistant(event) {
      rests = false;
      const message = fields(event["message"]);
      const id = text(message["id"]) ?? "";
      if (event["is_api_error_message"] === true) {
        failedRequest = event;
        resetsAt = resetOf(fields(event["api_error_params"])["rate_limit_info"]) ?? resetsAt;
        return [];
      }
      used.addMessage(id, message["usage"]);
      const named = text(message["model"]);
      if (model === null && named !== "<synthetic>") model = named;
      const ofSubAgent = text(event["parent_tool_use_id"]) !== null;
      return list(message["content"]).flatMap((block) => readBlock(fields(block), id, ofSubAgent));
    },

    user(event) {
      rests = false;
      return list(fields(event["message"])["content"]).flatMap((value) => {
        const block = fields(value);
        const id = text(block["tool_use_id"]);
        if (block["type"] !== "tool_result" || id === null) return [];
        calls.delete(id);
        return [
          { type: "tool.returned", id, ok: block["is_error"] !== true, output: toolText(said(block["content"])) },
        ];
      });
    },

    result(event) {
      result = event;
      rests = true;
      turns = add(turns, count(event["num_turns"]));
      used.addResult(event);
      for (const denial of list(event["permission_denials"]).map(fields)) {
        denials.set(
          text(denial["tool_use_id"]) ?? String(denials.size),
          callLine(denial["tool_name"], denial["tool_input"]),
        );
      }
      return [{ type: "usage", usage: used.ofThisRun() ?? UNKNOWN_USAGE }];
    },

    rate_limit_event(event) {
      const info = fields(event["rate_limit_info"]);
      if (info["status"] === "allowed") return [];
      const ends = resetOf(info);
      if (info["status"] === "rejected") resetsAt = ends ?? resetsAt;
      const which = text(info["rateLimitType"])?.replaceAll("_", " ") ?? "usage";
      const what = info["status"] === "rejected" ? "is reached" : "is near";
      return [notice("limit", `The ${which} limit of the Claude account ${what}.`, ends)];
    },

    // Pieces of messages that come whole as well.
    stream_event: () => [],
    control_response: () => [],
  };

  const SYSTEM: Readonly<Record<string, (event: Fields) => readonly AgentEvent[]>> = {
    init(event) {
      rests = false;
      const id = text(event["session_id"]);
      model = text(event["model"]) ?? model;
      version = text(event["claude_code_version"]) ?? version;
      const begun: AgentEvent[] = id === null || id === sessionId ? [] : [{ type: "session", id, model }];
      sessionId = id ?? sessionId;
      return [...begun, ...list(event["mcp_servers"]).map(fields).flatMap(complainOfServer)];
    },
    api_retry(event) {
      retry = event;
      const status = count(event["error_status"]);
      const why = status === null ? (text(event["error"]) ?? "unknown") : String(status);
      const after = Math.round((count(event["retry_delay_ms"]) ?? 0) / 100) / 10;
      const which = `${count(event["attempt"]) ?? "?"} of ${count(event["max_retries"]) ?? "?"}`;
      return [notice("retry", eventText(`A request to the model failed (${why}); retry ${which} in ${after} s.`))];
    },
    permission_denied(event) {
      const id = text(event["tool_use_id"]) ?? "";
      const line = calls.get(id) ?? eventText(text(event["tool_name"]) ?? "a tool");
      denials.set(id, line);
      return [notice("denied", eventText(`${line}: ${text(event["message"]) ?? "refused"}`))];
    },
    background_tasks_changed(event) {
      background.clear();
      for (const task of list(event["tasks"])) background.add(text(fields(task)["task_id"]) ?? "");
      return [];
    },
    task_started(event) {
      if (event["is_backgrounded"] === true) background.add(text(event["task_id"]) ?? "");
      return [];
    },
    task_notification(event) {
      background.delete(text(event["task_id"]) ?? "");
      // The lead is told, and has another turn.
      rests = false;
      return [];
    },
    task_updated(event) {
      if (ENDED.has(text(fields(event["patch"])["status"]) ?? "")) background.delete(text(event["task_id"]) ?? "");
      return [];
    },
    task_progress: () => [],
    status: () => [],
    ui_invalidate: () => [],
  };

  const complainOfServer = (server: Fields): AgentEvent[] => {
    const [name, status] = [text(server["name"]) ?? "?", text(server["status"]) ?? "?"];
    if (status === "connected" || status === "pending" || complained.has(name)) return [];
    complained.add(name);
    return [notice("warning", eventText(`The MCP server ${name} cannot be used: ${status}.`))];
  };

  const readBlock = (block: Fields, messageId: string, ofSubAgent: boolean): AgentEvent[] => {
    const words = text(block["text"]) ?? text(block["thinking"]);
    switch (block["type"]) {
      case "text":
        if (words === null || ofSubAgent) return [];
        lastText = {
          messageId,
          text: growingText(messageId === lastText.messageId ? `${lastText.text}\n${words}` : words),
        };
        return [{ type: "message", text: eventText(words) }];
      case "thinking":
        return words === null || ofSubAgent ? [] : [{ type: "thinking", text: eventText(words) }];
      case "tool_use": {
        const id = text(block["id"]) ?? "";
        toolCalls += 1;
        calls.set(id, callLine(block["name"], block["input"]));
        return [
          { type: "tool.called", id, name: eventText(text(block["name"]) ?? "?"), input: toolText(block["input"]) },
        ];
      }
      default:
        return [];
    }
  };

  const troubleOf = (from: Fields, request: Fields): Trouble => {
    const errors = list(from["errors"]).map((each) => text(each) ?? "");
    const words = text(from["result"]) ?? errors.join(" ");
    return {
      subtype: text(from["subtype"]),
      terminalReason: text(from["terminal_reason"]),
      startupReason: text(from["startup_failure_reason"]),
      status:
        [from["api_error_status"], request["api_error_status"], request["error_status"]].map(count).find(isTold) ??
        null,
      code: text(from["api_error"]) ?? text(request["api_error"]),
      name: text(request["error"]),
      said: words,
      resetsAt: resetsAt ?? resetInText(words),
    };
  };

  const failure = (end: ProgramEnd): Failure | null => {
    if (result === null && (end.reason === "exited" || end.reason === "signaled")) return failureWithoutResult(end);
    if (result === null) return retry !== null && isSilence(end) ? failureOf(troubleOf({}, retry)) : null;
    if (result["is_error"] !== false || result["subtype"] !== "success") {
      return failureOf(troubleOf(result, failedRequest));
    }
    const left = end.reason === "signaled" || (end.reason === "exited" && end.exitCode !== 0);
    if (!left) return null;
    const how = end.signal === null ? `code ${end.exitCode ?? "unknown"}` : end.signal;
    return { kind: "agent_crashed", message: `Claude Code said that it succeeded, but ended with ${how}.` };
  };

  return {
    read(line) {
      const event = parseLine(line);
      if (!isFields(event)) return [{ type: "unknown", name: "text" }];
      if (event["subtype"] !== "api_retry") retry = null;
      return entry(readers, event["type"])?.(event) ?? [unknown(event)];
    },
    get over() {
      return rests && background.size === 0;
    },
    conclude(end) {
      const failed = failure(end);
      const id = sessionId ?? resumed?.id ?? null;
      const structured = (result?.["structured_output"] ?? null) as Json;
      const conclusion = failed === null ? text(result?.["result"]) : null;
      return {
        conversation: {
          session: id === null || failed?.kind === "session_lost" ? null : { id, totals: used.totals() },
          model,
          version,
          usage: used.ofThisRun(),
          turns,
          toolCalls,
          structured,
          denials: [...denials.values()],
          failure: failed,
        },
        // A result without text ends a turn that ended with a tool call: then nothing was said last.
        finalText: result !== null && failed === null ? finalText(conclusion ?? "") : finalText(lastText.text),
      };
    },
  };
}

/** Statuses of a task that is no longer under way. */
const ENDED = new Set(["completed", "failed", "killed", "stopped", "cancelled"]);
const DENIAL_CHARS = 300;

const unknown = (event: Fields): AgentEvent => {
  const names = [text(event["type"]) ?? "?", text(event["subtype"])].filter((name) => name !== null);
  return { type: "unknown", name: names.join("/").slice(0, 100) };
};

const notice = (
  kind: Extract<AgentEvent, { type: "notice" }>["kind"],
  words: string,
  resetsAt: string | null = null,
): AgentEvent => ({ type: "notice", kind, text: words, ...(resetsAt === null ? {} : { resetsAt }) });

const resetOf = (info: unknown): string | null => toIsoTime(fields(info)["resetsAt"]);

const isTold = (value: number | null): boolean => value !== null;

/** It was ended because nothing came of its waiting. */
const isSilence = ({ reason }: ProgramEnd): boolean => reason === "idle_timeout" || reason === "timeout";

const add = (one: number | null, other: number | null): number | null => (other === null ? one : (one ?? 0) + other);

/** `Bash: rm -rf build`: the tool, and the one thing of its input that a person wants to know. */
function callLine(name: unknown, input: unknown): string {
  const given = fields(input);
  const what = text(given["command"]) ?? text(given["file_path"]) ?? text(given["url"]) ?? toolText(input);
  return `${text(name) ?? "a tool"}: ${what}`.slice(0, DENIAL_CHARS);
}

/** The text of a tool's answer, which may come in blocks. */
function said(content: unknown): unknown {
  if (!Array.isArray(content)) return content;
  const texts = content.map((block) => text(fields(block)["text"])).filter((each) => each !== null);
  return texts.length > 0 ? texts.join("\n") : content;
}
