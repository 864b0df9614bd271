import { Sentence } from "../shared/sentence.tsx";
import { useState } from "react";
import { useChange, useOperation } from "../service/operation-hooks.ts";
import type { ApiKey, CreatedApiKey } from "../service/logloom.ts";
import { useMay } from "../service/roles.ts";
import { Confirm } from "../shared/confirm-dialog.tsx";
import { Badge, Button, ScreenHead } from "../shared/basic-controls.tsx";
import { ago } from "../shared/format-time.ts";
import { actions, ListTable, mostAtOnce } from "../shared/list-table.tsx";
import { plain } from "../shared/safe-text.ts";
import { NewKeyDialog, RotateDialog, SecretDialog } from "./key-dialogs.tsx";
import { say } from "../shared/translate.ts";

const words = { audit: "read the audit trail", ingest: "send", read: "read" };

export default function KeysScreen() {
  const mayChange = useMay("admin");
  const [isNew, setNew] = useState(false);
  const [rotated, setRotated] = useState<ApiKey | null>(null);
  const [toDelete, setToDelete] = useState<ApiKey | null>(null);
  const [secret, setSecret] = useState<CreatedApiKey | null>(null);
  const keys = useOperation("list_api_keys", { p_limit: mostAtOnce });
  const revoke = useChange("revoke_api_key", ["list_api_keys"]);
  const show = (key: CreatedApiKey) => {
    setNew(false);
    setRotated(null);
    setSecret(key);
  };
  return (
    <div className="page">
      <ScreenHead
        title={say("API keys")}
        about={[
          say("Programs use keys to send events or to read records."),
          mayChange === false && say("Only admins can create, rotate and revoke them."),
        ].filter(Boolean).join(" ")}
      >
        {mayChange && <Button look="primary" onClick={() => setNew(true)}>{say("New key")}</Button>}
      </ScreenHead>
      <ListTable
        answer={keys}
        empty={{
          title: say("No keys yet"),
          about: say("Servers that send events and programs that read records need one."),
        }}
        label={say("API keys")}
        columns={[
          say("Name"),
          say("Key"),
          say("Allowed"),
          say("Status"),
          say("Last used"),
          say("Created"),
          say("Expires"),
          actions,
        ]}
      >
        {(key) => (
          <KeyRow
            key={key.key_id}
            apiKey={key}
            mayChange={mayChange === true}
            onRotate={() => setRotated(key)}
            onRevoke={() => setToDelete(key)}
          />
        )}
      </ListTable>
      {isNew && <NewKeyDialog onMade={show} onClose={() => setNew(false)} />}
      {rotated && <RotateDialog apiKey={rotated} onMade={show} onClose={() => setRotated(null)} />}
      {secret && <SecretDialog made={secret} onClose={() => setSecret(null)} />}
      {toDelete && (
        <Confirm
          title={say("Revoke the key?")}
          action={say("Revoke")}
          change={revoke}
          parameters={{ p_key_id: toDelete.key_id }}
          onClose={() => setToDelete(null)}
        >
          <Sentence
            text="Requests with {key} ({prefix}…) are refused from now on. This cannot be undone."
            values={{ key: <strong>{plain(toDelete.name)}</strong>, prefix: toDelete.key_prefix }}
          />
        </Confirm>
      )}
    </div>
  );
}

function KeyRow({ apiKey: key, mayChange, onRotate, onRevoke }: {
  apiKey: ApiKey;
  mayChange: boolean;
  onRotate: () => void;
  onRevoke: () => void;
}) {
  return (
    <tr className={key.status === "active" ? "" : "faded"}>
      <th scope="row">{plain(key.name)}</th>
      <td>
        <code>{key.key_prefix}…</code>
      </td>
      <td>{key.scopes.map((scope) => words[scope]).join(" and ")}</td>
      <td>
        <Badge tone={key.status === "active" ? "good" : "plain"}>{key.status}</Badge>
      </td>
      <td title={key.last_used_at ?? undefined}>{ago(key.last_used_at)}</td>
      <td title={key.created_at}>{ago(key.created_at)}</td>
      <td title={key.expires_at ?? undefined}>
        {key.expires_at ? ago(key.expires_at) : "–"}
      </td>
      <td className="tools">
        {key.status === "active" && mayChange && (
          <>
            <Button look="small" onClick={onRotate}>{say("Rotate")}</Button>
            <Button look="small danger" onClick={onRevoke}>{say("Revoke")}</Button>
          </>
        )}
      </td>
    </tr>
  );
}
