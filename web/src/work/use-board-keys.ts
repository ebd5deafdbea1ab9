// The keys of the board: from card to card, move one, close the panel.

import { useNavigate } from "@tanstack/react-router";
import { useEffect, useMemo, useRef } from "react";
import { useShortcuts } from "../base/keyboard.ts";
import type { MoveTicket } from "../ticket/move.ts";
import type { WorkItem } from "./item.ts";

export function useBoardKeys(items: readonly WorkItem[], selected: string | undefined, move: MoveTicket): void {
  const navigate = useNavigate({ from: "/work" });
  const latest = useRef({ items, move });
  useEffect(() => {
    latest.current = { items, move };
  });
  const shortcuts = useMemo(() => {
    const close = (): void => {
      // An open dialog handles the key itself.
      if (document.querySelector("[role=dialog]") === null)
        void navigate({ search: ({ ticket: _shown, ...old }) => old });
    };
    const moveFocused = (): void => {
      const id = focusedCard() ?? selected;
      const item = latest.current.items.find((each) => each.id === id);
      if (item !== undefined) latest.current.move(item.ticket);
    };
    return [
      { keys: "j", does: "Next card", group: "Board", act: () => step(1) },
      { keys: "k", does: "Previous card", group: "Board", act: () => step(-1) },
      { keys: "m", does: "Move the card", group: "Board", act: moveFocused },
      ...(selected === undefined ? [] : [{ keys: "Escape", does: "Close the ticket", group: "Board", act: close }]),
    ];
  }, [navigate, selected]);
  useShortcuts(shortcuts);
}

/** The panel takes room from the lanes: keeps the card that it shows in view. */
export function useSelectedInView(selected: string | undefined): void {
  useEffect(() => {
    const card = cards().find((each) => each.dataset["card"] === selected);
    card?.closest("article")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [selected]);
}

function cards(): readonly HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>("[data-card]")].filter((card) => card.offsetParent !== null);
}

function focusedCard(): string | undefined {
  return document.activeElement?.closest("article")?.querySelector<HTMLElement>("[data-card]")?.dataset["card"];
}

/** Focuses the next card in the order of the lanes. */
function step(by: 1 | -1): void {
  const all = cards();
  const id = focusedCard();
  const at = all.findIndex((card) => card.dataset["card"] === id);
  const next = at === -1 ? all[0] : all[at + by];
  next?.focus();
  next?.scrollIntoView({ block: "nearest", inline: "nearest" });
}
