import { useMediaQuery } from "@mantine/hooks";
import { useMemo } from "react";
import type { Answer } from "@/api/types";
import type { Picking } from "./Cell";
import { isWide } from "./columns";
import { SuggestionCards } from "./SuggestionCards";
import { SuggestionTable } from "./SuggestionTable";

interface Props extends Omit<Picking, "chosen"> {
  answer: Answer;
  chosen: number;
}

/** The suggestions as a table, or as cards where there is no room for one. */
export function Suggestions(props: Props) {
  const narrow = useMediaQuery("(max-width: 48em)", undefined, {
    getInitialValueInEffect: false,
  });
  // Nothing is cut off: what does not fit beside each other stands one below the other.
  const wide = useMemo(() => isWide(props.answer), [props.answer]);
  return narrow || wide ? <SuggestionCards {...props} /> : <SuggestionTable {...props} />;
}
