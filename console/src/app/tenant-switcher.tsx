import { useId, useState } from "react";
import { useChange, useOperation } from "../service/operation-hooks.ts";
import { useSession } from "../service/session.ts";
import { Badge, ErrorNote, Skeleton } from "../shared/basic-controls.tsx";
import { Icon } from "../shared/icons.tsx";
import { mostAtOnce } from "../shared/list-table.tsx";
import { plain } from "../shared/safe-text.ts";
import { say } from "../shared/translate.ts";

/** The session's tenant, with a menu of the user's other tenants. */
export function TenantSwitcher() {
  const tenant = useSession().claims()?.tenant ?? "";
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        className="tenant"
        title={say("Tenant {tenant}", { tenant })}
        popoverTarget={id}
      >
        <span className="hidden">{say("Tenant")}:</span>
        <bdi>{plain(tenant)}</bdi>
        <Icon name="down" />
      </button>
      <div
        id={id}
        popover="auto"
        className="popover menu tenant-menu"
        onToggle={(event) => setOpen(event.newState === "open")}
      >
        {isOpen && <Tenants />}
      </div>
    </>
  );
}

function Tenants() {
  const list = useOperation("list_log_tenants", { p_limit: mostAtOnce });
  const { switchTo, error, isBusy, note } = useSwitch();
  return (
    <>
      <p className="menu-about">{say("Your tenants")}</p>
      <ErrorNote error={list.error ?? error} />
      {list.isPending && <Skeleton lines={3} />}
      {note && <p className="menu-about" role="status">{note}</p>}
      {list.data?.map(({ tenant_id, role, is_current }) => (
        <button
          key={tenant_id}
          type="button"
          className="menu-item"
          aria-current={is_current ? "true" : undefined}
          disabled={is_current || isBusy}
          onClick={() => switchTo(tenant_id)}
        >
          <bdi>{plain(tenant_id)}</bdi> <Badge tone="plain">{say(role)}</Badge>
        </button>
      ))}
    </>
  );
}

/** Switches the tenant and refreshes the session: its next token names the new tenant. */
export function useSwitch() {
  const session = useSession();
  const [note, setNote] = useState<string | null>(null);
  const change = useChange("switch_log_tenant", ["list_log_tenants"], async () => {
    const isNew = await session.renew();
    if (!isNew) setNote(say("Sign in again to work there."));
  });
  const switchTo = (tenantId: string) => change.mutate({ p_tenant_id: tenantId });
  return { switchTo, error: change.error, isBusy: change.isPending, note };
}
