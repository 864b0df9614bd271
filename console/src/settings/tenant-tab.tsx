import { useOperation } from "../service/hooks.ts";
import { Empty } from "../shared/controls.tsx";
import { Loaded } from "../shared/list.tsx";
import { say } from "../shared/words.ts";
import { AuditSection } from "./audit-section.tsx";
import { DeletionSection } from "./deletion-section.tsx";
import { SettingsForm } from "./settings-form.tsx";

/** Retention, notifications, deletion, and who changed what. */
export function TenantTab({ mayChange }: { mayChange: boolean | null }) {
  const settings = useOperation("get_tenant_settings", {});
  return (
    <Loaded
      answer={settings}
      missing={
        <Empty title={say("This tenant does not exist yet")}>
          <p>{say("The first event, key or rule creates it; then its settings are here.")}</p>
        </Empty>
      }
    >
      {(data) => (
        <>
          <SettingsForm settings={data} mayChange={mayChange === true} />
          {mayChange && <DeletionSection />}
          <AuditSection />
        </>
      )}
    </Loaded>
  );
}
