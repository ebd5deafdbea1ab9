import type { ReactNode } from "react";
import { PageHead } from "../ui/panel.tsx";

export function WelcomePage(): ReactNode {
  return <PageHead title="welcome" />;
}
