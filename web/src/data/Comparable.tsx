import { MultiSelect, NativeSelect, Stack, Text, Title } from "@mantine/core";
import type { ColumnsView } from "@/api/types";
import { roleOf, tidy } from "./study";
import type { StudyEditor } from "./useStudy";

type Way = "found" | "all" | "same";

const ADVICE =
  "Add a column that names the program and its input, or say which runs are comparable.";

/** Which past runs can be compared with each other: found by Compass, or said. */
export function Comparable({ view, editor }: { view: ColumnsView; editor: StudyEditor }) {
  const said = editor.study.comparable ?? null;
  const way: Way = said === null ? "found" : said.length ? "same" : "all";
  const features = view.columns
    .filter((one) => ["knob", "context"].includes(roleOf(editor.study, one)))
    .map((one) => one.name);
  const set = (columns: string[] | null) =>
    editor.edit((now) => tidy({ ...now, comparable: columns }));
  function choose(next: Way) {
    const found = view.comparable.columns.filter((name) => features.includes(name));
    if (next === "found") set(null);
    else if (next === "all") set([]);
    else set(found.length ? found : features.slice(0, 1));
  }
  return (
    <Stack gap="xs" component="section" maw={640}>
      <Title order={2} size="h5">
        Comparable runs
      </Title>
      <Text size="sm" style={{ overflowWrap: "anywhere" }}>
        {view.comparable.identifiable ? view.comparable.why : `${view.comparable.why} ${ADVICE}`}
      </Text>
      <NativeSelect
        label="Runs are comparable"
        size="xs"
        value={way}
        onChange={(event) => choose(event.currentTarget.value as Way)}
        data={[
          { value: "found", label: "as Compass found" },
          { value: "all", label: "all of them" },
          ...(features.length ? [{ value: "same", label: "when these columns are the same" }] : []),
        ]}
      />
      {way === "same" ? (
        <MultiSelect
          label="The same in comparable runs"
          size="xs"
          searchable
          limit={200}
          data={features}
          value={[...(said ?? [])]}
          onChange={(columns) => set(columns.length ? columns : null)}
        />
      ) : null}
    </Stack>
  );
}
