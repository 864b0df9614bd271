import { useOperation } from "../service/hooks.ts";
import { useMay } from "../service/role.ts";
import { Empty, ScreenHead } from "../shared/controls.tsx";
import { Loaded } from "../shared/list.tsx";
import { AuditSection } from "./audit-section.tsx";
import { DeletionSection } from "./deletion-section.tsx";
import { SettingsForm } from "./settings-form.tsx";
import { say } from "../shared/words.ts";

export default function SettingsScreen() {
  const mayChange = useMay("admin");
  const settings = useOperation("get_tenant_settings", {});
  return (
    <div className="page">
      <ScreenHead
        title={say("Settings")}
        about={mayChange === false ? "Only admins can change these." : undefined}
      />
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
            <SettingsForm
              key={JSON.stringify({ ...data, stored: null })}
              settings={data}
              mayChange={mayChange === true}
            />
            {mayChange && <DeletionSection />}
            <AuditSection />
          </>
        )}
      </Loaded>
    </div>
  );
}
