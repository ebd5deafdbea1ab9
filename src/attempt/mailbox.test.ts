import { expect, test } from "vitest";
import { createMailbox } from "./mailbox.ts";

const message = (number: number) => ({ number, stage: "build", from: "ann", text: `text ${number}`, at: "" });

test("a message is taken once, however often it is passed on, and not at all where the prompt has it", async () => {
  const heard: string[] = [];
  const mailbox = createMailbox([message(1)], async (number, way) => void heard.push(`${number} ${way}`));
  let news = 0;
  const stop = mailbox.listen(() => (news += 1));
  mailbox.put([message(1), message(2)]);
  mailbox.put([message(2), message(3)]);
  expect(news).toBe(2);
  expect(mailbox.take()?.number).toBe(2);
  mailbox.put([message(2)]);
  expect(mailbox.waiting().map(({ number }) => number)).toEqual([3]);
  mailbox.giveBack(message(2));
  expect(mailbox.waiting().map(({ number }) => number)).toEqual([2, 3]);
  await mailbox.heard(3, "turn");
  expect(mailbox.waiting().map(({ number }) => number)).toEqual([2]);
  expect(heard).toEqual(["3 turn"]);
  stop();
  mailbox.put([message(4)]);
  expect(news).toBe(2);
});
