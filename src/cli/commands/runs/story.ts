// `runs logs --story`: an agent's words and acts, as they happen. An entry is printed when it is complete.

import { type ActivityItem, activityOf } from "../../../core/view/activity.ts";
import { type ActivityEvent, readActivityLine } from "../../../core/view/activity-event.ts";
import { activityLines } from "../../../core/view/activity-lines.ts";
import type { Io } from "../../terminal/io.ts";
import { plainText } from "../../terminal/plain-text.ts";

/** Takes the lines of an attempt's events. */
export type StoryWriter = { readonly line: (line: string) => void; readonly end: () => void };

export function createStory(io: Io, attempt: string): StoryWriter {
  let place = 0;
  let waiting: readonly ActivityEvent[] = [];
  const print = (item: ActivityItem): void => {
    const lines = activityLines(item);
    if (io.json) io.out(JSON.stringify({ attempt, ...item }));
    else for (const line of lines) io.out(plainText(line));
  };
  return {
    line(line) {
      const event = readActivityLine(line, place++);
      if (event === undefined) return;
      waiting = [...waiting, event];
      const items = activityOf(waiting, { isOver: false });
      const open = items.findIndex(isOpen);
      const done = items.slice(0, open === -1 ? items.length : open);
      const from = items[done.length]?.place ?? Number.POSITIVE_INFINITY;
      for (const item of done) print(item);
      waiting = waiting.filter((each) => each.place >= from);
    },
    end() {
      for (const item of activityOf(waiting, { isOver: true })) print(item);
      waiting = [];
    },
  };
}

/** A call may still get its result, and others like it may follow. */
function isOpen({ is }: ActivityItem, index: number, items: readonly ActivityItem[]): boolean {
  const isCall = is === "call" || is === "calls";
  if (!isCall) return false;
  const later = items.slice(index);
  return later.every((each) => each.is === "call" || each.is === "calls") || later.some(isWorking);
}

const isWorking = (item: ActivityItem): boolean => item.is === "call" && item.call.ok === null;
