import { useMediaQuery } from "@mantine/hooks";
import type { Answer } from "@/api/types";
import type { Picking } from "./Cell";
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
  return narrow ? <SuggestionCards {...props} /> : <SuggestionTable {...props} />;
}
