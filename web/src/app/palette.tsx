import { useNavigate } from "@tanstack/react-router";
import { Command } from "cmdk";
import type { ReactNode } from "react";
import { Dialog } from "../ui/dialog.tsx";
import { keysText } from "./keyboard.ts";
import { PLACES } from "./layout.tsx";

/** Everything that can be done, by name, with its keys and the command line that does the same. */
export function Palette({ close }: { readonly close: () => void }): ReactNode {
  const navigate = useNavigate();
  return (
    <Dialog title="Commands" close={close}>
      <Command label="Commands" className="flex flex-col gap-2">
        <Command.Input
          autoFocus
          placeholder="Type what you want to do"
          className="w-full rounded-md border border-line bg-page px-3 py-2 text-sm"
        />
        <Command.List className="max-h-80 overflow-auto">
          <Command.Empty className="p-3 text-sm text-muted">Nothing is called like this.</Command.Empty>
          {PLACES.map(({ to, name, keys }) => (
            <Command.Item
              key={to}
              value={`Go to ${name}`}
              onSelect={() => {
                close();
                void navigate({ to });
              }}
              className="flex cursor-pointer items-center justify-between rounded-md px-3 py-2 text-sm data-[selected=true]:bg-active-soft"
            >
              Go to {name}
              <kbd className="font-mono text-xs text-muted">{keysText(keys)}</kbd>
            </Command.Item>
          ))}
        </Command.List>
      </Command>
    </Dialog>
  );
}
