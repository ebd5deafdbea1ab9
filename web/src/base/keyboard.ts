// All shortcuts in one table; the `?` sheet, the hints in buttons and the palette read it.

import { useEffect } from "react";
import { tinykeys } from "tinykeys";

export type Shortcut = {
  /** As tinykeys writes them: `$mod+Enter`, `g i`, `?`. */
  readonly keys: string;
  readonly does: string;
  readonly group: string;
};

const known = new Map<string, Shortcut>();
const OFF = "passrail.single-keys";

/** Single-character keys can be switched off, because they get in the way of voice control. */
export function singleKeysOn(): boolean {
  return localStorage.getItem(OFF) !== "off";
}

export function setSingleKeys(on: boolean): void {
  localStorage.setItem(OFF, on ? "on" : "off");
}

export function shortcuts(): readonly Shortcut[] {
  return [...known.values()];
}

/** Binds the keys while the component is mounted. In a text field only keys with a modifier act. */
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

/** For display: ⌘ on a Mac, Ctrl elsewhere. */
export function keysText(keys: string): string {
  const mod = /Mac|iPhone|iPad/u.test(navigator.userAgent) ? "⌘" : "Ctrl+";
  return keys
    .replace(/(?<=\$mod\+)[a-z]$/u, (letter) => letter.toUpperCase())
    .replaceAll("$mod+", mod)
    .replaceAll("Shift+", "⇧")
    .replaceAll("Enter", "⏎")
    .replaceAll("Escape", "Esc");
}

/** Replaces the default of tinykeys, which ignores all keys in fields. Keys pressed in a dialog do not act on the page below it. */
function isMeantForOthers({ repeat, isComposing, target }: KeyboardEvent): boolean {
  return repeat || isComposing || (target instanceof Element && target.closest("[role=dialog]") !== null);
}

/** Whether keys pressed there are text. */
export function isTyping(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement) return !TICKED.has(target.type);
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || ["TEXTAREA", "SELECT"].includes(target.tagName) || target.role === "textbox")
  );
}

/** Fields that take no text. */
const TICKED: ReadonlySet<string> = new Set(["checkbox", "radio"]);
