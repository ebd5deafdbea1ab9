// Every shortcut in one table: the `?` sheet, the hints in buttons and the palette are made from it.

import { useEffect } from "react";
import { tinykeys } from "tinykeys";

export type Shortcut = {
  /** In tinykeys' words: `$mod+Enter`, `g i`, `?`. */
  readonly keys: string;
  readonly does: string;
  readonly group: string;
};

const known = new Map<string, Shortcut>();
const OFF = "passrail.single-keys";

/** Single characters can be switched off: they get in the way of those who speak to their computer. */
export function singleKeysOn(): boolean {
  return localStorage.getItem(OFF) !== "off";
}

export function setSingleKeys(on: boolean): void {
  localStorage.setItem(OFF, on ? "on" : "off");
}

export function shortcuts(): readonly Shortcut[] {
  return [...known.values()];
}

/** While the component is there, these keys do this. Keys that are typed into a field stay there, except with a modifier. */
export function useShortcuts(list: readonly (Shortcut & { readonly act: () => void })[]): void {
  useEffect(() => {
    for (const { keys, does, group } of list) known.set(`${group} ${keys}`, { keys, does, group });
    const bindings = Object.fromEntries(
      list.map(({ keys, act }) => [
        keys,
        (event: KeyboardEvent) => {
          const isPlain = !keys.includes("+") || keys.startsWith("Shift+");
          if (isPlain && (isTyping(event.target) || !singleKeysOn())) return;
          event.preventDefault();
          act();
        },
      ]),
    );
    const off = tinykeys(window, bindings, { ignore: isMeantForOthers });
    return () => {
      off();
      for (const { keys, group } of list) known.delete(`${group} ${keys}`);
    };
  }, [list]);
}

/** As people read it: ⌘ on a Mac, Ctrl elsewhere. */
export function keysText(keys: string): string {
  const mod = /Mac|iPhone|iPad/u.test(navigator.userAgent) ? "⌘" : "Ctrl+";
  return keys.replaceAll("$mod+", mod).replaceAll("Shift+", "⇧").replaceAll("Enter", "⏎").replaceAll("Escape", "Esc");
}

/** By itself tinykeys ignores every field, where a modifier is meant. What is pressed in a box over the page does not act below it. */
function isMeantForOthers({ repeat, isComposing, target }: KeyboardEvent): boolean {
  return repeat || isComposing || (target instanceof Element && target.closest("[role=dialog]") !== null);
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName) || target.role === "textbox")
  );
}
