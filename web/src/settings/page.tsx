// The page of settings: this browser, the daemon, notifications, API keys, and the audit log.

import { getRouteApi } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { AuditList } from "./audit.tsx";
import { General } from "./general.tsx";
import { InForce } from "./in-force.tsx";
import { ApiKeys } from "./keys.tsx";
import { NoticesOut } from "./notices.tsx";
import { PageHead } from "../ui/panel.tsx";
import { TabLinks } from "../ui/tab-links.tsx";

const TABS = [
  { is: "general", title: "General", Page: General },
  { is: "values", title: "Budgets and settings", Page: InForce },
  { is: "notices", title: "Notifications", Page: NoticesOut },
  { is: "keys", title: "API keys", Page: ApiKeys },
  { is: "audit", title: "Audit", Page: AuditList },
] as const;

const route = getRouteApi("/settings");

export function SettingsPage(): ReactNode {
  const { tab } = route.useSearch();
  const { is, Page } = TABS.find((each) => each.is === tab) ?? TABS[0];
  return (
    <div className="flex flex-col gap-4">
      <PageHead title="Settings" />
      <TabLinks label="Parts of the settings" to="/settings" name="tab" tabs={TABS} current={is} />
      <Page />
    </div>
  );
}
