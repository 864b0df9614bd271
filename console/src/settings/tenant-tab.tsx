import { useOperation } from "../service/operation-hooks.ts";
import { Empty } from "../shared/basic-controls.tsx";
import { Loaded } from "../shared/list-table.tsx";
import { say } from "../shared/translate.ts";
import { DeletionSection } from "./deletion-section.tsx";
import { RetentionRules } from "./retention-rules.tsx";
import { SettingsForm } from "./settings-form.tsx";

/** Settings and deletion. */
export function TenantTab({ mayChange }: { mayChange: boolean | null }) {
  const settings = useOperation("get_tenant_settings", {});
  return (
    <Loaded
      answer={settings}
      missing={
        <Empty title={say("This tenant does not exist yet")}>
          <p>{say("The first event, key or rule creates it.")}</p>
        </Empty>
      }
    >
      {(data) => (
        <>
          <SettingsForm settings={data} mayChange={mayChange === true} />
          {mayChange && <RetentionRules rules={data.retention_rules} />}
          {mayChange && <DeletionSection />}
        </>
      )}
    </Loaded>
  );
}
