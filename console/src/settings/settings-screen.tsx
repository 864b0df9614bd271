import { useOperation } from "../service/hooks.ts";
import { Empty, ErrorNote, ScreenHead, Skeleton } from "../shared/controls.tsx";
import { AuditSection } from "./audit-section.tsx";
import { DeletionSection } from "./deletion-section.tsx";
import { SettingsForm, type TenantSettings } from "./settings-form.tsx";

export default function SettingsScreen() {
  const settings = useOperation<TenantSettings>("get_tenant_settings");
  return (
    <div className="page">
      <ScreenHead title="Settings" />
      {settings.error?.status === 404
        ? (
          <Empty title="This tenant does not exist yet">
            <p>The first event, key or rule makes it; its settings are here then.</p>
          </Empty>
        )
        : <ErrorNote error={settings.error} retry={() => void settings.refetch()} />}
      {settings.isPending && !settings.error && <Skeleton />}
      {settings.data && (
        <>
          <SettingsForm
            key={JSON.stringify({ ...settings.data, stored: null })}
            settings={settings.data}
          />
          <DeletionSection />
          <AuditSection />
        </>
      )}
    </div>
  );
}
