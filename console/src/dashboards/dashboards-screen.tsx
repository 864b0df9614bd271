import { useAddress } from "../address/address.ts";
import { DashboardList } from "./dashboard-list.tsx";
import { DashboardView } from "./dashboard-view.tsx";

/** The list of dashboards, or the dashboard in the address. */
export default function DashboardsScreen() {
  const { id } = useAddress().parameters;
  return id ? <DashboardView key={id} id={id} /> : <DashboardList />;
}
