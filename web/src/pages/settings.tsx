import type { ReactNode } from "react";
import { PageHead } from "../ui/panel.tsx";

export function SettingsPage(): ReactNode {
  return <PageHead title="settings" />;
}
