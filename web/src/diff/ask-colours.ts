// Asks the worker for the colours of files, one file after the other. A worker that takes too long over one is ended, and the file stays plain.

import { scriptAddress } from "../base/script-address.ts";
import type { Coloured, ToColour } from "./colour-worker.ts";
import workerUrl from "./colour-worker.ts?worker&url";

const LONGEST_MS = 15_000;

type Texts = ToColour["texts"];
type Wish = ToColour & { readonly done: (texts: Coloured["texts"]) => void };

let worker: Worker | undefined;
let current: { readonly wish: Wish; readonly timer: ReturnType<typeof setTimeout> } | undefined;
let asked = 0;
const wishes: Wish[] = [];

export function askColours(path: string, texts: Texts): Promise<Coloured["texts"]> {
  return new Promise((done) => {
    asked += 1;
    wishes.push({ id: asked, path, texts, done });
    next();
  });
}

function next(): void {
  if (current !== undefined) return;
  const wish = wishes.shift();
  if (wish === undefined) return;
  current = { wish, timer: setTimeout(giveUp, LONGEST_MS) };
  const { id, path, texts } = wish;
  worker ??= open();
  worker.postMessage({ id, path, texts } satisfies ToColour);
}

function open(): Worker {
  const opened = new Worker(scriptAddress(workerUrl), { type: "module", name: "passrail-colours" });
  opened.addEventListener("message", ({ data }: MessageEvent<Coloured>) => {
    if (data.id === current?.wish.id) settle(data.texts);
  });
  opened.addEventListener("error", giveUp);
  return opened;
}

function giveUp(): void {
  worker?.terminate();
  worker = undefined;
  settle(null);
}

function settle(texts: Coloured["texts"]): void {
  if (current === undefined) return;
  clearTimeout(current.timer);
  const { done } = current.wish;
  current = undefined;
  done(texts);
  next();
}
