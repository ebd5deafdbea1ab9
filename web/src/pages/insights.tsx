import type { ReactNode } from "react";
import { PageHead } from "../ui/panel.tsx";

export function InsightsPage(): ReactNode {
  return <PageHead title="insights" />;
}
