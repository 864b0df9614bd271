import { Sentence } from "../shared/sentence.tsx";
import { useMemo, useState } from "react";
import { go } from "../address/address.ts";
import { marksOld, useChange, useOperation, useService } from "../service/operation-hooks.ts";
import type { SavedSearch } from "../service/logloom.ts";
import { useSession } from "../service/session.ts";
import { Confirm } from "../shared/confirm-dialog.tsx";
import { Badge, Button, Empty, ScreenHead } from "../shared/basic-controls.tsx";
import { Segments } from "../shared/form-fields.tsx";
import { ago } from "../shared/format-time.ts";
import { Loaded, mostAtOnce } from "../shared/list-table.tsx";
import { plain } from "../shared/safe-text.ts";
import { placeOf } from "./saved-display.ts";
import { SavedDialog } from "./saved-dialog.tsx";
import { say } from "../shared/translate.ts";

const touched = [
  "list_saved_searches",
  "get_saved_search_categories",
  "check_plan_feature",
] as const;

export default function SavedScreen() {
  const me = useSession().claims()?.user;
  const [whose, setWhose] = useState<"all" | "mine">("all");
  const [category, setCategory] = useState("");
  const [edited, setEdited] = useState<Partial<SavedSearch> | null>(null);
  const [toDelete, setToDelete] = useState<SavedSearch | null>(null);
  const list = useOperation("list_saved_searches", {
    include_shared: whose === "all",
    p_limit: mostAtOnce,
  }, { keep: true });
  const plan = useOperation("check_plan_feature", { p_feature: "saved_searches" });
  const remove = useChange("delete_saved_search", touched);
  const categories = useMemo(
    () => [...new Set(list.data?.flatMap((one) => one.category ?? []) ?? [])].sort(),
    [list.data],
  );
  const shown = (list.data ?? []).filter((one) => category === "" || one.category === category);
  return (
    <div className="page">
      <ScreenHead
        title={say("Saved searches")}
        about={plan.data &&
          say("{used} of {most} in this plan", {
            used: plan.data.currentCount,
            most: plan.data.maxCount,
          })}
      >
        <Button look="primary" onClick={() => setEdited({})}>{say("New saved search")}</Button>
      </ScreenHead>
      <div className="filters">
        <Segments
          label={say("Show")}
          choices={[["all", say("mine and shared")], ["mine", say("mine")]]}
          chosen={whose}
          onChoose={setWhose}
        />
        {categories.length > 0 && (
          <select
            aria-label={say("Category")}
            value={category}
            onChange={(event) => setCategory(event.target.value)}
          >
            <option value="">{say("All categories")}</option>
            {categories.map((one) => <option key={one} value={one}>{plain(one)}</option>)}
          </select>
        )}
      </div>
      <Loaded answer={list}>
        {() =>
          shown.length === 0
            ? (
              <Empty title={say("No saved searches yet")}>
                <p>
                  {say("Write a query in Search and press the star beside it, or create one here.")}
                </p>
              </Empty>
            )
            : (
              <ul className="cards" {...marksOld(list.isPlaceholderData)}>
                {shown.map((one) => (
                  <SavedCard
                    key={one.id}
                    saved={one}
                    isMine={one.created_by === me}
                    onEdit={() => setEdited(one)}
                    onDelete={() => setToDelete(one)}
                  />
                ))}
              </ul>
            )}
      </Loaded>
      {edited && <SavedDialog initial={edited} onClose={() => setEdited(null)} />}
      {toDelete && (
        <Confirm
          title={say("Delete the saved search?")}
          action={say("Delete")}
          change={remove}
          parameters={{ p_id: toDelete.id }}
          onClose={() => setToDelete(null)}
        >
          <Sentence
            text="{name} is deleted for everyone."
            values={{ name: plain(toDelete.name) }}
            strong
          />
        </Confirm>
      )}
    </div>
  );
}

function SavedCard({ saved, isMine, onEdit, onDelete }: {
  saved: SavedSearch;
  isMine: boolean;
  onEdit: () => void;
  onDelete: () => void;
}) {
  const service = useService();
  const run = () => {
    // This only counts the run. The search screen loads the results.
    void service.call("run_saved_search", { p_id: saved.id, p_limit: 1 }).catch(() => {});
    go({ screen: "search", parameters: placeOf(saved) });
  };
  return (
    <li className="card">
      <div className="card-head">
        <button type="button" className="card-title" onClick={run}>{plain(saved.name)}</button>
        {saved.is_shared && (
          <Badge tone="info">{isMine ? say("shared") : say("a colleague's")}</Badge>
        )}
        {saved.category && <Badge tone="plain">{plain(saved.category)}</Badge>}
        {saved.tags.map((tag) => <Badge key={tag} tone="plain">#{plain(tag)}</Badge>)}
        <span className="card-tools">
          <span className="about">
            {saved.run_count === 0 ? say("never run") : say("run {number}×, {when}", {
              number: saved.run_count,
              when: ago(saved.last_run_at),
            })}
          </span>
          {isMine && (
            <>
              <Button
                look="small"
                aria-label={say("Change {name}", { name: saved.name })}
                onClick={onEdit}
              >
                {say("Change")}
              </Button>
              <Button
                look="small danger"
                aria-label={say("Delete {name}", { name: saved.name })}
                onClick={onDelete}
              >
                {say("Delete")}
              </Button>
            </>
          )}
        </span>
      </div>
      <code className="card-query">{plain(saved.query_dsl)}</code>
      {saved.description && <p className="about">{plain(saved.description)}</p>}
    </li>
  );
}
