import { QueryClientContext } from "@tanstack/react-query";
import { Component, type ReactNode, useContext } from "react";
import { say } from "./translate.ts";
import { Button } from "./basic-controls.tsx";

interface Props {
  /** The name of the part, as the beginning of a sentence. */
  what: string;
  /** The displayed answer. When it changes, the part is rendered again. */
  of?: unknown;
  /** Shown instead of the error note. */
  instead?: ReactNode;
  children: ReactNode;
}

interface State {
  hasFailed: boolean;
  of: unknown;
}

/** Catches errors while rendering a part of the page, so that the rest stays. */
export class Boundary extends Component<Props, State> {
  override state: State = { hasFailed: false, of: this.props.of };

  static getDerivedStateFromError(): Partial<State> {
    return { hasFailed: true };
  }

  static getDerivedStateFromProps({ of }: Props, state: State): State | null {
    return of === state.of ? null : { hasFailed: false, of };
  }

  override render(): ReactNode {
    const { what, instead, children } = this.props;
    if (!this.state.hasFailed) return children;
    if (instead !== undefined) return instead;
    return <BrokenPart what={what} onAgain={() => this.setState({ hasFailed: false })} />;
  }
}

function BrokenPart({ what, onAgain }: { what: string; onAgain: () => void }) {
  const queries = useContext(QueryClientContext);
  return (
    <div className="note error" role="alert">
      <p>
        <strong>{say("{what} cannot be shown.", { what })}</strong>{" "}
        {say("The answer contains something that this page does not understand.")}
      </p>
      <Button
        look="small"
        onClick={() => {
          // The cached answer would fail again.
          queries?.removeQueries({ type: "inactive" });
          void queries?.invalidateQueries();
          onAgain();
        }}
      >
        {say("Try again")}
      </Button>
    </div>
  );
}
