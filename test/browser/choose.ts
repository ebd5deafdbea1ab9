// Chooses from a list as a person does: opens it, and presses on an option.

import type { Locator } from "playwright-core";

export async function choose(field: Locator, option: string | RegExp): Promise<void> {
  await field.click();
  const listed = field
    .page()
    .getByRole("listbox")
    .getByRole("option", { name: option, exact: typeof option === "string" });
  await listed.click();
  await listed.waitFor({ state: "hidden" });
}
