// Settings of this browser: colours, keys, notifications. They never leave the browser.

import { type ReactNode, useEffect, useId, useState } from "react";
import { notifiesOn, setNotifies } from "../base/attention.ts";
import { keysText, setSingleKeys, type Shortcut, shortcuts, singleKeysOn } from "../base/keyboard.ts";
import { currentDensity, setDensity } from "../base/density.ts";
import { currentTheme, setTheme, type Theme } from "../base/theme.ts";
import { setUndoSeconds, UNDO_SECONDS, undoSeconds } from "../base/undo-time.ts";
import { Panel } from "../ui/panel.tsx";
import { Select } from "../ui/select.tsx";
import { toast } from "../ui/toast.ts";
import { LogOut } from "./log-out.tsx";

const THEMES: readonly { readonly is: Theme; readonly title: string }[] = [
  { is: "system", title: "System" },
  { is: "light", title: "Light" },
  { is: "dark", title: "Dark" },
];

export function General(): ReactNode {
  return (
    <div className="grid grid-cols-1 gap-4 lg:grid-cols-2 lg:items-start">
      <Panel title="Look">
        <div className="flex flex-col gap-3">
          <ThemeChoice />
          <DensitySwitch />
        </div>
      </Panel>
      <Panel title="This browser">
        <div className="flex flex-col gap-3">
          <Notices />
          <SingleKeys />
          <UndoTime />
        </div>
      </Panel>
      <Panel title="Keys">
        <Shortcuts />
      </Panel>
      <Panel title="Session">
        <LogOut />
      </Panel>
    </div>
  );
}

function ThemeChoice(): ReactNode {
  const [theme, pick] = useState(currentTheme);
  return (
    <fieldset className="flex flex-wrap gap-4">
      <legend className="sr-only">Colours</legend>
      {THEMES.map(({ is, title }) => (
        <label key={is} className="flex min-h-9 cursor-pointer items-center gap-2 text-sm pointer-coarse:min-h-11">
          <input
            type="radio"
            name="theme"
            className="size-4"
            checked={theme === is}
            onChange={() => {
              setTheme(is);
              pick(is);
            }}
          />
          {title}
        </label>
      ))}
    </fieldset>
  );
}

function DensitySwitch(): ReactNode {
  const [density, pick] = useState(currentDensity);
  return (
    <Switch
      title="Compact"
      about="Smaller text and less space, so that more fits on a page. Not on touch screens."
      isOn={density === "compact"}
      change={(on) => {
        setDensity(on ? "compact" : "comfortable");
        pick(currentDensity());
      }}
    />
  );
}

function Notices(): ReactNode {
  const [isOn, setOn] = useState(notifiesOn);
  const isKnown = "Notification" in globalThis;
  const change = async (on: boolean): Promise<void> => {
    const granted = await setNotifies(on);
    setOn(granted);
    if (on && !granted) toast("The browser does not allow notifications for this page.", "warning");
  };
  return (
    <Switch
      title="Desktop notifications"
      about={
        isKnown
          ? "Only when an item waits for you and this page is in the background. They close when a person answers."
          : "This browser does not support them."
      }
      isOn={isOn}
      change={(on) => void change(on)}
    />
  );
}

function SingleKeys(): ReactNode {
  const [isOn, setOn] = useState(singleKeysOn);
  return (
    <Switch
      title="Keys without Ctrl or ⌘"
      about="Such as j, k or g i. Switch them off if you use voice control."
      isOn={isOn}
      change={(on) => {
        setSingleKeys(on);
        setOn(on);
      }}
    />
  );
}

function UndoTime(): ReactNode {
  const [seconds, pick] = useState(undoSeconds);
  const label = useId();
  return (
    <div className="flex flex-col gap-1 text-sm">
      <span id={label}>Time to take a decision back</span>
      <Select
        aria-labelledby={label}
        value={String(seconds)}
        options={UNDO_SECONDS.map((each) => ({
          value: String(each),
          name: each === 0 ? "None: it is sent at once" : `${each} seconds`,
        }))}
        pick={(next) => {
          setUndoSeconds(Number(next));
          pick(undoSeconds());
        }}
        className="w-60 max-w-full bg-page"
      />
      <span className="text-xs text-muted">Until then nothing is sent. Closing the page sends it.</span>
    </div>
  );
}

function Switch({
  title,
  about,
  isOn,
  change,
}: {
  readonly title: string;
  readonly about: string;
  readonly isOn: boolean;
  readonly change: (on: boolean) => void;
}): ReactNode {
  return (
    <label className="flex min-h-9 cursor-pointer items-start gap-3 text-sm pointer-coarse:min-h-11">
      <input
        type="checkbox"
        role="switch"
        className="mt-0.5 size-4 shrink-0"
        checked={isOn}
        onChange={({ target }) => change(target.checked)}
      />
      <span>
        {title}
        <span className="block text-xs text-muted">{about}</span>
      </span>
    </label>
  );
}

function Shortcuts(): ReactNode {
  // Pages register their keys while they mount, the frame last.
  const [list, setList] = useState<readonly Shortcut[]>([]);
  useEffect(() => {
    const timer = setTimeout(() => setList(shortcuts()));
    return () => clearTimeout(timer);
  }, []);
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 text-sm">
      {list.map(({ keys, does, group }) => (
        <div key={`${group} ${keys}`} className="contents">
          <dt>
            <kbd className="rounded border border-line px-1.5 font-mono text-xs">{keysText(keys)}</kbd>
          </dt>
          <dd>
            {group === "Go to" ? "Go to " : ""}
            {does}
          </dd>
        </div>
      ))}
    </dl>
  );
}
