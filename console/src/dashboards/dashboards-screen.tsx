import { useAddress } from "../address/address.ts";
import { DashboardList } from "./dashboard-list.tsx";
import { DashboardView } from "./dashboard-view.tsx";

/** The dashboards, or the one that the address names. */
export default function DashboardsScreen() {
  const { id } = useAddress().parameters;
  return id ? <DashboardView key={id} id={id} /> : <DashboardList />;
}
