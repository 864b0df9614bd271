import { useState } from "react";
import { useChange, useOperation } from "../service/operation-hooks.ts";
import type { SavedSearch } from "../service/logloom.ts";
import { FormDialog } from "../shared/dialog.tsx";
import { CheckField, TextField } from "../shared/form-fields.tsx";
import { say } from "../shared/translate.ts";

const touched = [
  "list_saved_searches",
  "get_saved_search_categories",
  "check_plan_feature",
] as const;

/** Creates or changes a saved search. */
export function SavedDialog({ initial, onClose }: {
  initial: Partial<SavedSearch>;
  onClose: () => void;
}) {
  const [name, setName] = useState(initial.name ?? "");
  const [query, setQuery] = useState(initial.query_dsl ?? "");
  const [description, setDescription] = useState(initial.description ?? "");
  const [category, setCategory] = useState(initial.category ?? "");
  const [tags, setTags] = useState(initial.tags?.join(", ") ?? "");
  const [isShared, setShared] = useState(initial.is_shared ?? false);
  const display = initial.display ?? {};
  const hasDisplay = Object.keys(display).length > 0;
  const [keepsDisplay, keepDisplay] = useState(true);
  const categories = useOperation("get_saved_search_categories", {});
  const save = useChange(initial.id ? "update_saved_search" : "create_saved_search", touched);
  const submit = () =>
    save.mutate({
      p_id: initial.id,
      p_name: name,
      p_query_dsl: query,
      p_description: description,
      p_category: category,
      p_is_shared: isShared,
      p_display: keepsDisplay ? display : {},
      p_tags: tags.split(",").map((tag) => tag.trim()).filter(Boolean),
    }, { onSuccess: onClose });
  return (
    <FormDialog
      title={initial.id ? say("Change the saved search") : say("Save this search")}
      action={say("Save")}
      error={save.error}
      isPending={save.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextField label={say("Name")} required maxLength={200} value={name} onChange={setName} />
      <label className="field">
        <span>{say("Query")}</span>
        <textarea
          className="mono"
          required
          spellCheck={false}
          value={query}
          onChange={(event) => setQuery(event.target.value)}
        />
      </label>
      <TextField
        label={say("Description")}
        maxLength={2000}
        value={description}
        onChange={setDescription}
      />
      <div className="form-pair">
        <label className="field">
          <span>{say("Category")}</span>
          <input
            list="categories"
            maxLength={100}
            value={category}
            onChange={(event) => setCategory(event.target.value)}
          />
          <datalist id="categories">
            {categories.data?.map((one) => <option key={one} value={one} />)}
          </datalist>
        </label>
        <TextField label={say("Tags, separated by commas")} value={tags} onChange={setTags} />
      </div>
      <CheckField
        label={say("Everyone in this tenant can read and run it")}
        checked={isShared}
        onChange={setShared}
      />
      {hasDisplay && (
        <CheckField
          label={say("Also save the range, columns and tab")}
          checked={keepsDisplay}
          onChange={keepDisplay}
        />
      )}
    </FormDialog>
  );
}
