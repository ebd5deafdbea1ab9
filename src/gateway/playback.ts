// Answers an attempt's requests to models from the tape of an earlier one. Nothing leaves this machine.

import type { ServerResponse } from "node:http";
import type { TapePlaces } from "../core/replay/exchange.ts";
import { createAnswerFinder, type RequestDifference } from "../core/replay/find-answer.ts";
import { movedAnswer } from "../core/replay/moved-answer.ts";
import { movedTo } from "../core/replay/places.ts";
import { copyOf, decoded, withoutKey } from "./forward.ts";
import type { ModelAnswers } from "./gateway.ts";
import { modelApi } from "./model-request.ts";
import type { ReadTape } from "./tape.ts";

/** What came of one request of the replay. */
export type PlayedRequest =
  | { readonly type: "same"; readonly number: number }
  /** Answered, although some of its texts differ from those of the recorded request. */
  | { readonly type: "different"; readonly number: number; readonly differences: readonly RequestDifference[] }
  /** The tape has no answer that fits, so it got none. */
  | { readonly type: "unanswered"; readonly why: string };

/** Opens when the places of the replayed attempt are known. */
export type Playback = { open(places: TapePlaces): ModelAnswers };

export type PlaybackOptions = {
  readonly tape: ReadTape;
  /** As when it was recorded. */
  readonly redact: (text: string) => string;
  readonly onPlayed: (played: PlayedRequest) => void;
  /** Before the answer with this number is given. */
  readonly before?: (number: number) => Promise<void>;
};

export function createPlayback({ tape, redact, onPlayed, before }: PlaybackOptions): Playback {
  return {
    open(replayed) {
      const recorded = tape.places ?? {};
      const isModelAnswer = (path: string): boolean => modelApi(path) !== undefined;
      const finder = createAnswerFinder({ exchanges: tape.exchanges, recorded, replayed, isModelAnswer });
      const move = movedTo(recorded, replayed);
      return {
        send(request, response, _route, rest) {
          const asked = copyOf(request);
          request.once("end", () => {
            const text = redact(decoded(asked(), request.headers["content-encoding"]));
            const path = redact(withoutKey(rest));
            const found = finder.find({ method: request.method ?? "POST", path, request: text });
            if (found.type === "none") {
              onPlayed({ type: "unanswered", why: found.why });
              return refuse(response, found.why);
            }
            const { exchange, differences } = found;
            const { number } = exchange;
            onPlayed(differences.length === 0 ? { type: "same", number } : { type: "different", number, differences });
            const give = (): void =>
              answer(response, exchange.status, exchange.headers, movedAnswer(exchange.response, move));
            if (before === undefined) give();
            else void before(number).then(give, give);
          });
        },
        close() {},
      };
    },
  };
}

function answer(
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string,
): void {
  const kept = Object.entries(headers).filter(([name]) => name === "content-type" || name.startsWith("x-codex-"));
  // A recorded refusal is repeated without its waiting time.
  const waits = headers["retry-after"] === undefined ? {} : { "retry-after": "0" };
  response.writeHead(status, { ...Object.fromEntries(kept), ...waits }).end(body);
}

function refuse(response: ServerResponse, why: string): void {
  const message = `Passrail's replay has no recorded answer for this request: ${why}.`;
  const error = { type: "invalid_request_error", code: 400, status: "INVALID_ARGUMENT", message };
  response
    .writeHead(400, { "content-type": "application/json", connection: "close" })
    .end(JSON.stringify({ type: "error", error }));
}
