import { useAddress } from "../address/address.ts";
import { GroupList } from "./group-list.tsx";
import { GroupView } from "./group-view.tsx";

/** Errors with the same cause as groups, or one group. */
export default function ErrorsScreen() {
  const { group } = useAddress().parameters;
  return group ? <GroupView key={group} fingerprint={group} /> : <GroupList />;
}
