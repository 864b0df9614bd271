import { Said } from "../shared/said.tsx";
import { useState } from "react";
import { useChange, useOperation } from "../service/hooks.ts";
import type { ApiKey, CreatedApiKey } from "../service/logloom.ts";
import { useMay } from "../service/role.ts";
import { Confirm } from "../shared/confirm.tsx";
import { Badge, ScreenHead } from "../shared/controls.tsx";
import { ago } from "../shared/format.ts";
import { actions, ListTable, mostAtOnce } from "../shared/list.tsx";
import { plain } from "../shared/plain.ts";
import { NewKeyDialog, RotateDialog, SecretDialog } from "./key-dialogs.tsx";
import { say } from "../shared/words.ts";

const tones: Record<string, "good" | "bad" | "plain"> = { active: "good", revoked: "bad" };

const words = { ingest: "send", read: "read" };

export default function KeysScreen() {
  const mayChange = useMay("admin");
  const [isNew, setNew] = useState(false);
  const [rotated, setRotated] = useState<ApiKey | null>(null);
  const [doomed, setDoomed] = useState<ApiKey | null>(null);
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
          say("Programs send events with a key, and read with one that may."),
          mayChange === false && say("An admin makes, rotates and revokes them."),
        ].filter(Boolean).join(" ")}
      >
        {mayChange && (
          <button
            type="button"
            className="button primary"
            onClick={() => setNew(true)}
          >
            {say("New key")}
          </button>
        )}
      </ScreenHead>
      <ListTable
        answer={keys}
        empty={{
          title: say("No keys yet"),
          about: say("A server that sends events needs one, and a program that reads."),
        }}
        label={say("API keys")}
        columns={[
          say("Name"),
          say("Key"),
          say("May"),
          say("Status"),
          say("Last used"),
          say("Made"),
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
            onRevoke={() => setDoomed(key)}
          />
        )}
      </ListTable>
      {isNew && <NewKeyDialog onMade={show} onClose={() => setNew(false)} />}
      {rotated && <RotateDialog apiKey={rotated} onMade={show} onClose={() => setRotated(null)} />}
      {secret && <SecretDialog made={secret} onClose={() => setSecret(null)} />}
      {doomed && (
        <Confirm
          title={say("Revoke the key?")}
          action={say("Revoke")}
          change={revoke}
          parameters={{ p_key_id: doomed.key_id }}
          onClose={() => setDoomed(null)}
        >
          <Said
            words="The next request with {key} ({prefix}…) is refused. This cannot be taken back."
            of={{ key: <strong>{plain(doomed.name)}</strong>, prefix: doomed.key_prefix }}
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
        <Badge tone={tones[key.status] ?? "plain"}>{key.status}</Badge>
      </td>
      <td title={key.last_used_at ?? undefined}>{ago(key.last_used_at)}</td>
      <td title={key.created_at}>{ago(key.created_at)}</td>
      <td title={key.expires_at ?? undefined}>
        {key.expires_at ? ago(key.expires_at) : "–"}
      </td>
      <td className="tools">
        {key.status === "active" && mayChange && (
          <>
            <button type="button" className="button small" onClick={onRotate}>
              {say("Rotate")}
            </button>
            <button
              type="button"
              className="button small danger"
              onClick={onRevoke}
            >
              {say("Revoke")}
            </button>
          </>
        )}
      </td>
    </tr>
  );
}
