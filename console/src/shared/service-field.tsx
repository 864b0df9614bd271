import { useHas, useOperation } from "../service/operation-hooks.ts";
import { SelectField } from "./form-fields.tsx";
import { plain } from "./safe-text.ts";
import { say } from "./translate.ts";

/** A choice of a service that has errors: those of the last day, and the given ones. Empty for all. */
export function ServiceField({ value, known = [], onChange }: {
  value: string;
  known?: (string | null)[];
  onChange: (service: string) => void;
}) {
  const fields = useOperation("list_log_fields", {
    p_query_dsl: "level:error",
    p_ts_from: "now-24h",
    p_name: "service",
  }, { enabled: useHas("list_log_fields") });
  const found = fields.data?.find(({ field }) => field === "service")?.values ?? [];
  const names = new Set([...found.map((one) => one.value), ...known, value]);
  const services = [...names].filter((name) => name !== null && name !== "").sort();
  return (
    <SelectField label={say("Service")} value={value} onChange={onChange}>
      <option value="">{say("all services")}</option>
      {services.map((name) => <option key={name} value={name ?? ""}>{plain(name ?? "")}</option>)}
    </SelectField>
  );
}
