// A list of labels as people type it: gpu,mac.

import { LABEL_PATTERN } from "../../../core/worker/wire.ts";
import { usageError } from "../../errors.ts";

export function labelsIn(text: string): string[] {
  const labels = [...new Set(text.split(",").map((each) => each.trim()))].filter((each) => each !== "");
  const odd = labels.find((label) => !LABEL_PATTERN.test(label));
  if (odd !== undefined || labels.length === 0)
    throw usageError(
      "label_invalid",
      `"${odd ?? text}" is not a label: use lower-case letters, digits, dots and dashes.`,
      "--labels gpu,mac",
    );
  return labels;
}
