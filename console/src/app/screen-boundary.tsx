import { Component, type ReactNode } from "react";
import { Empty } from "../shared/controls.tsx";

/** Says that a screen could not be shown, in its place: the bar above it stays. */
export class ScreenBoundary extends Component<{ children: ReactNode }, { hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError(): { hasFailed: boolean } {
    return { hasFailed: true };
  }

  override render(): ReactNode {
    if (!this.state.hasFailed) return this.props.children;
    return (
      <Empty title="This screen could not be loaded">
        <button type="button" className="button primary" onClick={() => location.reload()}>
          Load the page again
        </button>
      </Empty>
    );
  }
}
